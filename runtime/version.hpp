#pragma once
/// @file
/// The library's version.

namespace viaduct {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace viaduct
