#include "benchmarks/common/am_link.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <sys/resource.h>
#include <time.h>

#include "benchmarks/common/statistics.hpp"
#include "benchmarks/common/stopwatch.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/token.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

using am::Token;

// Written by the handlers of this rank, which may be a thread.
struct Seen {
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t sum = 0;
};
constinit thread_local Seen seen;

void require(Status status, const char* what) {
  if (status != Status::ok) throw std::runtime_error(std::string(what) + ": " + to_string(status));
}

void on_reply(Token&, std::uint64_t a, std::uint64_t b) {
  seen.sum += a + b;
  ++seen.replies;
}
void on_request(Token& token, std::uint64_t a, std::uint64_t b) {
  ++seen.requests;
  token.reply<on_reply>(a, b);
}
void on_one_way(Token&, std::uint64_t a, std::uint64_t b) {
  seen.sum += a + b;
  ++seen.requests;
}

using Eight = std::uint64_t;
void on_reply8(Token&, Eight a, Eight b, Eight c, Eight d, Eight e, Eight f, Eight g, Eight h) {
  seen.sum += a + b + c + d + e + f + g + h;
  ++seen.replies;
}
void on_request8(Token& token, Eight a, Eight b, Eight c, Eight d, Eight e, Eight f, Eight g,
                 Eight h) {
  ++seen.requests;
  token.reply<on_reply8>(a, b, c, d, e, f, g, h);
}

void on_medium(Token&, std::span<const std::byte> data) {
  seen.sum += sum_words(data.data(), data.size());
  ++seen.requests;
}
void on_medium_reply(Token&, std::span<const std::byte> data) {
  seen.sum += sum_words(data.data(), data.size());
  ++seen.replies;
}
void on_medium_request(Token& token, std::span<const std::byte> data) {
  seen.sum += sum_words(data.data(), data.size());
  ++seen.requests;
  require(token.reply_medium<on_medium_reply>(data), "reply_medium");
}
void on_bulk(Token& token, std::span<std::byte> data, bool with_sum) {
  if (with_sum) seen.sum += sum_words(data.data(), data.size());
  ++seen.requests;
  token.reply<on_reply>(0, 0);
}

void require_equal(std::uint64_t got, std::uint64_t expected, const char* what) {
  if (got != expected)
    throw std::runtime_error(std::string(what) + ": " + std::to_string(got) + " instead of " +
                             std::to_string(expected));
}

double cpu_ms() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

void sleep_ns(long ns) {
  const timespec pause{ns / 1'000'000'000, ns % 1'000'000'000};
  nanosleep(&pause, nullptr);
}

}  // namespace

AmLink::AmLink(am::Context& context, Pair& pair, Rank peer, std::byte* bulk, std::size_t bulk_bytes)
    : pair_(pair), bundle_(context), endpoint_(bundle_), peer_(am::Index{index(peer)}) {
  seen = Seen{};
  // Both construct their links in the same order: the peer's endpoint has the number of this one.
  require(endpoint_.map(peer_, {peer, endpoint_.name().number}, am::kTagAll), "map");
  if (context.nic().transport() != nullptr) pair_.make_progress_by([this] { bundle_.poll(); });
  if (!pair.is_sender()) endpoint_.set_segment({bulk, bulk_bytes});
  medium_sources_.resize(Yardsticks::kMediumSources * Yardsticks::kMediumBytes / 8);
  for (std::size_t i = 0; i < medium_sources_.size(); ++i) medium_sources_[i] = i;
  (void)rtt_half_ns(1);  // makes the MAPs
}

void AmLink::serve_until(std::uint64_t count) {
  while (seen.requests < count) bundle_.poll();
}

double AmLink::rtt_half_ns(std::uint64_t round_trips, int words) {
  seen.requests = seen.replies = seen.sum = 0;
  pair_.meet();
  const Stopwatch watch;
  if (pair_.is_sender()) {
    for (std::uint64_t i = 0; i < round_trips; ++i) {
      require(words == 2 ? endpoint_.request<on_request>(peer_, i, 1U)
                         : endpoint_.request<on_request8>(peer_, i, 1U, 0U, 0U, 0U, 0U, 0U, 0U),
              "request");
      while (seen.replies <= i) bundle_.poll();
    }
    require_equal(seen.sum, round_trips * (round_trips - 1) / 2 + round_trips,
                  "the replies add up to");
  } else {
    serve_until(round_trips);
  }
  return pair_.from_sender(watch.elapsed_ns() / static_cast<double>(round_trips) / 2);
}

