#pragma once
/// @file
/// Programs define functions named poll, send or write. The runtime, which is linked with the
/// programs, must call those of the C library.

#include <string>
#include <vector>

namespace viaduct::splitcc {

/// The names that the object files and archives @p files define and that are functions of the C
/// library as well: a function or variable of the program would take the place of the library's
/// function. Runs nm. Answers nothing when nm is missing.
[[nodiscard]] std::vector<std::string> names_of_the_c_library(
    const std::vector<std::string>& files);

/// Options of gcc for a file that defines the functions @p defined: gcc knows functions of the C
/// library and computes calls of them itself, which must be calls of the file's own functions.
[[nodiscard]] std::vector<std::string> own_function_options(
    const std::vector<std::string>& defined);

}  // namespace viaduct::splitcc
