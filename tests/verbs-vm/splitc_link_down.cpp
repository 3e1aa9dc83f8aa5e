/// @file
/// Two processes of a Split-C program talk over verbs, and the link goes down under them:
/// `splitc_link_down DOWN UP`, the commands for that, of which the second is not used. Each waits
/// for the other in another operation, and must get an Error that names it within a bound.
/// `splitc_link_down waits DOWN UP`: process 1 waits for stores, and process 0 does nothing until
/// process 1 has been told, and has made the file that LINK_DOWN_TOLD names.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc.hpp"

using namespace viaduct::splitc;

namespace {

// Seven times the time of VIADUCT_VERBS_TIMEOUT=14, four times over as the devices may, the 2 s in
// which the loss of a process may become known, and the slowness of an emulated machine.
constexpr double kBoundSeconds = 25;
// So long the one that does nothing is silent at most.
constexpr double kSilentSeconds = 25;

long g_word = 7;
long g_begun = 0;
constexpr std::size_t kBlock = 10'000;
char g_block[kBlock];

const char* told_file() {
  const char* const path = std::getenv("LINK_DOWN_TOLD");
  return path != nullptr ? path : "";
}
void do_nothing_until_told() {
  for (const double start = get_seconds();
       access(told_file(), F_OK) != 0 && get_seconds() - start < kSilentSeconds;)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

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
  const bool waits = argc == 4 && std::string_view(argv[1]) == "waits";
  if (PROCS != 2 || (argc != 3 && !waits)) return 2;
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
    if (MYPROC == 0 && std::system(argv[waits ? 2 : 1]) != 0) return 3;
    if (!waits) talk();
    if (MYPROC == 1) store_sync(1);
    do_nothing_until_told();
    return 0;
  } catch (const viaduct::Error& problem) {
    const double after = get_seconds() - start;
    const std::string_view sentence = problem.what();
    const std::string name = "process " + std::to_string(1 - MYPROC);
    std::printf("process %d: after %.1f s: %s\n", MYPROC, after, problem.what());
    std::fflush(stdout);
    if (std::FILE* const told = waits ? std::fopen(told_file(), "w") : nullptr; told != nullptr)
      std::fclose(told);
    const double bound = waits ? kSilentSeconds : kBoundSeconds;
    return sentence.find(name) != std::string_view::npos && after < bound ? 0 : 1;
  }
}
