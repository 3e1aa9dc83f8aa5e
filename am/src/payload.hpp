#pragma once
// How the data of medium and bulk messages and of gets come to the other rank.

#include <cstddef>
#include <cstdint>
#include <span>

#include "viaduct/am/detail/map.hpp"

namespace viaduct::am::detail {

/// Copies a payload into the medium ring and says where (word 0). False: no room.
bool put_medium(Map& map, const std::byte* data, std::size_t bytes, std::uint64_t& place) noexcept;
/// Sends a medium message whose data go into the medium ring, where there is room for all of it now
/// and the peer shares memory with this rank. It takes @p credits credits, 0 or 1.  @return false:
/// nothing is sent.
[[nodiscard]] bool send_payload(Map& map, std::uint32_t credits, std::uint64_t client,
                                std::span<const std::uint64_t> args, std::uint32_t arg_bytes,
                                std::span<const std::byte> data) noexcept;
/// Copies between @p own and the peer's segment at @p offset, as a message with @p client asks.
/// @return why it cannot.
Undeliverable copy_bulk(Map& map, std::byte* own, std::size_t bytes, std::size_t offset,
                        std::uint64_t client) noexcept;
/// Before a bulk message: the data are in place, or @p client says that the receiver is to pull
/// them, and finish_bulk() is to follow.
Undeliverable begin_bulk(Map& map, const std::byte* from, std::size_t bytes, std::size_t offset,
                         std::uint64_t& client) noexcept;
/// After a bulk message with @p client, or after the attempt to send it: returns when the data are
/// in place.
void finish_bulk(Map& map, const std::byte* from, std::size_t bytes, std::size_t offset,
                 std::uint64_t client, bool sent) noexcept;

}  // namespace viaduct::am::detail
