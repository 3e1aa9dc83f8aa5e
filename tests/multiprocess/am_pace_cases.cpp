/// How soon a rank that only sends serves a peer: PollPace, docs/am-protocol.md "Deferral and
/// progress".

#include <algorithm>
#include <array>

#include <sched.h>

#include "tests/multiprocess/am_rig.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct::am_test {
namespace {

constexpr int kRounds = 12;
thread_local bool t_heard = false;

void on_call(am::Token&) { t_heard = true; }
void on_nothing(am::Token&) {}

/// Rank 1 sends rank 0 a request. Rank 0 sends requests to @p peers in turn until one of them polls
/// and so runs the handler.  @return how many rank 0 has sent, at most @p limit + 1
std::uint32_t requests_until_heard(Rig& rig, std::span<const am::Index> peers,
                                   std::uint32_t limit) {
  rig.drain();   // nobody polls while rank 1 sends: it is connected before
  rig.settle();  // credits that were given back come home
  t_heard = false;
  rig.fence();
  if (rig.rank() == 1) rig.ok(rig.endpoint().request<on_call>(am::Index{0}));
  rig.fence();
  std::uint32_t sent = 0;
  if (rig.rank() == 0) {
    const std::uint64_t begin = monotonic_ns();
    while (!rig.bundle().looks_busy() &&
           monotonic_ns() - begin < static_cast<std::uint64_t>(kLimitNs))
      sched_yield();
    for (; !t_heard && sent <= limit; ++sent)
      rig.ok(rig.endpoint().request<on_nothing>(peers[sent % peers.size()]));
    rig.until([] { return t_heard; });
  }
  return sent;
}

std::uint32_t every_of(Rig& rig) {
  return static_cast<std::uint32_t>(rig.context().settings().poll_every);
}

/// Requests to one peer alone poll once in four times poll_every slots, and not much sooner.
void one_peer(Rig& rig) {
  const std::uint32_t limit = 4 * every_of(rig);
  const std::array peers{am::Index{rig.size() - 1}};
  std::uint32_t most = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint32_t sent = requests_until_heard(rig, peers, limit);
    CHECK(sent <= limit);
    most = std::max(most, sent);
  }
  const std::uint32_t credits = rig.endpoint().credits();
  if (rig.rank() == 0 && credits - credits / 4 >= limit) CHECK(most > every_of(rig));
}

/// Requests to several peers in turn poll once in poll_every slots of each.
void peers_in_turn(Rig& rig) {
  std::vector<am::Index> peers;
  for (std::uint32_t peer = 1; peer < rig.size(); ++peer) peers.push_back(am::Index{peer});
  if (peers.size() == 1) return;
  const auto limit = static_cast<std::uint32_t>(peers.size()) * every_of(rig);
  // While connections are made, a request may poll before it is sent and behind it, as a stream
  // does.
  (void)requests_until_heard(rig, peers, 4 * limit);
  for (int round = 0; round < kRounds; ++round)
    CHECK(requests_until_heard(rig, peers, limit) <= limit);
}

/// What a program asks for counts for a stream to one peer, too.
void as_asked(Rig& rig) {
  constexpr std::uint32_t kEvery = 5;
  rig.bundle().set_poll_every(kEvery);
  const std::array peers{am::Index{rig.size() - 1}};
  for (int round = 0; round < kRounds; ++round)
    CHECK(requests_until_heard(rig, peers, kEvery) <= kEvery);
}

constexpr std::array kCases{
    Case{"pace.one_peer", Needs::two, one_peer},
    Case{"pace.peers_in_turn", Needs::two, peers_in_turn},
    Case{"pace.as_asked", Needs::two, as_asked},
};

}  // namespace

std::span<const Case> pace_cases() { return kCases; }

}  // namespace viaduct::am_test
