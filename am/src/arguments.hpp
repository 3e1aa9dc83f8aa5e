#pragma once
// Why a call answers bad_argument.

#include <cstddef>
#include <string>

#include "viaduct/am/endpoint.hpp"

namespace viaduct::am::detail {

/// Each function that answers a Status writes a warning, which names the argument, its value, the
/// limit and the remedy, and answers bad_argument. The log counts sentences that come again.
struct Refusal {
  static Status index(const EndpointCore& core, const char* call, Index index) noexcept;
  static Status rank(const EndpointCore& core, Rank rank) noexcept;
  static Status unmapped(const EndpointCore& core, Index index) noexcept;
  static Status length(const EndpointCore& core, const char* call, std::size_t bytes) noexcept;
  static Status reply_size(const EndpointCore& core, Operation reply, Operation request) noexcept;
  static Status reply_length(const EndpointCore& core, std::size_t bytes, std::size_t most,
                             const char* limit) noexcept;
  static Status null(const EndpointCore& core, const char* call, std::size_t bytes) noexcept;
  static Status handler(const EndpointCore& core, const char* call, std::size_t id) noexcept;
  static Status words(const EndpointCore& core, std::size_t count) noexcept;

  /// Which indices are mapped, for sentences about one that is not.  Throws std::bad_alloc alone.
  static std::string describe_mapped(const EndpointCore& core);
};

}  // namespace viaduct::am::detail
