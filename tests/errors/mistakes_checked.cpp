/// @file
/// Mistakes that checked mode finds in Split-C from C++, one in each function, as in mistakes.cpp.
///
///     viaduct-run -n 2 errors_mistakes_checked NAME

#include <string_view>
#include <utility>
#include <vector>

#include "viaduct/splitc.hpp"

namespace {

using namespace splitc;

volatile int seen = 0;

// Mistake: the element behind the last one
void behind_array() {
  const auto a = all_spread_malloc<int>(static_cast<std::size_t>(PROCS) * 10);
  for (int i = 0; i <= PROCS * 10; i += PROCS)
    if (MYPROC == 0) seen = a[i];  // here
}

// Mistake: a block that is longer than what is left of the array
void behind_block() {
  int* const mine = all_malloc<int>(100);
  std::vector<int> block(100);
  if (MYPROC == 0) bulk_read(block.data(), toglobal(1, mine) + 50, 100);  // here
}

// Mistake: an array is used after all have freed it
void after_free() {
  const auto a = all_spread_malloc<double>(100);
  all_spread_free(a);
  if (MYPROC == 0) a[3] = 1;  // here
}

// Mistake: a store into an array that one process has freed
void after_free_by_one() {
  auto a = spread_malloc<int>(100);
  a = all_bcast(a, 0);
  if (MYPROC == 0) spread_free(a);
  if (MYPROC == 0) store(a + 1, 5);  // here
}

// Mistake: a barrier that one process does not reach
void barrier_by_one() {
  if (MYPROC == 0) barrier();  // here
}

const std::pair<std::string_view, void (*)()> kMistakes[] = {
    {"behind_array", behind_array},
    {"behind_block", behind_block},
    {"after_free", after_free},
    {"after_free_by_one", after_free_by_one},
    {"barrier_by_one", barrier_by_one},
};

}  // namespace

int splitc_main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const auto& [known, act] : kMistakes) {
    if (known != name) continue;
    act();
    return 0;
  }
  return 2;
}
