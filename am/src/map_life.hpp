#pragma once
// How MAPs begin and end: made at the first message from either side, connected, and closed when
// one side ends.

#include <cstdint>

#include "viaduct/am/endpoint.hpp"

namespace viaduct::am {
struct Inquiry;
}

namespace viaduct::am::detail {

/// The MAP that a message of @p core to @p index takes, made now if need be; the index is mapped.
/// All indices that name one peer share one MAP. Answers the null map when the message must wait.
/// Throws Error (memory).
Map& live_map(EndpointCore& core, Index index);
/// Looks whether the connection of @p map, if it is being made, is made by now, or refused.
void check_connection(Map& map) noexcept;
/// The connection is made: @p map takes messages, or is rejected for what the peer shows.
void on_connected(Map& map) noexcept;
/// The endpoint @p from asks @p core for a MAP, with the discriminator @p which.
void incoming(EndpointCore& core, EndpointName from, std::uint64_t which);
/// Drains a MAP whose channel has ended, returns requests that the peer has not taken, and drops
/// it.
void close(Map& map) noexcept;
/// Takes @p map out of its endpoint's table, and ends it.
void drop(Map& map) noexcept;

/// Compares the tag that the peer names with the endpoint's.
void apply_tag(Map& map) noexcept;
/// Names a MAP that no index named, and over which no request of ours is under way, under @p tag.
void retag(Map& map, Tag tag) noexcept;
/// Tells the peer to look at the tag in our block again and to return all credits that it owes us.
/// False: no room.
bool try_notice(Map& map) noexcept;
/// As try_notice(), with words that the receiver reads at once.
bool try_inquiry(Map& map, const Inquiry& inquiry) noexcept;

/// The messages that one peer on another host can have sent and this rank has not polled.
[[nodiscard]] std::uint32_t remote_notifications(const EndpointCore& core) noexcept;

}  // namespace viaduct::am::detail
