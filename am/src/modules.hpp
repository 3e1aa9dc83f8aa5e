#pragma once
/// @file
/// The executable and the shared libraries of this process, each by a name that is the same in
/// every process that runs the same build, at whatever address it was loaded.

#include <cstdint>
#include <string>
#include <vector>

namespace viaduct::am {

struct Module {
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
  };

  std::string identity;     ///< the build-id in hexadecimal; without one "file-name+bytes of code"
  std::uintptr_t base = 0;  ///< the loader's offset to the addresses in the file
  std::vector<Range> loaded;

  [[nodiscard]] bool contains(std::uintptr_t address) const noexcept;
};

/// The modules that are loaded now, in the loader's order.  Call from any thread.
[[nodiscard]] std::vector<Module> loaded_modules();

/// Path of the running program, for messages.
[[nodiscard]] std::string executable_path();

}  // namespace viaduct::am
