/// How soon a rank that only sends serves a peer: PollPace, docs/am-protocol.md "Deferral and
/// progress". Each rank sends to endpoints of its own, so that a poll shows: it runs handlers.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "tests/multiprocess/am_rig.hpp"

namespace viaduct::am_test {
namespace {

constexpr std::uint32_t kPeers = 6;
constexpr int kRounds = 50;

thread_local std::uint64_t t_handled = 0;

void on_request(am::Token&) { ++t_handled; }

/// An endpoint that sends, and the endpoints that it sends to.
class Sender {
 public:
  explicit Sender(Rig& rig) : rig_(rig), own_(rig.bundle()) {
    for (std::uint32_t i = 0; i < kPeers; ++i) {
      peers_.push_back(std::make_unique<am::Endpoint>(rig.bundle()));
      rig.ok(own_.map(am::Index{i}, peers_[i]->name(), am::kTagAll));
      rig.ok(own_.request<on_request>(am::Index{i}));  // connects
    }
    seen_ = t_handled;
  }
  /// Sends @p row requests to each of the first @p peers in turn, again and again.
  /// @return how many it has sent in a row without a poll, at most
  std::uint32_t longest_without_poll(std::uint32_t peers, std::uint32_t row) {
    std::uint32_t sent = 0;
    std::uint32_t longest = 0;
    for (int round = 0; round < kRounds; ++round)
      for (std::uint32_t i = 0; i < peers * row; ++i) {
        rig_.ok(own_.request<on_request>(am::Index{i / row}));
        sent = t_handled == seen_ ? sent + 1 : 0;
        seen_ = t_handled;
        longest = std::max(longest, sent);
      }
    return longest;
  }
  [[nodiscard]] std::uint32_t credits() const { return own_.credits(); }

 private:
  Rig& rig_;
  std::uint64_t seen_ = 0;
  std::vector<std::unique_ptr<am::Endpoint>> peers_;
  am::Endpoint own_;
};

std::uint32_t every_of(Rig& rig) {
  return static_cast<std::uint32_t>(rig.context().settings().poll_every);
}

/// Requests to one peer alone poll once in four times poll_every slots, if there are credits.
void one_peer(Rig& rig) {
  Sender sender(rig);
  const std::uint32_t in_stream = 4 * every_of(rig);
  const std::uint32_t longest = sender.longest_without_poll(1, 1);
  CHECK(longest < in_stream);
  if (sender.credits() - sender.credits() / 4 >= in_stream) CHECK_EQ(longest, in_stream - 1);
}

/// Requests to several peers poll once in poll_every slots of each, and where rows go to one of
/// them, once in four times as many of that one.
void several_peers(Rig& rig) {
  Sender sender(rig);
  const std::uint32_t every = every_of(rig);
  (void)sender.longest_without_poll(kPeers, 1);  // polls that made connections came in pairs
  CHECK(sender.longest_without_poll(kPeers, 1) <= kPeers * every);
  CHECK(sender.longest_without_poll(kPeers, 2 * every + every / 2) <= (kPeers + 3) * every);
  CHECK(sender.longest_without_poll(kPeers, 8 * every) <= (kPeers + 3) * every);
  (void)sender.longest_without_poll(kPeers, 1);
  CHECK(sender.longest_without_poll(kPeers, 1) <= kPeers * every);
}

/// What a program asks for counts for a stream to one peer, too.
void as_asked(Rig& rig) {
  constexpr std::uint32_t kEvery = 5;
  Sender sender(rig);
  rig.bundle().set_poll_every(kEvery);
  CHECK(sender.longest_without_poll(1, 1) < kEvery);
  CHECK(sender.longest_without_poll(kPeers, 1) <= kPeers * kEvery);
}

constexpr std::array kCases{
    Case{"pace.one_peer", Needs::any, one_peer},
    Case{"pace.several_peers", Needs::any, several_peers},
    Case{"pace.as_asked", Needs::any, as_asked},
};

}  // namespace

std::span<const Case> pace_cases() { return kCases; }

}  // namespace viaduct::am_test
