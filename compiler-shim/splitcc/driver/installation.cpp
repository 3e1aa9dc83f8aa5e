#include "compiler-shim/splitcc/driver/installation.hpp"

#include <fmt/format.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace viaduct::splitcc {
namespace {

namespace fs = std::filesystem;

std::string with_origin(std::string word, const std::string& origin) {
  static const std::string kOrigin = "$ORIGIN";
  for (std::size_t at = word.find(kOrigin); at != std::string::npos;
       at = word.find(kOrigin, at + origin.size()))
    word.replace(at, kOrigin.size(), origin);
  return word;
}

Installation read(const fs::path& file) {
  Installation found;
  const std::string origin = file.parent_path().string();
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    std::string word;
    while (words >> word) {
      word = with_origin(word, origin);
      if (key == "include")
        found.include = fs::path(word).lexically_normal().string();
      else if (key == "cxx_include")
        found.cxx_include.push_back(word);
      else if (key == "compiler")
        found.c_compiler = word;
      else if (key == "linker")
        found.cxx_compiler = word;
      else if (key == "link")
        found.link.push_back(word);
    }
  }
  return found;
}

}  // namespace

Installation find_installation() {
  const fs::path bin = fs::read_symlink("/proc/self/exe").parent_path();
  std::string looked;
  for (const fs::path& candidate :
       {bin / "splitcc.conf", bin / "../" SPLITCC_LIBRARY_FOLDER "/viaduct/splitcc.conf",
        bin / "../lib/viaduct/splitcc.conf", bin / "../lib64/viaduct/splitcc.conf"}) {
    std::error_code ignored;
    if (fs::exists(candidate, ignored)) return read(fs::canonical(candidate));
    looked += "\n  " + candidate.lexically_normal().string();
  }
  throw std::runtime_error(
      fmt::format("the installation is not complete: splitcc.conf, which names headers and "
                  "libraries, is at none of{}",
                  looked));
}

}  // namespace viaduct::splitcc
