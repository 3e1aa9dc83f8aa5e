/// Short messages: every shape of arguments, many handlers, handlers by number.

#include <array>
#include <chrono>

#include "tests/multiprocess/am_rig.hpp"

namespace viaduct::am_test {
namespace {

thread_local std::uint32_t t_requests = 0;
thread_local std::uint32_t t_replies = 0;

template <class... A, std::size_t... I>
bool expected(std::uint64_t seed, std::index_sequence<I...>, const A&... a) {
  return (same(a, value_of<A>(seed + I)) && ... && true);
}

template <class... A>
void on_args_reply(am::Token& token, A... a) {
  CHECK(expected<A...>(1000 + am::value(token.source()), std::index_sequence_for<A...>{}, a...));
  CHECK(token.direction() == am::Direction::reply);
  ++t_replies;
}

template <class... A>
void on_args(am::Token& token, A... a) {
  CHECK(expected<A...>(index(token.source_rank()), std::index_sequence_for<A...>{}, a...));
  CHECK(token.direction() == am::Direction::request);
  CHECK(!token.replied());
  ++t_requests;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    token.reply<on_args_reply<A...>>(value_of<A>(1000 + here().rank() + I)...);
  }
  (std::index_sequence_for<A...>{});
  CHECK(token.replied());
}

template <class... A>
void send_args(Rig& rig) {
  Note note("{} arguments, {} bytes", sizeof...(A), am::detail::Packing<A...>::kBytes);
  constexpr std::uint32_t kEach = 20;
  t_requests = t_replies = 0;
  rig.barrier();
  for (std::uint32_t i = 0; i < kEach; ++i)
    for (std::uint32_t r = 0; r < rig.size(); ++r)
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        rig.ok(rig.endpoint().request<on_args<A...>>(am::Index{r}, value_of<A>(rig.rank() + I)...));
      }
  (std::index_sequence_for<A...>{});
  rig.until([&] { return t_replies == kEach * rig.size() && t_requests == kEach * rig.size(); });
  rig.barrier();
  CHECK_EQ(t_replies, kEach * rig.size());
  CHECK_EQ(t_requests, kEach * rig.size());
}

using Int = std::int32_t;
using Word = std::uint64_t;
struct Point {
  double x, y;
  std::int16_t label;
};

void argument_counts(Rig& rig) {
  send_args<>(rig);
  send_args<Int>(rig);
  send_args<Int, Int>(rig);
  send_args<Int, Int, Int>(rig);
  send_args<Int, Int, Int, Int>(rig);
  send_args<Int, Int, Int, Int, Int, Int, Int, Int>(rig);
  send_args<Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int>(rig);
  send_args<Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int>(rig);
}

void argument_types(Rig& rig) {
  send_args<double>(rig);
  send_args<char, double, std::int16_t, float, std::int64_t, bool>(rig);
  send_args<std::uint8_t, std::uint8_t, std::uint8_t>(rig);
  send_args<Bytes<3>, std::int16_t, Bytes<5>, double>(rig);
  send_args<Bytes<1>, Word, Bytes<1>, Word, Bytes<1>>(rig);
}

void a_struct(am::Token& token, Point p, std::array<float, 3> more) {
  CHECK_EQ(p.x, 1.5);
  CHECK_EQ(p.y, -2.25);
  CHECK_EQ(p.label, 7);
  CHECK_EQ(more[2], 3.0F);
  ++t_requests;
  token.reply<on_args_reply<>>();
}

void structs(Rig& rig) {
  t_requests = t_replies = 0;
  rig.barrier();
  rig.ok(rig.endpoint().request<a_struct>(rig.next(), Point{1.5, -2.25, 7},
                                          std::array<float, 3>{1, 2, 3}));
  rig.until([] { return t_requests == 1 && t_replies == 1; });
}

/// 56 bytes are one line, 57 two, 113 three, 128 the most.
void line_limits(Rig& rig) {
  send_args<Word, Word, Word, Word, Word, Word, Word>(rig);
  send_args<Bytes<55>>(rig);
  send_args<Bytes<56>>(rig);
  send_args<Bytes<57>>(rig);
  send_args<Word, Word, Word, Word, Word, Word, Word, Word>(rig);
  send_args<Bytes<111>>(rig);
  send_args<Bytes<112>>(rig);
  send_args<Bytes<113>>(rig);
  send_args<Bytes<127>>(rig);
  send_args<Bytes<128>>(rig);
  send_args<Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word,
            Word, Word>(rig);
}

/// Arguments are converted to the handler's types at the sender.
void on_converted(am::Token&, std::int64_t a, double b, std::uint8_t c) {
  CHECK_EQ(a, -5);
  CHECK_EQ(b, 3.0);
  CHECK_EQ(c, 200);
  ++t_requests;
}
void conversions(Rig& rig) {
  t_requests = 0;
  rig.barrier();
  rig.ok(rig.endpoint().request<on_converted>(rig.next(), -5, 3, 200));
  rig.until([] { return t_requests == 1; });
}

void on_silent(am::Token& token, int x) noexcept {
  if (x == 11) ++t_requests;
  (void)token;
}
void on_quiet(am::Token& token, int x) noexcept {
  if (x == 12) ++t_requests;
  token.reply<on_silent>(11);
}
void noexcept_handlers(Rig& rig) {
  t_requests = 0;
  rig.barrier();
  rig.ok(rig.endpoint().request<on_quiet>(rig.next(), 12));
  rig.until([] { return t_requests == 2; });
}

