#pragma once
/// @file
/// Fetches of cache lines ahead of their use. By instruction: for a processor of no certain model
/// the compiler's builtin makes another one of a fetch to write, and g++ 12 takes a function with
/// nothing but the builtin in it for one without effect.

namespace viaduct {

/// Begins to fetch the cache line of @p at. Never blocks; an address without memory does no harm.
inline void prefetch_line(const void* at) noexcept {
#ifdef __x86_64__
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at);
#endif
}

/// As prefetch_line(), and takes the line from the other cores: it is about to be written.
inline void prefetch_to_write(const void* at) noexcept {
#ifdef __x86_64__
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

}  // namespace viaduct
