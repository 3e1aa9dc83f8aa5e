#pragma once
/// @file
/// The settings of provider fault, which its name contains. Table: docs/fault-provider.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace viaduct::via::fault {

/// The failures that happen by chance.
enum class Kind : std::uint8_t { drop, duplicate, corrupt, error, disconnect, full, refuse };
inline constexpr std::size_t kKinds = 7;

struct Plan {
  std::string provider;  ///< underneath
  std::uint64_t seed = 1;
  double send_ns = 0;     ///< o_s
  double receive_ns = 0;  ///< o_r
  double latency_ns = 0;  ///< L
  double gap_ns = 0;      ///< g
  double byte_ns = 0;     ///< G
  std::array<double, kKinds> chance{};

  [[nodiscard]] bool delays() const noexcept {
    return latency_ns != 0 || gap_ns != 0 || byte_ns != 0;
  }
  [[nodiscard]] double chance_of(Kind kind) const noexcept {
    return chance[static_cast<std::size_t>(kind)];
  }
};

/// Reads "fault(shm,L=2000,drop=0.1)".  Throws Error, which names the part that is wrong and what
/// may stand there.
[[nodiscard]] Plan read_plan(std::string_view name);

/// Decides what fails. Each kind has a sequence of its own, so that a kind that is switched on
/// leaves the others' decisions as they were.
class Dice {
 public:
  Dice(const Plan& plan, std::uint32_t rank);
  [[nodiscard]] bool falls_on(Kind kind);
  /// A number below @p bound, of @p kind's sequence.
  [[nodiscard]] std::uint64_t below(Kind kind, std::uint64_t bound);

 private:
  std::array<double, kKinds> chance_;
  std::array<std::mt19937_64, kKinds> sequences_;
};

}  // namespace viaduct::via::fault
