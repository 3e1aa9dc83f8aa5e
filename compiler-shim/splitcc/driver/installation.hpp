#pragma once
/// @file
/// The places of headers and libraries, relative to the executable.

#include <string>
#include <vector>

namespace viaduct::splitcc {

/// The contents of splitcc.conf: lines `include FOLDER`, `cxx_include FOLDER...`, `compiler NAME`,
/// `linker NAME`, `link WORD...`; $ORIGIN is the folder of the file.
struct Installation {
  std::string include;
  std::vector<std::string> cxx_include;  // for C++, in a build tree
  std::string c_compiler = "gcc";
  std::string cxx_compiler = "g++";
  std::vector<std::string> link;
};

/// Beside the executable (a build tree) or in ../lib/viaduct/ and the like (an installation).
/// Throws std::runtime_error that names the places where splitcc.conf was looked for.
[[nodiscard]] Installation find_installation();

}  // namespace viaduct::splitcc
