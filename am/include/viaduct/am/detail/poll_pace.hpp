#pragma once
// How often requests poll: docs/am-protocol.md, "Deferral and progress".

#include <algorithm>
#include <cstdint>

namespace viaduct::am::detail {

struct Map;

/// A rank that only sends polls now and then, so that it serves its peers. A poll that finds
/// nothing costs as much as one or two requests. So a rank that sends to one peer alone polls more
/// seldom than a rank that sends to several in turn, which counts the slots of each.
struct PollPace {
  std::uint32_t every = 8;       // slots that are sent to a peer between two polls
  std::uint32_t in_stream = 32;  // the same where the poll before was for that peer, too
  const Map* last = nullptr;     // the peer for which a request has polled last; only compared

  /// A request to @p map polls now. How many slots later the next poll is due, where @p credits
  /// requests may be outstanding: a stream does not stop for want of the credits that come back by
  /// themselves, a quarter at a time, because a poll takes them.
  [[nodiscard]] std::uint32_t slots_behind(const Map* map, std::uint32_t credits) noexcept {
    const bool streams = last == map;
    last = map;
    return streams ? std::max(every, std::min(in_stream, credits - credits / 4)) : every;
  }
};

}  // namespace viaduct::am::detail
