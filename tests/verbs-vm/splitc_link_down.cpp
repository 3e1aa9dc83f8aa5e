/// @file
/// Two processes of a Split-C program talk over verbs, and the link goes down under them:
/// `splitc_link_down DOWN UP`, the commands for that, of which the second is not used. Each waits for
/// the other in another operation, and must get an Error that names it within a bound.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "splitc/splitc.hpp"

using namespace viaduct::splitc;

namespace {

// Seven times the time of VIADUCT_VERBS_TIMEOUT=14, four times over as the devices may, the 2 s in
// which the loss of a process may become known, and the slowness of an emulated machine.
constexpr double kBoundSeconds = 25;

long g_word = 7;
long g_begun = 0;
constexpr std::size_t kBlock = 10'000;
char g_block[kBlock];

[[noreturn]] void talk() {
  for (;;) {
    if (MYPROC == 0)
      (void)read(toglobal(1, &g_word));
    else
      bulk_write(toglobal(0, g_block), g_block, kBlock);
  }
}

}  // namespace

int splitc_main(int argc, char** argv) {
  if (PROCS != 2 || argc != 3) return 2;
  const long there = read(toglobal(1 - MYPROC, &g_word));
  if (there != 7) {
    std::printf("process %d: read %ld instead of 7\n", MYPROC, there);
    return 1;
  }
  barrier();
  const double start = get_seconds();
  try {
    if (MYPROC == 1) write(toglobal(0, &g_begun), 1L);
    while (MYPROC == 0 && read(toglobal(&g_begun)) == 0) continue;
    if (MYPROC == 0 && std::system(argv[1]) != 0) return 3;
    talk();
  } catch (const viaduct::Error& problem) {
    const double after = get_seconds() - start;
    const std::string_view sentence = problem.what();
    const std::string name = "process " + std::to_string(1 - MYPROC);
    std::printf("process %d: after %.1f s: %s\n", MYPROC, after, problem.what());
    std::fflush(stdout);
    return sentence.find(name) != std::string_view::npos && after < kBoundSeconds ? 0 : 1;
  }
}
