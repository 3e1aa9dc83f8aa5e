/// @file
/// Blocks that their targets would copy, where some targets cannot map the memory they come from.

#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "viaduct/splitc.hpp"

namespace viaduct::splitc_test {
namespace {

/// Whether blocks of @p words words, one behind the other, arrive from the process before.
bool arrives(std::size_t words) {
  constexpr int kBlocks = 5;
  auto* const mine = splitc::all_malloc<long>(kBlocks * words);
  std::vector<long> source(words);
  const auto next = splitc::toglobal((MYPROC + 1) % PROCS, mine);
  for (int block = 0; block < kBlocks; ++block) {
    for (std::size_t i = 0; i < words; ++i)
      source[i] = 1000 * MYPROC + block + static_cast<long>(i);
    splitc::bulk_store(next + block * static_cast<long>(words), source.data(), words);
  }
  splitc::store_sync(kBlocks * words * sizeof(long));
  const long before = (MYPROC + PROCS - 1) % PROCS;
  bool right = true;
  for (int block = 0; block < kBlocks; ++block)
    for (std::size_t i = 0; i < words; ++i)
      right = right && mine[static_cast<std::size_t>(block) * words + i] ==
                           1000 * before + block + static_cast<long>(i);
  splitc::barrier();
  splitc::all_free(mine);
  return right;
}

int run() {
  int wrong = 0;
  for (const std::size_t words : {600U, 10'000U, 50'000U})
    if (!arrives(words)) {
      fmt::print(stderr, "process {}: blocks of {} words\n", MYPROC, words);
      ++wrong;
    }
  return splitc::all_reduce_add(wrong) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace viaduct::splitc_test

int splitc_main(int /*argc*/, char** /*argv*/) { return viaduct::splitc_test::run(); }
