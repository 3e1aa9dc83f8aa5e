// What AMVIAv1 as published has and the other generations have not: a reply has at most its
// request's size, and long data go by messages, for which the peer polls (docs/generations.md).
//
// usage: generation_strict strict|free: which of the two is expected. Two ranks.
//        generation_strict crowded: three ranks, with VIADUCT_AM_SLOTS=8192.

#include <sys/mman.h>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/mapped_memory.hpp"

namespace {

using namespace viaduct;

constexpr std::size_t kMedium = 3000;
constexpr std::size_t kBulk = (1 << 20) + 3;
constexpr am::Index kPeer{0};
constexpr std::int64_t kForEver = -1;

constinit thread_local int failures = 0;  // a rank may be a thread
constinit thread_local bool strict = false;
constinit thread_local std::uint32_t answers = 0;
constinit thread_local std::uint32_t bulk_requests = 0;

void expect(bool good, std::string_view what) {
  if (good) return;
  ++failures;
  fmt::print(stderr, "{}\n", what);
}

std::byte byte_of(std::size_t i, std::size_t seed) {
  return static_cast<std::byte>(i * 7 + (i >> 8) + seed);
}
std::vector<std::byte> bytes_of(std::size_t count, std::size_t seed) {
  std::vector<std::byte> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = byte_of(i, seed);
  return data;
}
bool are(std::span<const std::byte> data, std::size_t count, std::size_t seed) {
  if (data.size() != count) return false;
  for (std::size_t i = 0; i < count; ++i)
    if (data[i] != byte_of(i, seed)) return false;
  return true;
}

void on_short_answer(am::Token&) { ++answers; }
void on_medium_answer(am::Token&, std::span<const std::byte> data) {
  expect(are(data, kMedium, 2), "a medium reply has its bytes");
  ++answers;
}
void on_bulk_answer(am::Token&, std::span<std::byte> data) {
  expect(are(data, kBulk, 4), "a bulk reply has its bytes");
  ++answers;
}

// Each handler tries a larger reply first.
void on_short(am::Token& token) {
  const std::vector<std::byte> data = bytes_of(kMedium, 2);
  const Status status = token.reply_medium<on_medium_answer>(std::span(data));
  expect(status == (strict ? Status::bad_argument : Status::ok),
         "a medium reply to a short request");
  if (!token.replied()) token.reply<on_short_answer>();
}
void on_medium(am::Token& token, std::span<const std::byte> received) {
  expect(are(received, kMedium, 1), "a medium request has its bytes");
  const std::vector<std::byte> data = bytes_of(kBulk, 4);
  const Status status = token.reply_bulk<on_bulk_answer>(std::span(data), 0);
  expect(status == (strict ? Status::bad_argument : Status::ok),
         "a bulk reply to a medium request");
  if (token.replied()) return;
  const std::vector<std::byte> less = bytes_of(kMedium, 2);
  expect(token.reply_medium<on_medium_answer>(std::span(less)) == Status::ok, "a reply as large");
}
void on_bulk(am::Token& token, std::span<std::byte> received) {
  expect(are(received, kBulk, 3), "a bulk request has its bytes");
  ++bulk_requests;
  const std::vector<std::byte> data = bytes_of(kBulk, 4);
  expect(token.reply_bulk<on_bulk_answer>(std::span(data), 0) == Status::ok, "a reply as large");
}

void ask(am::Bundle& bundle, am::Endpoint& endpoint) {
  const auto answered = [&](std::uint32_t count) {
    (void)bundle.wait_until([&] { return answers == count; }, kForEver);
  };
  expect(endpoint.request<on_short>(kPeer) == Status::ok, "a short request");
  answered(1);
  const std::vector<std::byte> medium = bytes_of(kMedium, 1);
  expect(endpoint.request_medium<on_medium>(kPeer, std::span(medium)) == Status::ok,
         "a medium request");
  answered(2);
}

/// The peer does not poll before @p asleep_ms after @p start have gone; by RDMA the data are there
/// before.
void send_bulk(am::Bundle& bundle, am::Endpoint& endpoint, std::uint64_t start,
               std::uint64_t asleep_ms) {
  const std::vector<std::byte> data = bytes_of(kBulk, 3);
  expect(endpoint.request_bulk<on_bulk>(kPeer, std::span(data), 0) == Status::ok, "a bulk request");
  const std::uint64_t took_ms = (monotonic_ns() - start) / 1'000'000;
  if (strict) expect(took_ms >= asleep_ms, fmt::format("it waited {} ms for the peer", took_ms));
  (void)bundle.wait_until([&] { return answers == 3; }, kForEver);
}

/// The peer has made its segment read-only since it gave it. It cannot write the data, and ends the
/// connection.
void send_to_protected(am::Bundle& bundle, am::Endpoint& endpoint, bool asks) {
  const MappedMemory memory(
      ::mmap(nullptr, kMedium, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      kMedium);
  endpoint.set_segment({memory.get(), kMedium});
  bool is_back = false;
  endpoint.set_undeliverable_handler([&](const am::Returned& returned) {
    expect(returned.status == am::Undeliverable::unreachable, "it comes back as unreachable");
    is_back = true;
  });
  (void)bundle.barrier();
  if (!asks) expect(::mprotect(memory.get(), kMedium, PROT_READ) == 0, "mprotect");
  (void)bundle.barrier();
  if (asks) {
    const std::vector<std::byte> data = bytes_of(kMedium, 3);
    expect(endpoint.request_bulk<on_bulk>(kPeer, std::span(data), 0) == Status::ok, "a request");
    (void)bundle.wait_until([&] { return is_back; }, kForEver);
  }
  (void)bundle.barrier();
}

constexpr std::uint32_t kCrowd = 1500;
constinit thread_local std::uint32_t in_crowd = 0;
constinit thread_local bool has_bulk = false;
void on_crowd(am::Token&) { ++in_crowd; }
void on_bulk_in_crowd(am::Token&, std::span<std::byte>) { has_bulk = true; }

/// Rank 0 waits within a bulk request to rank 1, which polls late. Meanwhile rank 2 sends it many
/// requests. The counts that rank 0 waits for come behind them.
int crowded(Job& job) {
  if (job.size() != 3) return 2;
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  (void)endpoint.make_segment(kBulk);
  (void)bundle.barrier();
  if (job.rank() != Rank{0}) (void)endpoint.request<on_crowd>(am::Index{0});  // it connects
  const auto has_come = [](std::uint32_t n) { return [n] { return in_crowd == n; }; };
  if (job.rank() == Rank{0}) (void)bundle.wait_until(has_come(2), kForEver);
  (void)bundle.barrier();
  if (job.rank() == Rank{0}) {
    const std::vector<std::byte> data(kBulk);
    expect(endpoint.request_bulk<on_bulk_in_crowd>(am::Index{1}, std::span(data), 0) == Status::ok,
           "a bulk request");
    (void)bundle.wait_until(has_come(2 + kCrowd), kForEver);
  } else if (job.rank() == Rank{1}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    (void)bundle.wait_until([] { return has_bulk; }, kForEver);
  } else {
    for (std::uint32_t i = 0; i < kCrowd; ++i) (void)endpoint.request<on_crowd>(am::Index{0});
  }
  (void)bundle.barrier();
  return failures == 0 ? 0 : 1;
}

int body(Job& job, int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "crowded") return crowded(job);
  if (job.size() != 2 || argc != 2) return 2;
  strict = std::string_view(argv[1]) == "strict";
  const bool asks = job.rank() == Rank{0};
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  const auto segment = endpoint.make_segment(kBulk);
  (void)endpoint.map(kPeer, {asks ? Rank{1} : Rank{0}, endpoint.name().number}, am::kTagAll);
  (void)bundle.barrier();
  if (asks) ask(bundle, endpoint);
  (void)bundle.barrier();
  const std::uint64_t start = monotonic_ns();  // no peer sleeps yet
  job.bootstrap().fence();
  constexpr std::uint64_t kAsleepMs = 200;
  if (asks) {
    send_bulk(bundle, endpoint, start, kAsleepMs);
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * kAsleepMs));
    (void)bundle.wait_until([&] { return bulk_requests == 1; }, kForEver);
    expect(are(segment, kBulk, 3), "the segment has the bytes");
  }
  (void)bundle.barrier();
  if (strict) send_to_protected(bundle, endpoint, asks);
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
