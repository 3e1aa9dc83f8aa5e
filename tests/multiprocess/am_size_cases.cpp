/// Requests and replies of every size in every combination, and the order that they come in.

#include <array>

#include "tests/multiprocess/am_rig.hpp"

namespace viaduct::am_test {
namespace {

enum class Shape : std::uint32_t { none, one_line, three_lines, medium, bulk };
constexpr std::array kShapes{Shape::none, Shape::one_line, Shape::three_lines, Shape::medium,
                             Shape::bulk};

/// Every request carries it; `seed` is of the pattern that its data have, as those of its reply.
struct Ask {
  std::uint32_t seq;
  std::uint32_t seed;
  std::uint32_t length;  // of this message's data
  Shape answer;          // what is to come back
  std::uint32_t answer_length;
};
struct Answer {
  std::uint32_t seq;
  std::uint32_t seed;
  std::uint32_t length;
};
using Tail = Bytes<100>;

/// The bulk data of one sender lie in its area, one behind the other; requests' areas come first.
/// No place is used twice: a receiver that is late would find the data of a later message there.
constexpr std::uint32_t kPlaces = 64;
constexpr std::uint32_t kPlaceBytes = 2048;
constexpr std::uint32_t kMaxBulk = 2000;
constexpr std::size_t kArea = std::size_t{kPlaces} * kPlaceBytes;

struct Pairs {
  std::array<std::uint32_t, kMaxRanks> sent{};            // requests to each
  std::array<std::uint32_t, kMaxRanks> wanted{};          // the next request of each
  std::array<std::uint32_t, kMaxRanks> answered{};        // replies to each
  std::array<std::uint32_t, kMaxRanks> replies{};         // the next reply of each
  std::array<std::uint32_t, kMaxRanks> requested_bulk{};  // requests with bulk data to each
  std::array<std::uint32_t, kMaxRanks> asked_bulk{};      // replies with bulk data asked of each
  std::array<std::uint32_t, kMaxRanks> replied_bulk{};    // replies with bulk data to each
  std::uint32_t expected = 0;                             // replies in all
  std::uint32_t arrived = 0;
  std::uint32_t handled = 0;
};
thread_local Pairs t_pairs;

std::size_t place(std::uint32_t area, std::uint32_t number) {
  CHECK(number < kPlaces);
  return area * kArea + std::size_t{number} * kPlaceBytes + 17;
}

void check_data(std::span<const std::byte> data, std::uint32_t length, std::uint32_t seed) {
  CHECK_EQ(data.size(), length);
  CHECK_EQ(first_wrong(data, seed), data.size());
}

void take_answer(am::Token& token, const Answer& a) {
  const std::uint32_t from = am::value(token.source());
  CHECK(token.direction() == am::Direction::reply);
  CHECK_EQ(a.seq, t_pairs.replies[from]);
  t_pairs.replies[from] = a.seq + 1;
  ++t_pairs.arrived;
}
void on_short_answer(am::Token& token, Answer a) { take_answer(token, a); }
void on_long_answer(am::Token& token, Answer a, Tail tail) {
  CHECK(same(tail, value_of<Tail>(a.seed)));
  take_answer(token, a);
}
void on_medium_answer(am::Token& token, std::span<const std::byte> data, Answer a) {
  CHECK_EQ(reinterpret_cast<std::uintptr_t>(data.data()) % 16, 0);
  check_data(data, a.length, a.seed);
  take_answer(token, a);
}
void on_bulk_answer(am::Token& token, std::span<std::byte> data, Answer a) {
  check_data(data, a.length, a.seed);
  take_answer(token, a);
}

void answer(am::Token& token, const Ask& ask) {
  const std::uint32_t to = am::value(token.source());
  Answer a{t_pairs.answered[to], ask.seed + 1, ask.answer_length};
  if (ask.answer != Shape::none) ++t_pairs.answered[to];
  std::vector<std::byte> data(ask.answer_length);
  fill(data, a.seed);
  switch (ask.answer) {
    case Shape::none:
      break;
    case Shape::one_line:
      token.reply<on_short_answer>(a);
      break;
    case Shape::three_lines:
      token.reply<on_long_answer>(a, value_of<Tail>(a.seed));
      break;
    case Shape::medium:
      CHECK_EQ(token.reply_medium<on_medium_answer>(std::span(data), a), Status::ok);
      break;
    case Shape::bulk:
      CHECK_EQ(
          token.reply_bulk<on_bulk_answer>(
              std::span(data), place(here().size() + here().rank(), t_pairs.replied_bulk[to]++), a),
          Status::ok);
      break;
  }
}

void take_ask(am::Token& token, const Ask& ask) {
  const std::uint32_t from = am::value(token.source());
  CHECK(token.direction() == am::Direction::request);
  CHECK_EQ(ask.seq, t_pairs.wanted[from]);
  t_pairs.wanted[from] = ask.seq + 1;
  ++t_pairs.handled;
  answer(token, ask);
}
void on_short(am::Token& token, Ask ask) { take_ask(token, ask); }
void on_long(am::Token& token, Ask ask, Tail tail) {
  CHECK(same(tail, value_of<Tail>(ask.seed)));
  take_ask(token, ask);
}
void on_medium(am::Token& token, std::span<const std::byte> data, Ask ask) {
  CHECK_EQ(reinterpret_cast<std::uintptr_t>(data.data()) % 16, 0);
  check_data(data, ask.length, ask.seed);
  take_ask(token, ask);
  check_data(data, ask.length, ask.seed);  // still there after the reply
}
void on_bulk(am::Token& token, std::span<std::byte> data, Ask ask) {
  check_data(data, ask.length, ask.seed);
  take_ask(token, ask);
}

/// Medium once the places of bulk data are used up.
Shape with_place(Shape shape, std::uint32_t& used) {
  if (shape != Shape::bulk) return shape;
  return used++ < kPlaces ? Shape::bulk : Shape::medium;
}

void send(Rig& rig, am::Index to, Shape shape, std::uint32_t length, Shape back,
          std::uint32_t back_length) {
  std::uint32_t& requested = t_pairs.requested_bulk[am::value(to)];
  shape = with_place(shape, requested);
  back = with_place(back, t_pairs.asked_bulk[am::value(to)]);
  const std::uint32_t seq = t_pairs.sent[am::value(to)]++;
  const Ask ask{seq, seq * 1000 + rig.rank(), length, back, back_length};
  if (back != Shape::none) ++t_pairs.expected;
  std::vector<std::byte> data(length);
  fill(data, ask.seed);
  am::Endpoint& ep = rig.endpoint();
  switch (shape) {
    case Shape::none:
    case Shape::one_line:
      rig.ok(ep.request<on_short>(to, ask));
      break;
    case Shape::three_lines:
      rig.ok(ep.request<on_long>(to, ask, value_of<Tail>(ask.seed)));
      break;
    case Shape::medium:
      rig.ok(ep.request_medium<on_medium>(to, std::span(data), ask));
      break;
    case Shape::bulk:
      rig.ok(ep.request_bulk<on_bulk>(to, std::span(data), place(rig.rank(), requested - 1), ask));
      break;
  }
  std::fill(data.begin(), data.end(), std::byte{0xEE});  // the source is ours again
}

void start(Rig& rig) {
  t_pairs = Pairs{};
  rig.endpoint().make_segment(2 * rig.size() * kArea);
  rig.barrier();
}

/// All that was sent has been handled and answered, everywhere.
void finish(Rig& rig) {
  rig.until([] { return t_pairs.arrived == t_pairs.expected; });
  rig.barrier();
  const auto sent = rig.exchange(t_pairs.sent);
  std::uint32_t to_me = 0;
  for (std::uint32_t r = 0; r < rig.size(); ++r) to_me += sent[r][rig.rank()];
  rig.until([&] { return t_pairs.handled >= to_me; });
  rig.barrier();
  CHECK_EQ(t_pairs.handled, to_me);
  CHECK_EQ(t_pairs.arrived, t_pairs.expected);
  rig.barrier();
}

bool has_data(Shape shape) { return shape == Shape::medium || shape == Shape::bulk; }

void combinations(Rig& rig) {
  start(rig);
  for (const Shape request : kShapes)
    for (const Shape reply : kShapes)
      for (const std::uint32_t length : {0U, 1U, 333U, 1999U}) {
        if (request == Shape::none) continue;
        if (!has_data(request) && !has_data(reply) && length != 0) continue;
        for (std::uint32_t r = 0; r < rig.size(); ++r)
          send(rig, am::Index{r}, request, has_data(request) ? length : 0, reply,
               has_data(reply) ? length : 0);
      }
  finish(rig);
}

void medium_sizes(Rig& rig) {
  start(rig);
  CHECK_EQ(rig.endpoint().max_medium(), 4096);
  for (const std::uint32_t length :
       {0U, 1U, 15U, 63U, 64U, 65U, 127U, 4031U, 4032U, 4033U, 4095U, 4096U})
    for (int i = 0; i < 3; ++i) send(rig, rig.next(), Shape::medium, length, Shape::medium, length);
  finish(rig);
  for (const std::uint32_t length : {4096U, 0U, 4096U, 1U, 4096U, 64U, 4095U, 65U})
    for (int i = 0; i < 5; ++i) send(rig, rig.next(), Shape::medium, length, Shape::none, 0);
  finish(rig);
}

/// Data in a message's own lines, and where they begin to take the ring: in any order, with
/// arguments of three words there and two back.
void medium_in_lines(Rig& rig) {
  start(rig);
  for (std::uint32_t length = 0; length < 180; ++length) {
    send(rig, rig.next(), Shape::medium, length, Shape::medium, 179 - length);
    if (length % 7 == 0) send(rig, rig.next(), Shape::three_lines, 0, Shape::medium, length);
    if (length % 9 == 0) send(rig, rig.next(), Shape::medium, length, Shape::three_lines, 0);
    if (length % 11 == 0) send(rig, rig.next(), Shape::one_line, 0, Shape::one_line, 0);
  }
  finish(rig);
}

void medium_too_long(Rig& rig) {
  start(rig);
  std::vector<std::byte> data(4097);
  const auto too_long = std::span(data);
  CHECK_EQ(rig.endpoint().request_medium<on_medium>(rig.next(), too_long, Ask{}),
           Status::bad_argument);
  CHECK_EQ(rig.endpoint().try_request_medium<on_medium>(rig.next(), too_long, Ask{}),
           Status::bad_argument);
  CHECK_EQ(rig.endpoint().request_medium_raw(rig.next(), am::HandlerId{1}, data, {}),
           Status::bad_argument);
  const std::span<std::byte> null(static_cast<std::byte*>(nullptr), 5);
  CHECK_EQ(rig.endpoint().request_medium<on_medium>(rig.next(), null, Ask{}), Status::bad_argument);
  CHECK_EQ(rig.endpoint().request_bulk<on_bulk>(rig.next(), null, 0, Ask{}), Status::bad_argument);
  CHECK_EQ(rig.endpoint().try_request_bulk<on_bulk>(rig.next(), null, 0, Ask{}),
           Status::bad_argument);
  finish(rig);
  CHECK(rig.back.empty());
}

/// One message that does not wait; it counts when it has been accepted.
Status try_send(Rig& rig, Shape shape, std::uint32_t length) {
  const am::Index to = rig.next();
  std::uint32_t& seq = t_pairs.sent[am::value(to)];
  std::uint32_t& used = t_pairs.requested_bulk[am::value(to)];
  const Ask ask{seq, seq * 1000 + rig.rank(), length, Shape::one_line, 0};
  std::vector<std::byte> data(length);
  fill(data, ask.seed);
  am::Endpoint& ep = rig.endpoint();
  const Status status =
      shape == Shape::medium
          ? ep.try_request_medium<on_medium>(to, std::span(data), ask)
          : ep.try_request_bulk<on_bulk>(to, std::span(data), place(rig.rank(), used), ask);
  if (status == Status::ok) {
    ++seq;
    if (shape == Shape::bulk) ++used;
    ++t_pairs.expected;
  }
  std::fill(data.begin(), data.end(), std::byte{0xEE});
  return status;
}

/// While the peer handles no requests: `retry` comes when the medium ring or the credits are used
/// up. What was accepted is handled once and in order, and so is what follows.
void tried(Rig& rig) {
  start(rig);
  am::Endpoint& ep = rig.endpoint();
  send(rig, rig.next(), Shape::one_line, 0, Shape::one_line, 0);  // now there is a MAP
  finish(rig);
  constexpr std::uint32_t kMost = 40;  // fewer than there are places for bulk data
  const struct {
    Shape shape;
    std::uint32_t length;
    std::uint32_t room;
  } kinds[] = {{Shape::medium, ep.max_medium(), 2},
               {Shape::medium, 100, kMost},  // in its lines
               {Shape::bulk, kMaxBulk, kMost}};
  for (const auto& [shape, length, room] : kinds) {
    ep.set_wait_run(am::Bundle::Run::replies);
    rig.fence();
    std::uint32_t accepted = 0;
    Status status = Status::ok;
    while (accepted < kMost && (status = try_send(rig, shape, length)) == Status::ok) ++accepted;
    CHECK(accepted >= 1 && accepted <= std::min(room, ep.credits()));
    CHECK_EQ(status, accepted < kMost ? Status::retry : Status::ok);
    rig.fence();
    ep.set_wait_run(am::Bundle::Run::all);
    for (int i = 0; i < 10; ++i) {
      while ((status = try_send(rig, shape, length)) == Status::retry) (void)rig.bundle().poll();
      rig.ok(status);
    }
    finish(rig);
  }
}

/// A reply whose data are refused may be made again: the handler has not replied.
thread_local std::uint32_t t_echoes = 0;
void on_echo_end(am::Token&) { ++t_echoes; }
void on_reply_too_long(am::Token& token) {
  std::vector<std::byte> data(4097);
  CHECK_EQ(token.reply_medium<on_medium_answer>(std::span(data), Answer{}), Status::bad_argument);
  CHECK(!token.replied());
  token.reply<on_echo_end>();
}
void reply_too_long(Rig& rig) {
  t_echoes = 0;
  rig.barrier();
  rig.ok(rig.endpoint().request<on_reply_too_long>(rig.next()));
  rig.until([] { return t_echoes == 1; });
}

/// A handler whose reply is refused and that makes no other one: its requester is told, whatever
/// the request's size, and no credit is lost.
std::span<const std::byte> refused_data(std::uint32_t i, const std::vector<std::byte>& too_long) {
  constexpr std::size_t kAny = 5;
  return i % 2 == 0 ? std::span(too_long) : std::span(static_cast<const std::byte*>(nullptr), kAny);
}
void refuse_one(am::Token& token, std::uint32_t i) {
  const std::vector<std::byte> too_long(100'000);
  const auto data = refused_data(i, too_long);
  CHECK_EQ(token.reply_medium<on_medium_answer>(data, Answer{}), Status::bad_argument);
  if (i % 3 == 0)
    CHECK_EQ(token.reply_medium<on_medium_answer>(data, Answer{}), Status::bad_argument);
  CHECK(!token.replied());
}
void on_refused(am::Token& token, std::uint32_t i) { refuse_one(token, i); }
void on_refused_long(am::Token& token, std::uint32_t i, Tail) { refuse_one(token, i); }
void on_refused_medium(am::Token& token, std::span<const std::byte>, std::uint32_t i) {
  refuse_one(token, i);
}
void reply_refused(Rig& rig) {
  t_echoes = 0;
  rig.barrier();
  am::Endpoint& ep = rig.endpoint();
  const std::uint32_t requests = 3 * ep.credits() + 7;
  const std::vector<std::byte> data(100);
  for (std::uint32_t i = 0; i < requests; ++i) {
    if (i % 3 == 0) rig.ok(ep.request<on_refused>(rig.next(), i));
    if (i % 3 == 1) rig.ok(ep.request<on_refused_long>(rig.next(), i, Tail{}));
    if (i % 3 == 2) rig.ok(ep.request_medium<on_refused_medium>(rig.next(), std::span(data), i));
    if (i % 8 == 0) rig.ok(ep.request<on_reply_too_long>(rig.next()));
  }
  rig.until([&] { return rig.back.size() == requests && t_echoes == (requests + 7) / 8; });
  for (std::uint32_t i = 0; i < requests; ++i) {
    CHECK_EQ(rig.back[i].status, am::Undeliverable::bad_arguments);
    CHECK(rig.back[i].direction == am::Direction::request);
    CHECK_EQ(rig.back[i].peer, am::value(rig.next()));
    CHECK(rig.back[i].args.empty());
  }
  rig.barrier();
  rig.expect_all_credits();
}

/// The handler replies straight from its own receive buffer.
void on_echoed(am::Token&, std::span<const std::uint32_t> data, std::uint32_t seed) {
  for (std::size_t i = 0; i < data.size(); ++i) CHECK_EQ(data[i], seed + i);
  ++t_echoes;
}
void on_echo(am::Token& token, std::span<const std::uint32_t> data, std::uint32_t seed) {
  CHECK_EQ(token.reply_medium<on_echoed>(data, seed), Status::ok);
  for (std::size_t i = 0; i < data.size(); ++i) CHECK_EQ(data[i], seed + i);
}
void medium_echo(Rig& rig) {
  t_echoes = 0;
  rig.barrier();
  std::vector<std::uint32_t> data(1024);
  for (std::uint32_t n = 0; n < 200; ++n) {
    for (std::uint32_t i = 0; i < data.size(); ++i) data[i] = n * 7 + i;
    rig.ok(rig.endpoint().request_medium<on_echo>(rig.next(), std::span(data).first(n * 5), n * 7));
  }
  rig.until([] { return t_echoes == 200; });
}

void order(Rig& rig) {
  start(rig);
  const std::uint32_t messages = rig.size() > 8 ? 100 : 600;
  for (std::uint32_t i = 0; i < messages; ++i) {
    const auto shape = static_cast<Shape>(1 + rig.random_below(4));
    const auto back = static_cast<Shape>(rig.random_below(5));
    const auto length =
        static_cast<std::uint32_t>(shape == Shape::medium ? rig.random_below(4097)
                                   : shape == Shape::bulk ? rig.random_below(kMaxBulk)
                                                          : 0);
    const auto back_length =
        static_cast<std::uint32_t>(back == Shape::medium ? rig.random_below(4097)
                                   : back == Shape::bulk ? rig.random_below(kMaxBulk)
                                                         : 0);
    send(rig, am::Index{static_cast<std::uint32_t>(rig.random_below(rig.size()))}, shape, length,
         back, back_length);
    if (rig.random_below(50) == 0) (void)rig.bundle().poll();
  }
  finish(rig);
}

constexpr std::array kCases{
    Case{"size.combinations", Needs::any, combinations},
    Case{"size.medium_sizes", Needs::any, medium_sizes},
    Case{"size.medium_in_lines", Needs::any, medium_in_lines},
    Case{"size.medium_too_long", Needs::any, medium_too_long},
    Case{"size.tried", Needs::any, tried},
    Case{"size.reply_too_long", Needs::any, reply_too_long},
    Case{"size.reply_refused", Needs::any, reply_refused},
    Case{"size.medium_echo", Needs::any, medium_echo},
    Case{"size.order", Needs::any, order},
};

}  // namespace

std::span<const Case> size_cases() { return kCases; }

}  // namespace viaduct::am_test
