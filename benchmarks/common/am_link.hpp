#pragma once
/// @file
/// Two ranks that talk with Active Messages: latency and rates of each size class, blocked waits.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/common/pair.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"

namespace viaduct::bench {

class AmLink {
 public:
  /// Both construct, at the same time. @p bulk: @p bulk_bytes of the peer's window, to be its
  /// segment.
  AmLink(am::Context& context, Pair& pair, Rank peer, std::byte* bulk, std::size_t bulk_bytes);

  // Both ranks call each of these functions, which measures one round and returns the same value at
  // both.

  /// Request of @p words words of 8 bytes (2 or 8), reply of as many: RTT/2.
  [[nodiscard]] double rtt_half_ns(std::uint64_t round_trips, int words = 2);
  /// Medium request of @p bytes bytes (whole words, at most kMediumBytes), answered by as many;
  /// both handlers sum every word: RTT/2.
  [[nodiscard]] double medium_rtt_half_ns(std::size_t bytes, std::uint64_t round_trips);
  /// Requests without reply, 2 words each, summed by the handler: million a second.
  [[nodiscard]] double one_way_mps(std::uint64_t messages);
  /// Medium requests of 4 KiB from 64 sources in turn, every word summed by the handler: GB/s.
  [[nodiscard]] double medium_4k_gbs(std::uint64_t messages);
  /// Bulk requests of @p bytes from @p source: until the handler has summed every word of the last
  /// (with_sum), or the calls alone: GB/s.
  [[nodiscard]] double bulk_gbs(const std::byte* source, std::size_t bytes, std::uint32_t copies,
                                bool with_sum);
  /// The peer blocks in wait(), idle for at least 1 ms before each message: median RTT/2.
  [[nodiscard]] double blocked_rtt_half_ns(std::uint32_t messages);
  /// User and system time of a rank that is blocked for @p seconds, in ms.
  [[nodiscard]] double blocked_cpu_ms(double seconds);

  [[nodiscard]] am::Bundle& bundle() noexcept { return bundle_; }

 private:
  void serve_until(std::uint64_t count);

  Pair& pair_;
  am::Bundle bundle_;
  am::Endpoint endpoint_;
  am::Index peer_;
  std::vector<std::uint64_t> medium_sources_;
};

}  // namespace viaduct::bench
