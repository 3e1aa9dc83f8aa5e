/// @file
/// Breaks a rule of Split-C that tests/splitc/misuse.cpp does not break.
///
///     viaduct-run -n 2 errors_split_c waits|counter|lost|library

#include <csignal>
#include <string_view>

#include "viaduct/splitc.hpp"

/// tests/errors/split_c_library.cpp, in a shared library.
void call_from_library();

namespace {

using namespace viaduct::splitc;

/// Nobody stores anything here, and the others have returned.
void wait_for_nothing() {
  if (MYPROC == 0) store_sync(8);
}

void make_counter() { const store_counter none(1000000); }

void lose_a_process() {
  barrier();
  if (MYPROC == 1) std::raise(SIGKILL);
  barrier();
}

}  // namespace

int splitc_main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how == "waits") wait_for_nothing();
  if (how == "counter") make_counter();
  if (how == "lost") lose_a_process();
  if (how == "library" && MYPROC == 0) call_from_library();
  return 0;
}
