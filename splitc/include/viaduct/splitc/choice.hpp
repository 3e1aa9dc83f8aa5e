#pragma once
/// @file
/// The path that a block or value of Split-C takes to a process that shares no memory with this
/// one.

#include <cstddef>
#include <string>

#include "viaduct/splitc/path.hpp"
#include "viaduct/splitc/settings.hpp"

namespace viaduct::splitc {

/// How the length of a value or block decides between message and RDMA to another host.
struct RdmaFrom {
  std::size_t tried = 0;   ///< from this length on by whichever of the two is faster
  std::size_t always = 0;  ///< from this length on by RDMA, at least tried
};

/// rdma_from: these lengths when @p path is chosen; numbers greater than any object's size where
/// nothing goes by RDMA.
///
/// Blocks      never.
/// Cost        a few instructions; no job is needed.
[[nodiscard]] RdmaFrom rdma_from(const Settings& settings, Path path) noexcept;

/// remote_way: the way of one length, as a sentence without its full stop, with its reason.  For
/// viaduct-info.
///
/// Blocks      never.
/// Errors      throws Error: VIADUCT_SPLITC_PATH names no path.
[[nodiscard]] std::string remote_way(const Settings& settings, std::size_t bytes);

/// The path that VIADUCT_SPLITC_PATH names.  Never blocks.
[[nodiscard]] Path path_of(const Settings& settings) noexcept;

}  // namespace viaduct::splitc
