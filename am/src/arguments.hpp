#pragma once
// Why a call answers bad_argument.

#include <cstddef>
#include <string>

#include "viaduct/am/endpoint.hpp"

namespace viaduct::am {

/// Each function that answers a Status writes a warning, which names the argument, its value, the
/// limit and the remedy, and answers bad_argument. The log counts sentences that come again.
struct Endpoint::Refusal {
  static Status index(const Endpoint& endpoint, const char* call, Index index) noexcept;
  static Status rank(const Endpoint& endpoint, Rank rank) noexcept;
  static Status unmapped(const Endpoint& endpoint, Index index) noexcept;
  static Status length(const Endpoint& endpoint, const char* call, std::size_t bytes) noexcept;
  static Status reply_size(const Endpoint& endpoint, Operation reply, Operation request) noexcept;
  static Status null(const Endpoint& endpoint, const char* call, std::size_t bytes) noexcept;
  static Status handler(const Endpoint& endpoint, const char* call, std::size_t id) noexcept;
  static Status words(const Endpoint& endpoint, std::size_t count) noexcept;

  /// Which indices are mapped, for sentences about one that is not.  Throws std::bad_alloc alone.
  static std::string describe_mapped(const Endpoint& endpoint);
};

}  // namespace viaduct::am
