/// A process stores blocks and then sets a flag. The other one looks at the flag, which polls where
/// a message is new: the blocks of staging memory must come back to the first process all the same.

#include <chrono>
#include <cstddef>
#include <cstdio>

#include "viaduct/splitc.hpp"

namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kBlocks =
    12;  // with 8 blocks of staging memory, and fewer than a row of credits
constexpr auto kLimit = std::chrono::seconds(60);

}  // namespace

int splitc_main(int, char**) {
  using Clock = std::chrono::steady_clock;
  long* const flag = splitc::all_malloc<long>(1);
  char* const target = splitc::all_malloc<char>(kBlocks * kBlock);
  splitc::barrier();
  int status = 0;
  if (MYPROC == 1) {
    const char source[kBlock] = {};
    for (std::size_t i = 0; i < kBlocks; ++i)
      splitc::bulk_store(splitc::toglobal(0, target + i * kBlock), source, kBlock);
    splitc::write(splitc::toglobal(0, flag), 1L);
  } else {
    const auto begin = Clock::now();
    while (splitc::read(splitc::toglobal(0, flag)) == 0) {
      if (Clock::now() - begin < kLimit) continue;
      std::fprintf(stderr, "the flag is not set after a minute\n");
      status = 1;
      break;
    }
  }
  splitc::all_store_sync();
  return status;
}
