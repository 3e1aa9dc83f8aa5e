#pragma once
/// @file
/// Peers that take no more control messages, for NICs that send those as datagrams.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via {

/// Finds peers that take no more control messages. A closed peer waits for the others in its Job's
/// destructor: its NIC has ended and reads no more control messages. A peer is out of reach when
/// control messages have not reached it for long, while nothing can go to it from here.
class ClosedPeers {
 public:
  /// Calls @p part(rank, cause) for each such peer, once in 50 ms, and at once for a peer that was
  /// found closed before. To be called while a control message is under way.  Never waits.  Cost: a
  /// look at the clock; a system call while a peer is silent.  @tparam Path has silent_for() and
  /// out_of_reach(), as Transport describes them. @tparam Jobs is Job, but in tests.
  template <class Jobs, class Path, class Part>
  void look(Jobs& job, Path& path, Part part) {
    constexpr std::uint64_t kEveryNs = 50'000'000;
    constexpr std::uint64_t kSilenceNs = 100'000'000;
    constexpr std::uint64_t kDownNs = 2'000'000'000;
    if (!closed_.empty()) {
      for (const Rank rank : path.silent_for(0))
        if (is_known(rank)) part(rank, ErrorCause::disconnected);
    }
    const std::uint64_t now = monotonic_ns();
    if (now - looked_ns_ < kEveryNs) return;
    looked_ns_ = now;
    for (const Rank rank : path.silent_for(kSilenceNs)) {
      const auto& record = job.record(rank);
      if (record.finalizing.load() == 0 && record.state.load() != RankState::finalized) continue;
      if (!is_known(rank)) closed_.push_back(rank);
      part(rank, ErrorCause::disconnected);
    }
    for (const Rank rank : path.out_of_reach(kDownNs)) part(rank, ErrorCause::connection_lost);
  }

 private:
  [[nodiscard]] bool is_known(Rank rank) const noexcept {
    return std::find(closed_.begin(), closed_.end(), rank) != closed_.end();
  }

  std::uint64_t looked_ns_ = 0;
  std::vector<Rank> closed_;
};

}  // namespace viaduct::via
