#include "tests/unit/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {
constinit thread_local std::uint64_t count = 0;
}  // namespace

std::uint64_t allocations() noexcept { return count; }

// In a file of their own: a compiler that inlines one of a pair takes the other for a mismatch.
void* operator new(std::size_t bytes) {
  ++count;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
