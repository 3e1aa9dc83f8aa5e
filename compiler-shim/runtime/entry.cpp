/// main() of programs in Split-C, and the end of one by exit().

#include <pthread.h>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include "compiler-shim/runtime/c_callable.hpp"
#include "compiler-shim/runtime/checked.hpp"
#include "compiler-shim/runtime/leave_together.hpp"
#include "compiler-shim/runtime/own_stack.hpp"
#include "compiler-shim/runtime/spread.hpp"
#include "runtime/errors/codes.hpp"
#include "splitc/main/heap.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc.hpp"
#include "viaduct/splitc/settings.hpp"

namespace {

/// exit() jumps here while the program runs.
std::jmp_buf end_of_program;
bool program_runs = false;
pthread_t program_thread;
int exit_code = 0;

/// Generated C uses addresses untranslated: refuses programs whose addresses would differ between
/// processes.
void check_addresses() {
  using viaduct::Error;
  namespace errors = viaduct::errors;
  static int somewhere = 0;
  if (viaduct::splitc::job().threads_mode())
    throw Error(errors::unfit_program, std::errc::not_supported,
                "programs in Split-C have one set of static variables for each process: run them "
                "with viaduct-run --mode processes, not threads");
  const auto address = reinterpret_cast<std::uintptr_t>(&somewhere);
  if (viaduct::splitc::detail::address_of(viaduct::splitc::toglobal(&somewhere).word()) != address)
    throw Error(errors::unfit_program, std::errc::not_supported,
                "the program is position-independent, so that its variables are at another address "
                "in each process: link it with splitcc, or with -no-pie");
  int local = 0;
  if (reinterpret_cast<std::uintptr_t>(&local) >> 47 != 0)
    throw Error(errors::unfit_program, std::errc::not_supported,
                "the stack is at an address of more than 47 bits, which global pointers have no "
                "place for");
}

struct Arguments {
  int argc;
  char** argv;
};

/// Runs the program, on the stack of call_on_own_stack().
int run_main(void* given) {
  const Arguments& arguments = *static_cast<const Arguments*>(given);
  // No object with a destructor may live in this frame: longjmp passes it.
  if (setjmp(end_of_program) == 0) {
    program_runs = true;
    exit_code = vsc_main(arguments.argc, arguments.argv);
  }
  program_runs = false;
  return exit_code;
}

int run_program(int argc, char** argv) {
  check_addresses();
  viaduct::shim::prepare_to_leave_together(viaduct::splitc::job());
  viaduct::shim::complete_static_pointers();
  viaduct::shim::allocate_static_arrays();
  namespace checked = viaduct::shim::checked;
  if (checked::hooks != nullptr) checked::hooks->begin();
  program_thread = pthread_self();
  Arguments arguments{argc, argv};
  const auto region = static_cast<std::uint64_t>(viaduct::splitc::load_settings().segment_base);
  const int code = viaduct::shim::call_on_own_stack(region, run_main, &arguments);
  return checked::hooks != nullptr ? checked::hooks->finish(code) : code;
}

}  // namespace

// The linker's option --wrap=exit sends the program's calls of exit() here and leaves the C
// library's own function as __real_exit.
extern "C" {

[[noreturn, gnu::weak]] void __real_exit(int code);

/// Ends the program as a return from splitc_main does: the process goes on serving the others until
/// all have come to their end.
[[noreturn]] void splitc_exit(int code) {
  if (program_runs && pthread_equal(program_thread, pthread_self()) != 0 &&
      !viaduct::splitc::in_atomic()) {
    exit_code = code;
    std::longjmp(end_of_program, 1);
  }
  if (__real_exit != nullptr) __real_exit(code);
  std::exit(code);
}

[[noreturn]] void __wrap_exit(int code) { splitc_exit(code); }

}  // extern "C"

int main(int argc, char** argv) {
  viaduct::splitc::detail::set_heap_hook(viaduct::splitc::detail::heap_of_program());
  return viaduct::splitc::run(&run_program, argc, argv);
}
