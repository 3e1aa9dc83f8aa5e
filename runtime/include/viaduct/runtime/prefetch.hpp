#pragma once
/// @file
/// Moves of cache lines ahead of their use. By instruction: for a processor of no certain model
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

/// @return whether the processor has the instruction of demote_line(), as it says itself (cpuid):
/// Xeons since the fourth generation do.  Cost: a call; the processor is asked once.
[[nodiscard]] bool demotes_lines() noexcept;

/// Begins to move the cache line of @p at from this core's own caches to the cache that the cores
/// share: another core is about to read the line or to write it, and fetches it from there in less
/// time than from a core. Has no effect where demotes_lines() is false: such processors take the
/// instruction for one that does nothing.  Never blocks. A stream of messages becomes slower by it,
/// since a line takes some 10 ns: docs/performance.md, "Lines that are handed over".
inline void demote_line(const void* at) noexcept {
#ifdef __x86_64__
  asm volatile("cldemote %0" : : "m"(*static_cast<const char(*)[64]>(at)));  // behind its stores
#else
  static_cast<void>(at);
#endif
}

}  // namespace viaduct
