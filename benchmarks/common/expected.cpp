#include "benchmarks/common/expected.hpp"

#include <algorithm>
#include <array>

namespace viaduct::bench {
namespace {

// For a range of rates in a source the table has its lower end, for a range of times its upper end.
constexpr std::array kExpected{
    Expected{"hand_over_ns", 158, Better::lower, "raw ping-pong in shared memory"},
    Expected{"ring_rate_mps", 130, Better::higher, "raw ring of 64-byte slots"},
    Expected{"medium_ring_4k_gbs", 13.7, Better::higher, "GASNet-EX AM medium, 4 KiB"},
    Expected{"memcpy_1m_gbs", 31, Better::higher, "put of 1 MiB, direct-mapped peer"},
    // 31 GB/s written, then 18.5 GB/s read by the receiver.
    Expected{"memcpy_1m_sum_gbs", 11.6, Better::higher, "put of 1 MiB, then read by the peer"},
    Expected{"memcpy_64m_gbs", 6.8, Better::higher, "put of 64 MiB, direct-mapped peer"},
    Expected{"futex_wake_ns", 36'000, Better::lower, "futex or eventfd wake, RTT/2"},
    Expected{"tcp_rtt_half_ns", 2'870, Better::lower, "loopback TCP, 8 B, spinning"},
    Expected{"udp_rtt_half_ns", 1'670, Better::lower, "loopback UDP, 8 B, spinning"},
};

constexpr double kTolerance = 0.9;

}  // namespace

std::span<const Expected> expected_yardsticks() noexcept { return kExpected; }

std::optional<Expected> expected_yardstick(std::string_view name) noexcept {
  const auto* const found = std::find_if(kExpected.begin(), kExpected.end(),
                                         [&](const Expected& entry) { return entry.name == name; });
  if (found == kExpected.end()) return std::nullopt;
  return *found;
}

bool is_suspect(const Expected& expected, double median) noexcept {
  return expected.better == Better::higher ? median < kTolerance * expected.value
                                           : median > expected.value / kTolerance;
}

}  // namespace viaduct::bench
