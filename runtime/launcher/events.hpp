#pragma once
/// @file
/// The 64-bit values by which the launcher's epoll instance names its events.

#include <cstdint>

namespace viaduct::launcher::event {

inline constexpr std::uint64_t kChild = 1;
inline constexpr std::uint64_t kSignal = 2;
inline constexpr std::uint64_t kSupervisor = 3;
inline constexpr std::uint64_t kHub = 4;
inline constexpr std::uint64_t kTerminal = 5;
inline constexpr std::uint64_t kSocketMark = std::uint64_t{1} << 32;

[[nodiscard]] constexpr std::uint64_t socket_of(std::uint32_t rank) noexcept {
  return kSocketMark | rank;
}
[[nodiscard]] constexpr bool is_socket(std::uint64_t what) noexcept {
  return (what & kSocketMark) != 0;
}
[[nodiscard]] constexpr std::uint32_t rank_of(std::uint64_t what) noexcept {
  return static_cast<std::uint32_t>(what);
}

}  // namespace viaduct::launcher::event