double AmLink::medium_rtt_half_ns(std::size_t bytes, std::uint64_t round_trips) {
  seen.requests = seen.replies = seen.sum = 0;
  const auto data = std::as_bytes(std::span(medium_sources_)).first(bytes);
  pair_.meet();
  const Stopwatch watch;
  if (pair_.is_sender()) {
    for (std::uint64_t i = 0; i < round_trips; ++i) {
      require(endpoint_.request_medium<on_medium_request>(peer_, data), "request_medium");
      while (seen.replies <= i) bundle_.poll();
    }
  } else {
    serve_until(round_trips);
  }
  const double ns = watch.elapsed_ns();
  const std::uint64_t words = bytes / 8;
  require_equal(seen.sum, round_trips * (words * (words - 1) / 2), "the payloads add up to");
  return pair_.from_sender(ns / static_cast<double>(round_trips) / 2);
}

double AmLink::one_way_mps(std::uint64_t messages) {
  seen.requests = seen.replies = seen.sum = 0;
  pair_.meet();
  const Stopwatch watch;
  if (pair_.is_sender()) {
    for (std::uint64_t i = 0; i < messages; ++i)
      require(endpoint_.request<on_one_way>(peer_, i, 1U), "request");
  } else {
    serve_until(messages);
    require_equal(seen.sum, messages * (messages - 1) / 2 + messages, "the messages add up to");
  }
  // The peer sees the return of the last handler, on the clock that both share (the time-stamp
  // counter).
  const double mine = watch.elapsed_ns();
  return static_cast<double>(messages) * 1e3 / std::max(mine, pair_.exchange(mine));
}

double AmLink::medium_4k_gbs(std::uint64_t messages) {
  seen.requests = seen.sum = 0;
  constexpr std::size_t kWords = Yardsticks::kMediumBytes / 8;
  const std::span<const std::uint64_t> all(medium_sources_);
  pair_.meet();
  const Stopwatch watch;
  if (pair_.is_sender()) {
    for (std::uint64_t i = 0; i < messages; ++i)
      require(
          endpoint_.request_medium<on_medium>(
              peer_, std::as_bytes(all.subspan(i % Yardsticks::kMediumSources * kWords, kWords))),
          "request_medium");
  } else {
    serve_until(messages);
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < messages; ++i) {
      const std::uint64_t first = i % Yardsticks::kMediumSources * kWords;
      expected += first * kWords + kWords * (kWords - 1) / 2;
    }
    require_equal(seen.sum, expected, "the payloads add up to");
  }
  const double mine = watch.elapsed_ns();
  return static_cast<double>(messages * Yardsticks::kMediumBytes) /
         std::max(mine, pair_.exchange(mine));
}

double AmLink::bulk_gbs(const std::byte* source, std::size_t bytes, std::uint32_t copies,
                        bool with_sum) {
  seen.requests = seen.replies = seen.sum = 0;
  double ns = 0;
  pair_.meet();
  if (pair_.is_sender()) {
    for (std::uint32_t i = 0; i < copies; ++i) {
      const Stopwatch watch;
      require(endpoint_.request_bulk<on_bulk>(peer_, std::span(source, bytes), 0, with_sum),
              "request_bulk");
      if (!with_sum) ns += watch.elapsed_ns();
      while (seen.replies <= i) bundle_.poll();
      if (with_sum) ns += watch.elapsed_ns();
    }
  } else {
    serve_until(copies);
  }
  const std::uint64_t expected =
      pair_.is_sender() && with_sum ? sum_words(source, bytes) * copies : 0;
  const double theirs =
      pair_.exchange(static_cast<double>(pair_.is_sender() ? expected >> 12 : seen.sum >> 12));
  if (with_sum &&
      theirs != static_cast<double>(pair_.is_sender() ? expected >> 12 : seen.sum >> 12))
    throw std::runtime_error("the bulk data do not add up");
  return pair_.from_sender(static_cast<double>(bytes) * copies / ns);
}

double AmLink::blocked_rtt_half_ns(std::uint32_t messages) {
  seen.requests = seen.replies = 0;
  std::vector<double> times;
  pair_.meet();
  if (pair_.is_sender()) {
    for (std::uint32_t i = 0; i < messages; ++i) {
      sleep_ns(3'000'000);  // the peer has given up spinning and sleeps
      const Stopwatch watch;
      require(endpoint_.request<on_request>(peer_, 0U, 0U), "request");
      require(bundle_.wait_until([&] { return seen.replies > i; }), "wait_until");
      times.push_back(watch.elapsed_ns() / 2);
    }
  } else {
    while (seen.requests < messages) require(bundle_.wait(), "wait");
  }
  return pair_.from_sender(median(times));
}

double AmLink::blocked_cpu_ms(double seconds) {
  seen.requests = seen.replies = 0;
  double used = 0;
  pair_.meet();
  if (pair_.is_sender()) {
    sleep_ns(static_cast<long>(seconds * 1e9));
    require(endpoint_.request<on_one_way>(peer_, 0U, 0U), "request");
  } else {
    const double before = cpu_ms();
    while (seen.requests == 0) require(bundle_.wait(), "wait");
    used = cpu_ms() - before;
  }
  const double theirs = pair_.exchange(used);
  return pair_.is_sender() ? theirs : used;
}

}  // namespace viaduct::bench