thread_local std::array<std::uint32_t, 200> t_hits{};
template <std::size_t N>
void on_numbered(am::Token& token, std::uint32_t n) {
  CHECK_EQ(n, N * 3);
  ++t_hits[N];
  (void)token;
}
template <std::size_t... N>
void send_numbered(Rig& rig, std::index_sequence<N...>) {
  (rig.ok(rig.endpoint().request<on_numbered<N>>(rig.next(), static_cast<std::uint32_t>(N * 3))),
   ...);
}
void many_handlers(Rig& rig) {
  t_hits.fill(0);
  rig.barrier();
  for (int i = 0; i < 5; ++i) send_numbered(rig, std::make_index_sequence<200>{});
  rig.until([] {
    for (const std::uint32_t hits : t_hits)
      if (hits < 5) return false;
    return true;
  });
  rig.barrier();
  for (const std::uint32_t hits : t_hits) CHECK_EQ(hits, 5);
}

thread_local std::vector<std::vector<std::uint64_t>> t_raw;
thread_local std::vector<std::vector<std::byte>> t_raw_data;
void on_raw(am::Token& token, const am::Arrival& arrival) {
  (void)token;
  std::vector<std::uint64_t> words(arrival.arg_bytes / 8);
  if (!words.empty()) std::memcpy(words.data(), arrival.args, words.size() * 8);
  t_raw.push_back(std::move(words));
  t_raw_data.emplace_back(arrival.data, arrival.data + arrival.data_bytes);
}
void on_other_raw(am::Token& token, const am::Arrival&) { token.reply<on_args_reply<>>(); }

void raw_handlers(Rig& rig) {
  am::Endpoint& ep = rig.endpoint();
  t_raw.clear();
  t_raw_data.clear();
  t_replies = 0;
  CHECK_EQ(ep.set_handler(am::HandlerId{0}, on_raw), Status::bad_argument);
  CHECK_EQ(ep.set_handler(am::HandlerId{256}, on_raw), Status::bad_argument);
  CHECK_EQ(ep.set_handler(am::HandlerId{1}, on_raw), Status::ok);
  CHECK_EQ(ep.set_handler(am::HandlerId{255}, on_raw), Status::ok);
  CHECK_EQ(ep.set_handler(am::HandlerId{7}, on_other_raw), Status::ok);
  rig.barrier();
  std::vector<std::uint64_t> words(17);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = 100 * (i + 1) + rig.rank();
  const std::span<const std::uint64_t> all(words);
  CHECK_EQ(ep.request_raw(rig.next(), am::HandlerId{1}, all), Status::bad_argument);  // 17 words
  const std::span<const std::uint64_t> null(static_cast<const std::uint64_t*>(nullptr), 3);
  CHECK_EQ(ep.request_raw(rig.next(), am::HandlerId{1}, null), Status::bad_argument);
  CHECK_EQ(ep.try_request_raw(rig.next(), am::HandlerId{1}, null), Status::bad_argument);
  CHECK_EQ(ep.request_medium_raw(rig.next(), am::HandlerId{1}, {}, null), Status::bad_argument);
  CHECK_EQ(ep.request_raw(rig.next(), am::HandlerId{256}, all.first(1)), Status::bad_argument);
  CHECK_EQ(ep.request_raw(rig.next(), am::HandlerId{0}, all.first(1)), Status::bad_argument);
  for (std::size_t n = 0; n <= 16; ++n)
    rig.ok(ep.request_raw(rig.next(), am::HandlerId{1}, all.first(n)));
  rig.ok(ep.request_raw(rig.next(), am::HandlerId{7}, {}));
  std::vector<std::byte> data(1000);
  fill(data, rig.rank());
  rig.ok(ep.request_medium_raw(rig.next(), am::HandlerId{255}, data, all.first(3)));
  rig.until([] { return t_raw.size() == 18 && t_replies == 1; });
  const auto from = am::value(rig.previous());
  for (std::size_t n = 0; n <= 16; ++n) {
    REQUIRE_EQ(t_raw[n].size(), n);
    for (std::size_t i = 0; i < n; ++i) CHECK_EQ(t_raw[n][i], 100 * (i + 1) + from);
    CHECK(t_raw_data[n].empty());
  }
  CHECK_EQ(t_raw[17].size(), 3);
  REQUIRE_EQ(t_raw_data[17].size(), 1000);
  CHECK_EQ(first_wrong(t_raw_data[17], from), 1000);
}

/// try_request answers retry until the MAP is made, and is delivered once.
void trying(Rig& rig) {
  t_requests = t_replies = 0;
  rig.barrier();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kLimitNs);
  while (true) {
    const Status status =
        rig.endpoint().try_request<on_args<Int>>(rig.next(), value_of<Int>(rig.rank()));
    if (status == Status::ok) break;
    REQUIRE_EQ(status, Status::retry);
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    (void)rig.bundle().poll();
  }
  rig.until([] { return t_requests == 1 && t_replies == 1; });
}

constexpr std::array kCases{
    Case{"short.argument_counts", Needs::any, argument_counts},
    Case{"short.argument_types", Needs::any, argument_types},
    Case{"short.structs", Needs::any, structs},
    Case{"short.line_limits", Needs::any, line_limits},
    Case{"short.conversions", Needs::any, conversions},
    Case{"short.noexcept_handlers", Needs::any, noexcept_handlers},
    Case{"short.many_handlers", Needs::any, many_handlers},
    Case{"short.raw_handlers", Needs::any, raw_handlers},
    Case{"short.trying", Needs::any, trying},
};

}  // namespace

std::span<const Case> short_cases() { return kCases; }

}  // namespace viaduct::am_test
