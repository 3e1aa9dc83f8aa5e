#include "compiler-shim/splitcc/driver/own_symbols.hpp"

#include <dlfcn.h>
#include <link.h>
#include <algorithm>
#include <array>
#include <sstream>
#include <system_error>

#include "compiler-shim/splitcc/driver/process.hpp"

namespace viaduct::splitcc {
namespace {

// Looks in the libraries that splitcc itself is linked with, which every program has. Variables do
// not count: a program's `int optind;` is the same object as the C library's.
bool is_function_of_c_library(const std::string& name) {
  void* const address = ::dlsym(RTLD_DEFAULT, name.c_str());
  if (address == nullptr) return false;
  Dl_info info{};
  void* found = nullptr;
  if (::dladdr1(address, &info, &found, RTLD_DL_SYMENT) == 0 || found == nullptr) return true;
  return ELF64_ST_TYPE(static_cast<const ElfW(Sym)*>(found)->st_info) != STT_OBJECT;
}

}  // namespace

std::vector<std::string> names_of_the_c_library(const std::vector<std::string>& files) {
  std::vector<std::string> command = {"nm", "--defined-only", "--extern-only", "--no-sort", "-P"};
  command.insert(command.end(), files.begin(), files.end());
  std::vector<std::string> names;
  std::string output;
  try {
    output = run_program(command, Keep::output_and_errors).output;
  } catch (const std::system_error&) {
    return names;
  }
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find(' '));
    if (name.size() == line.size() || name[0] == '_' || name == "exit") continue;
    if (is_function_of_c_library(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> own_function_options(const std::vector<std::string>& defined) {
  // gcc makes calls of these from printf and fprintf.
  static constexpr std::array kPrint = {"puts", "putchar", "fputs", "fputc", "fwrite"};
  std::vector<std::string> options;
  bool prints = false;
  for (const std::string& name : defined) {
    if (!is_function_of_c_library(name)) continue;
    options.push_back("-fno-builtin-" + name);
    prints = prints || std::find(kPrint.begin(), kPrint.end(), name) != kPrint.end();
  }
  if (prints) options.insert(options.end(), {"-fno-builtin-printf", "-fno-builtin-fprintf"});
  return options;
}

}  // namespace viaduct::splitcc
