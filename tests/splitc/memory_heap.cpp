/// malloc of a Split-C program when its part of the region is full, and forked children that use
/// Split-C.

#include <sys/wait.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "viaduct/splitc.hpp"

namespace {

int fail(const char* what) {
  std::fprintf(stderr, "process %d: %s\n", MYPROC, what);
  return 1;
}

/// VIADUCT_HEAP_BYTES=64M: no more is no more, and what is freed can be had again.
int fill() {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  constexpr std::size_t kMost = 200;
  for (int round = 0; round < 2; ++round) {
    std::vector<void*> held;
    held.reserve(kMost);
    while (held.size() < kMost) {
      void* const block = std::malloc(kBytes);
      if (block == nullptr) break;
      std::memset(block, 1, kBytes);
      held.push_back(block);
    }
    if (held.size() < 30 || held.size() > 64) return fail("not the wanted number of blocks");
    for (void* block : held) std::free(block);
  }
  void* volatile vast = std::malloc(std::size_t{1} << 40);  // volatile: or clang leaves it out
  if (vast != nullptr) return fail("a terabyte");
  return 0;
}

int throw_bad_alloc() {
  char* volatile four_gigabytes = new (std::nothrow) char[std::size_t{1} << 32];
  if (four_gigabytes != nullptr) return fail("nothrow");
  struct alignas(4096) Aligned {
    char bytes[4096];
  };
  auto* const aligned = new Aligned;
  if (reinterpret_cast<std::uintptr_t>(aligned) % 4096 != 0) return fail("not aligned");
  delete aligned;
  try {
    std::vector<char> vast(std::size_t{1} << 32);
    char* volatile used = vast.data();
    *used = 1;
    return fail("four gigabytes of 64 megabytes");
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

int g_value = 0;

/// A child that goes on as if it were the rank is stopped.
int child_uses_splitc(bool reads) {
  const auto next = splitc::toglobal((MYPROC + 1) % PROCS, &g_value);
  splitc::write(next, 5);
  splitc::barrier();
  const pid_t child = ::fork();
  if (child == 0) {
    if (reads) ::_exit(splitc::read(next));
    splitc::barrier();
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return fail("waitpid");
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) return fail("the child was not stopped");
  if (splitc::read(next) != 5) return fail("the child changed something");
  splitc::barrier();
  return 0;
}

}  // namespace

int splitc_main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "fill") return fill();
  if (how == "throw") return throw_bad_alloc();
  if (how == "child_reads") return child_uses_splitc(true);
  if (how == "child_waits") return child_uses_splitc(false);
  return fail("fill, throw, child_reads or child_waits");
}
