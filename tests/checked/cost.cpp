/// @file
/// What operations take, in nanoseconds; built with and without checked mode.
///
///     viaduct-run -n 2 checked_cost

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "viaduct/splitc.hpp"

namespace {

using namespace splitc;

volatile long sink = 0;
void* volatile place = nullptr;

/// The best of five rounds, in process 0; the other process serves meanwhile.
template <class Act>
void measure(const char* what, long count, Act&& act) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    barrier();
    const double start = get_seconds();
    if (MYPROC == 0)
      for (long i = 0; i < count; ++i) act(i);
    splitc::sync();
    best = std::min(best, (get_seconds() - start) / static_cast<double>(count));
    all_store_sync();
  }
  if (MYPROC == 0) std::printf("%-28s %9.1f ns\n", what, best * 1e9);
}

/// The same for calls that all processes make.
template <class Act>
void measure_all(const char* what, long count, Act&& act) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    barrier();
    const double start = get_seconds();
    for (long i = 0; i < count; ++i) act();
    best = std::min(best, (get_seconds() - start) / static_cast<double>(count));
  }
  if (MYPROC == 0) std::printf("%-28s %9.1f ns\n", what, best * 1e9);
}

}  // namespace

int splitc_main(int, char**) {
  constexpr long kElements = 1024;
  long* const mine = all_malloc<long>(kElements);
  const auto theirs = toglobal((MYPROC + 1) % PROCS, mine);
  std::vector<long> block(kElements);
  measure("read", 1'000'000, [&](long i) { sink = read(theirs + i % kElements); });
  measure("p[i] = v", 1'000'000, [&](long i) { theirs[i % kElements] = i; });
  measure("put", 1'000'000, [&](long i) { put(theirs + i % kElements, i); });
  measure("store", 300'000, [&](long i) { store(theirs + i % kElements, i); });
  measure("fetch_add", 300'000, [&](long) { (void)fetch_add(theirs, 1); });
  measure("bulk_read, 8 KiB", 30'000, [&](long) { bulk_read(block.data(), theirs, kElements); });
  measure("bulk_store, 8 KiB", 3'000, [&](long) { bulk_store(theirs, block.data(), kElements); });
  measure("new and delete, 64 bytes", 1'000'000, [&](long) {
    const auto one = std::make_unique<char[]>(64);
    place = one.get();
  });
  measure_all("barrier", 30'000, [] { barrier(); });
  measure_all("all_malloc, all_free, 4 KiB", 3'000, [] { all_free(all_malloc<char>(4096)); });
  return 0;
}
