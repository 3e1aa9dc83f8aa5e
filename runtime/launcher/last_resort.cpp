// An allocation may fail before main, where the initialisers of CLI11's header allocate, in a
// function that is noexcept, or while another failure is being reported. viaduct-run then says so
// and ends with its own exit code. Other exceptions that no code catches are mistakes of this
// program and end it as usual, with a core.

#include "runtime/launcher/last_resort.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "runtime/launcher/exit_codes.hpp"

namespace viaduct::launcher {
namespace {

std::terminate_handler g_before = nullptr;

/// Nothing here allocates.
[[noreturn]] void end() noexcept {
  const std::type_info* const problem = abi::__cxa_current_exception_type();
  if (problem != nullptr && *problem == typeid(std::bad_alloc)) {
    const auto write = [](const char* text) {
      static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text)));
    };
    write("viaduct-run: ");
    write(kNoMemory);
    write("\n");
    ::_exit(kExitLauncher);
  }
  if (g_before != nullptr) g_before();
  __builtin_trap();
}

/// Before every initialiser of this program.
[[gnu::constructor(101)]] void install() noexcept { g_before = std::set_terminate(end); }

}  // namespace
}  // namespace viaduct::launcher
