/// A process is killed while the others are, or soon will be, in a collective call, or wait for a
/// lock that it holds. Or its splitc_main fails while the others store into its memory.
/// usage: collective_lost HOW: the last process ends as HOW says; each of the others must get an
/// Error that names it, and say "survived".

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc.hpp"

using namespace viaduct::splitc;

namespace {

/// Until @p seconds later, serving the others.
void linger(double seconds) {
  const double until = get_seconds() + seconds;
  while (get_seconds() < until) poll();
}

std::int64_t g_stored;
lock_t g_lock;
global_ptr<lock_t> the_lock() { return toglobal(0, &g_lock); }

[[noreturn]] void call_again_and_again(std::string_view how) {
  for (;;) {
    if (how == "holding_lock") lock(the_lock());
    if (how == "failed_in_stores")
      store(toglobal(PROCS - 1, &g_stored), std::int64_t{1});
    else if (how == "in_bcast")
      (void)all_bcast(MYPROC, PROCS - 1);
    else if (how == "in_reduce")
      (void)all_reduce_add(1.0);
    else
      barrier();
  }
}

[[noreturn]] void die(std::string_view how) {
  if (how == "while_others_sleep" || how == "failed_in_stores") linger(0.3);
  if (how == "failed_in_stores") throw std::runtime_error("fails, as it is told to");
  if (how == "holding_lock") {
    lock(the_lock());
    barrier();
    linger(0.1);
  }
  if (how.substr(0, 3) == "in_") {
    for (int i = 0; i < 1000; ++i) barrier();
    if (how == "in_split") barrier_notify();
  }
  ::raise(SIGKILL);
  for (;;) {
  }
}

[[noreturn]] void survive(std::string_view how) {
  if (how.substr(0, 3) == "in_")
    for (int i = 0; i < 1000; ++i) barrier();
  if (how == "holding_lock") barrier();
  call_again_and_again(how);
}

}  // namespace

int splitc_main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (MYPROC == PROCS - 1) die(how);
  try {
    survive(how);
  } catch (const viaduct::Error& problem) {
    const std::string name = "process " + std::to_string(PROCS - 1);
    const std::string_view sentence = problem.what();
    if (sentence.find(name) == std::string_view::npos) {
      std::printf("process %d: the sentence does not name %s: %s\n", MYPROC, name.c_str(),
                  problem.what());
      return 1;
    }
    std::printf("process %d: %s: survived\n", MYPROC, problem.what());
    std::fflush(stdout);
    throw;
  }
}
