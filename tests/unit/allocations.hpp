#pragma once
/// @file
/// Counts allocations, the library's too. A program that links allocations.cpp has its operator
/// new; a sanitizer needs its own, so that no sanitized program can.

#include <cstdint>

/// What this thread has allocated by operator new since it began. 0 in a program only when the
/// counting operator new is not in it.
[[nodiscard]] std::uint64_t allocations() noexcept;
