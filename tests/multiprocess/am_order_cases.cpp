/// Requests of one peer run in the order in which they were sent, also those that have to wait.

#include <vector>

#include "tests/multiprocess/am_rig.hpp"

namespace viaduct::am_test {
namespace {

constexpr am::Index kServer{1};
constexpr std::uint32_t kAsked = 4;

thread_local std::uint32_t t_replies = 0;
thread_local std::uint32_t t_handled = 0;

void on_numbered(am::Token&, std::uint32_t number) {
  CHECK_EQ(number, t_handled);
  ++t_handled;
}
void on_large_answer(am::Token&, std::span<const std::byte>) { ++t_replies; }
/// With @p meets the handler returns when all ranks have come to the fence.
void on_ask_large(am::Token& token, std::uint32_t meets) {
  const std::vector<std::byte> data(token.endpoint().max_medium());
  CHECK_EQ(token.reply_medium<on_large_answer>(std::span(data)), Status::ok);
  if (meets != 0) here().fence();
}

/// Rank 0's part of a round: @p number and the next one are sent around the end of the wait.
void send_around_a_wait(Rig& rig, std::uint32_t number) {
  am::Endpoint& endpoint = rig.endpoint();
  for (std::uint32_t i = 0; i < kAsked; ++i)
    rig.ok(endpoint.try_request<on_ask_large>(kServer, i + 1 == kAsked ? 1U : 0U));
  rig.fence();
  rig.until_waits_for_room(1);
  rig.ok(endpoint.try_request<on_numbered>(kServer, number));
  rig.until([] { return t_replies == kAsked; });
  rig.ok(endpoint.try_request<on_numbered>(kServer, number + 1));
  rig.fence();
}

/// Two large replies fill the ring, a third one takes the overflow block, and a fourth waits. A
/// request that arrives in that wait is put off. A request that arrives when the wait is over, and
/// before the poll returns that it began in, stays behind it.
void behind_those_put_off(Rig& rig) {
  t_handled = 0;
  if (rig.endpoint().credits() < kAsked + 2) return;
  if (rig.rank() == 0) rig.ok(rig.endpoint().request<on_numbered>(kServer, 0U));  // makes the MAP
  if (rig.rank() == 1) rig.until([] { return t_handled == 1; });
  constexpr std::uint32_t kRounds = 20;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const std::uint32_t number = 1 + 2 * round;
    Note note("round {}", round);
    t_replies = 0;
    rig.barrier();
    rig.settle();  // credits that were given back come home
    rig.fence();
    if (rig.rank() == 0) {
      send_around_a_wait(rig, number);
    } else {
      rig.fence();  // rank 0 has asked
      if (rig.rank() == 1) rig.until([&] { return t_handled == number + 2; });
      if (rig.rank() != 1) rig.fence();  // rank 1 meets the others in a handler
    }
  }
  rig.barrier();
}

constexpr std::array kCases{
    Case{"order.behind_those_put_off", Needs::two, behind_those_put_off},
};

}  // namespace

std::span<const Case> order_cases() { return kCases; }

}  // namespace viaduct::am_test
