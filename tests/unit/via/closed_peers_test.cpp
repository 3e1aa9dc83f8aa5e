#include "via/closed_peers.hpp"

#include <gtest/gtest.h>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

namespace viaduct::via {
namespace {

struct Jobs {
  struct Record {
    std::atomic<std::uint32_t> finalizing{0};
    std::atomic<RankState> state{RankState::running};
  };
  std::array<Record, 3> records;
  [[nodiscard]] const Record& record(Rank rank) const { return records[index(rank)]; }
};

struct Path {
  std::uint64_t silent_ns = 0;
  std::vector<Rank> silent;
  std::vector<Rank> cut;
  [[nodiscard]] std::vector<Rank> silent_for(std::uint64_t ns) const {
    return silent_ns >= ns ? silent : std::vector<Rank>{};
  }
  [[nodiscard]] std::vector<Rank> out_of_reach(std::uint64_t) const { return cut; }
};

using Parted = std::vector<std::pair<Rank, ErrorCause>>;

Parted look(ClosedPeers& closed, Jobs& jobs, Path& path) {
  Parted parted;
  closed.look(jobs, path, [&](Rank rank, ErrorCause cause) { parted.emplace_back(rank, cause); });
  return parted;
}

constexpr std::uint64_t kLongNs = 100'000'000;

TEST(ClosedPeers, ASilentPeerIsPartedWhenItHasEnded) {
  Jobs jobs;
  jobs.records[2].finalizing.store(1);
  Path path{kLongNs, {Rank{1}, Rank{2}}, {}};
  ClosedPeers closed;
  EXPECT_EQ(look(closed, jobs, path), (Parted{{Rank{2}, ErrorCause::disconnected}}));
}

TEST(ClosedPeers, APeerThatHasBeenSilentForAMomentIsNot) {
  Jobs jobs;
  jobs.records[2].finalizing.store(1);
  Path path{kLongNs - 1, {Rank{2}}, {}};
  ClosedPeers closed;
  EXPECT_EQ(look(closed, jobs, path), Parted{});
}

TEST(ClosedPeers, APeerFoundClosedIsPartedAtOnceThereafter) {
  Jobs jobs;
  jobs.records[2].state.store(RankState::finalized);
  Path path{kLongNs, {Rank{2}}, {}};
  ClosedPeers closed;
  EXPECT_EQ(look(closed, jobs, path).size(), 1U);
  path.silent = {Rank{1}, Rank{2}};
  path.silent_ns = 0;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(look(closed, jobs, path), (Parted{{Rank{2}, ErrorCause::disconnected}}));
}

TEST(ClosedPeers, APeerOutOfReachIsLost) {
  Jobs jobs;
  Path path{0, {}, {Rank{1}}};
  ClosedPeers closed;
  EXPECT_EQ(look(closed, jobs, path), (Parted{{Rank{1}, ErrorCause::connection_lost}}));
}

}  // namespace
}  // namespace viaduct::via
