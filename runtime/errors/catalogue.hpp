#pragma once
/// @file
/// The entries of the error catalogue, for programs that show them.

#include <array>
#include <cstddef>
#include <string_view>

#include "viaduct/runtime/error.hpp"

namespace viaduct::errors {

struct Entry {
  ErrorCode code;
  std::string_view name;
  std::string_view cause;
  std::string_view remedy;
};

inline constexpr Entry kCatalogue[] = {
#define VIADUCT_ERROR(number, name, cause, remedy) {ErrorCode{number}, #name, cause, remedy},
#include "runtime/errors/all.def"
#undef VIADUCT_ERROR
};

/// Whether the numbers rise, so that none is there twice.
consteval bool is_sorted() {
  for (std::size_t i = 1; i < std::size(kCatalogue); ++i)
    if (kCatalogue[i - 1].code >= kCatalogue[i].code) return false;
  return true;
}
static_assert(is_sorted(),
              "the error catalogue is sorted by number, and each number is there once");

}  // namespace viaduct::errors
