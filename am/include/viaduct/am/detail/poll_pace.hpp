#pragma once
// How often requests poll: docs/am-protocol.md, "Deferral and progress".

#include <cstdint>

namespace viaduct::am::detail {

struct Map;

/// A rank that only sends polls now and then, so that it serves its peers. A poll that finds
/// nothing costs as much as one or two requests. So a rank that sends to one peer alone polls more
/// seldom than a rank that sends to several in turn, which counts the slots of each.
struct PollPace {
  std::uint32_t every = 8;       // slots that are sent to a peer between two polls
  std::uint32_t in_stream = 32;  // the same where the poll before was for that peer, too
  Map* last = nullptr;           // the peer for which a request has polled last, if it is there yet
};

}  // namespace viaduct::am::detail
