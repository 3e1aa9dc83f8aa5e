#pragma once
/// @file
/// The shape of a curve of bandwidth by message size.

#include <cstddef>
#include <span>
#include <string>

namespace viaduct::bench {

/// The highest of @p bandwidths; 0 when there are none.
[[nodiscard]] double plateau(std::span<const double> bandwidths);

/// n-half: the least size at which half of the plateau is reached, between two of the sizes by a
/// line through both on a logarithmic axis. @p sizes ascend; as many as @p bandwidths, at least
/// one. The first size when half is reached there already.  Throws std::invalid_argument.
[[nodiscard]] double n_half(std::span<const std::size_t> sizes, std::span<const double> bandwidths);

/// 8b, 64k, 1m: a size as it stands in figures' names.
[[nodiscard]] std::string size_name(std::size_t bytes);

}  // namespace viaduct::bench
