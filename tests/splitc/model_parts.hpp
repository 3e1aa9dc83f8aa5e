#pragma once
/// @file
/// Parts of the randomised test in which processes work on the same memory.

#include <cstdint>

namespace viaduct::splitc_test {

/// Atomics and locks that all processes use at the same time: nothing is lost.
void run_contended(std::uint64_t seed);
/// Blocks of up to a megabyte at odd places.
void run_blocks(std::uint64_t seed);

}  // namespace viaduct::splitc_test
