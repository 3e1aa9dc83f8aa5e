#pragma once
/// @file
/// Two ranks that talk by AM-2, the C interface: the same measurements as AmLink's through am/.

#include <cstdint>

#include "am/c/am.h"
#include "benchmarks/common/pair.hpp"

namespace viaduct::bench {

class Am2Link {
 public:
  /// Both construct, at the same time, after AM_Init. @p kind: AM_SEQ or AM_PAR; @p port: of the
  /// endpoint, another one for each link.  Throws std::runtime_error.
  Am2Link(Pair& pair, Rank peer, int kind, int port);
  ~Am2Link();
  Am2Link(const Am2Link&) = delete;
  Am2Link& operator=(const Am2Link&) = delete;

  // Both ranks call each of these functions, which measures one round and returns the same value at
  // both.

  /// Request of 16 bytes of arguments, reply of as many: RTT/2.
  [[nodiscard]] double rtt_half_ns(std::uint64_t round_trips);
  /// Requests without reply, 16 bytes each, summed by the handler: million a second.
  [[nodiscard]] double one_way_mps(std::uint64_t messages);

 private:
  void serve_until(std::uint64_t count);

  Pair& pair_;
  eb_t bundle_ = nullptr;
  ep_t endpoint_ = nullptr;
};

}  // namespace viaduct::bench
