#pragma once
/// @file
/// Two ranks that talk with Active Messages: the figures of LogP and of each size class.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "am/bundle.hpp"
#include "am/context.hpp"
#include "am/endpoint.hpp"
#include "benchmarks/common/pair.hpp"
#include "benchmarks/common/stopwatch.hpp"

namespace viaduct::bench {

/// Delays put around the provider, to test the benchmark itself: it must find them again.
struct Injected {
  double o_ns = 0;  ///< the sending processor is busy so long with every request
  double g_ns = 0;  ///< the receiver takes no request sooner than so long after the one before
};

class AmLink {
 public:
  /// Both construct, at the same time. @p bulk: @p bulk_bytes of the peer's window, to be its segment.
  AmLink(am::Context& context, Pair& pair, Rank peer, std::byte* bulk, std::size_t bulk_bytes, Injected injected);

  // Each is called by both ranks, measures one round and returns the same value at both.

  /// Request of @p words words of 8 bytes (2 or 8), reply of as many: RTT/2.
  [[nodiscard]] double rtt_half_ns(std::uint64_t round_trips, int words = 2);
  /// LogP's o_s: a burst of requests short enough for the credits, nothing received meanwhile.
  [[nodiscard]] double send_overhead_ns(std::uint32_t bursts);
  /// The time per request of a long burst, each followed by a delay of @p delay_ns and a poll. Delay 0: LogP's g; delay
  /// above g: o_s + delay + o_r.
  [[nodiscard]] double burst_ns(std::uint64_t requests, double delay_ns);
  /// Requests without reply, 2 words each, summed by the handler: million a second.
  [[nodiscard]] double one_way_mps(std::uint64_t messages);
  /// Medium requests of 4 KiB from 64 sources in turn, every word summed by the handler: GB/s.
  [[nodiscard]] double medium_4k_gbs(std::uint64_t messages);
  /// Bulk requests of @p bytes from @p source: until the handler has summed every word of the last (with_sum), or the
  /// calls alone: GB/s.
  [[nodiscard]] double bulk_gbs(const std::byte* source, std::size_t bytes, std::uint32_t copies, bool with_sum);
  /// The peer blocks in wait(), idle for at least 1 ms before each message: median RTT/2.
  [[nodiscard]] double blocked_rtt_half_ns(std::uint32_t messages);
  /// User and system time of a rank that is blocked for @p seconds, in ms.
  [[nodiscard]] double blocked_cpu_ms(double seconds);

  [[nodiscard]] am::Bundle& bundle() noexcept { return bundle_; }

 private:
  void serve_until(std::uint64_t count);
  void request_pair(std::uint64_t value);

  Pair& pair_;
  am::Bundle bundle_;
  am::Endpoint endpoint_;
  am::Index peer_;
  std::vector<std::uint64_t> medium_sources_;
  Injected injected_;
  Stopwatch clock_;
};

}  // namespace viaduct::bench
