#pragma once
// Messages and calls that come back to their sender.

#include "viaduct/am/endpoint.hpp"

namespace viaduct::am::detail {

/// Whether @p status is a reason for a return that handler 0 can be told.
[[nodiscard]] constexpr bool is_reason(Undeliverable status) noexcept {
  return status != Undeliverable::none && status <= Undeliverable::no_access;
}
/// Gives @p returned to handler 0 of @p core. Without one, stops the program with a sentence.
void return_to_sender(EndpointCore& core, const Returned& returned) noexcept;
/// The same for a message that has not been sent. A call fails instead.
void return_to_sender(EndpointCore& core, const Outgoing& out, Undeliverable why) noexcept;
/// Returns the requests over @p map whose credits have not come back.
void return_unseen(Map& map, Undeliverable why) noexcept;
/// The oldest call to the peer of @p map has come back.
void fail_call(Map& map, Undeliverable why) noexcept;
/// The peer answers no more.
void fail_calls(Map& map, Undeliverable why) noexcept;

}  // namespace viaduct::am::detail
