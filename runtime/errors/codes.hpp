#pragma once
/// @file
/// The codes of all fatal texts: errors::no_launcher prints as VIA-0101. The files *.def beside
/// this one are their only source: number, name, cause and remedy. `viaduct-info explain`, docs/
/// errors.md and a test that wants each of them reached come from there. A number is never used for
/// another thing later.
///
///   1 to 999 runtime   1000s viaduct-run   2000s VI layer   3000s Active Messages
///   4000s Split-C's global memory   5000s programs that splitcc has made

#include "viaduct/runtime/error.hpp"

namespace viaduct::errors {

#define VIADUCT_ERROR(number, name, cause, remedy) inline constexpr ErrorCode name{number};
#include "runtime/errors/all.def"
#undef VIADUCT_ERROR

}  // namespace viaduct::errors
