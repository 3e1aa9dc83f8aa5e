#pragma once
/// @file
/// Pulls: bulk data that the receiver of their message copies (MapBlock::Pull).

#include <cstddef>
#include <cstdint>

#include "viaduct/am/detail/map.hpp"

namespace viaduct::am::detail {

/// A pull's way there and back costs more than it saves below kLeastPull. Data above kMostPull are
/// longer than the receiver's cache.
inline constexpr std::size_t kLeastPull = std::size_t{4} << 10;
inline constexpr std::size_t kMostPull = std::size_t{4} << 20;
/// Messages whose data the sender copies after pulls for which the receiver did not come in time:
/// 1, 2, 4, and then so many.
inline constexpr std::uint32_t kMostPushesAfterMiss = 8;

/// Sender: shows @p bytes bytes at @p from to the receiver.  @return whether the message is to say
/// so (wire_format::pull_bit). False: the data are to be copied first.
[[nodiscard]] bool show_for_pull(Map& map, const std::byte* from, std::size_t bytes) noexcept;
/// Sender: takes back what it has shown, since its message was not sent.
void take_back_pull(Map& map) noexcept;
/// Sender, after the message: waits until the receiver has copied the data. Blocks for some
/// microseconds where the receiver does not come (a quarter of the sender's own copy), and for as
/// long as the receiver copies.  @return false: the sender is to copy them, and then to call
/// tell_pushed().
[[nodiscard]] bool await_pull(Map& map, std::size_t bytes) noexcept;
/// Sender: it has copied the @p bytes bytes itself, in @p ns.
void tell_pushed(Map& map, std::size_t bytes, std::uint64_t ns) noexcept;
/// Sender: it could not. The receiver sends the message back with @p why.
void tell_failed(Map& map, Undeliverable why) noexcept;

/// How a pull ended: the receiver has copied the data, or the sender has, or could not; or the
/// sender is lost, or does not keep to the protocol.
enum class PullEnd : std::uint8_t { copied, pushed, unpushed, broken };
/// Receiver: copies the data of the message that it handles to @p to, or waits while the sender
/// copies them. Null @p to: the message is refused, and no data are wanted. After unpushed (@p why)
/// the message is to be refused.
PullEnd pull(Map& map, std::byte* to, std::size_t bytes, Undeliverable& why) noexcept;

}  // namespace viaduct::am::detail
