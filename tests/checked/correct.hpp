#pragma once
/// @file
/// What the checked part of a correct program calls of the part that is not checked.

#include "viaduct/splitc/global_ptr.hpp"
#include "viaduct/splitc/spread_ptr.hpp"

namespace viaduct::splitc_test {

/// The sum of @p count elements, read by the part that is not checked.
[[nodiscard]] long sum_unchecked(splitc::spread_ptr<long> array, long count);
/// Reads one element behind a block of 10, which the part that is not checked may do unseen.
[[nodiscard]] long read_behind_unchecked(splitc::global_ptr<long> block);
/// Whether the templates of that part are others than those of this one.
[[nodiscard]] const void* address_of_its_read();

}  // namespace viaduct::splitc_test
