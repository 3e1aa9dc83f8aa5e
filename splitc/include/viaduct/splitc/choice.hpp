#pragma once
/// @file
/// The path that a block or value of Split-C takes to a process that shares no memory with this
/// one.

#include <cstddef>
#include <string>

#include "viaduct/splitc/path.hpp"
#include "viaduct/splitc/settings.hpp"

namespace viaduct::splitc {

/// rdma_from: the least number of bytes that go by RDMA to another host when @p path is chosen
/// there; a number greater than any object's size where nothing goes by RDMA.
///
/// Blocks      never.
/// Cost        a few instructions; no job is needed.
[[nodiscard]] std::size_t rdma_from(const Settings& settings, Path path) noexcept;

/// remote_way: the same for one size, as a sentence without its full stop, with its reason.  For
/// viaduct-info.
///
/// Blocks      never.
/// Errors      throws Error: VIADUCT_SPLITC_PATH names no path.
[[nodiscard]] std::string remote_way(const Settings& settings, std::size_t bytes);

/// The path that VIADUCT_SPLITC_PATH names.  Never blocks.
[[nodiscard]] Path path_of(const Settings& settings) noexcept;

}  // namespace viaduct::splitc
