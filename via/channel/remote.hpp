#pragma once
/// @file
/// The state of a channel whose messages a transport takes to its peer (remote.cpp).

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "viaduct/via/channel/channel.hpp"
#include "viaduct/via/transport.hpp"

namespace viaduct::via::channel {

struct Channel::Remote {
  std::unique_ptr<Link> link;
  std::size_t half_bytes = 0;
  std::uint64_t lines_posted = 0;   // up to this line
  std::uint64_t lines_arrived = 0;  // the same of the peer's
  struct Pending {
    std::uint64_t before;  // the line that it goes before
    Link::Piece piece;
  };
  std::deque<Pending> pieces;
  std::vector<Link::Piece> back;  // to be written back
  bool line_waits = false;        // for pieces or counters that may have to go first
  bool counters_changed = false;  // and not posted
  bool published_unseen = false;  // counters were posted after the last notification
  bool wake_wanted = false;       // by the peer
  bool wake_asked = false;        // of the peer, not answered
  bool in_backlog = false;
  bool connected = false;
};

}  // namespace viaduct::via::channel
