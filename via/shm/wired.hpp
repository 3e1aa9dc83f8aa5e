#pragma once
/// @file
/// The state of a VI whose messages a carrier takes to its peer (wired.cpp).

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "via/carrier.hpp"
#include "via/shm/vi.hpp"

namespace viaduct::via::shm {

struct Vi::Wired {
  std::unique_ptr<Wire> wire;
  std::size_t half_bytes = 0;
  std::uint64_t lines_posted = 0;   // up to this line
  std::uint64_t lines_arrived = 0;  // the same of the peer's
  struct Pending {
    std::uint64_t before;  // the line that it goes before
    Wire::Piece piece;
  };
  std::deque<Pending> pieces;
  std::vector<Wire::Piece> back;  // to be written back
  bool counters_changed = false;  // and not posted
  bool published_unseen = false;  // counters were posted after the last note
  bool wake_wanted = false;       // by the peer
  bool wake_asked = false;        // of the peer, not answered
  bool held_back = false;
  bool connected = false;
};

}  // namespace viaduct::via::shm
