#pragma once
// The state that every operation of this rank touches first, and the translation of a global
// address into a place in this process.

#include <cstddef>
#include <cstdint>

namespace viaduct::splitc::detail {

/// Bits of a global pointer's word: the process above, the address in its address space below.
inline constexpr unsigned kProcessShift = 48;
inline constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kProcessShift) - 1;
inline constexpr std::uint32_t kMaxProcesses = 65536;

[[nodiscard]] constexpr std::uint32_t process_of(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> kProcessShift);
}
[[nodiscard]] constexpr std::uint64_t address_of(std::uint64_t word) noexcept {
  return word & kAddressMask;
}
[[nodiscard]] constexpr std::uint64_t make_word(std::uint32_t process,
                                                std::uint64_t address) noexcept {
  return std::uint64_t{process} << kProcessShift | address;
}

/// The mapping in this process of the most used part of a process' memory (spread memory and heap):
/// the object that the word w names is at base + (w - first) when that difference is less than
/// bytes. bytes is 0 while nothing is mapped, when another path is forced, and for processes that
/// do not exist. A word may cross the end by less than its size: the mapping is longer than
/// `bytes`.
struct View {
  std::uint64_t first = 0;  // the word of the view's first byte
  std::size_t bytes = 0;
  std::byte* base = nullptr;
};

/// The views of all processes, member by member: the process' number is the index of each, so that
/// an access computes no address in the table.
struct Views {
  std::uint64_t first[kMaxProcesses];
  std::size_t bytes[kMaxProcesses];
  std::byte* base[kMaxProcesses];

  [[nodiscard]] View at(std::uint32_t process) const noexcept {
    return {first[process], bytes[process], base[process]};
  }
  void set(std::uint32_t process, const View& view) noexcept {
    first[process] = view.first;
    bytes[process] = view.bytes;
    base[process] = view.base;
  }
};

class Machine;

// The targets of the pointers below outside splitc_main: no memory is mapped, and no message ever
// comes.
extern const Views no_views;
extern const std::uint64_t quiet_word;
// A header that always looks full: a light poll that reads it goes on to a poll.
extern const std::uint64_t full_word;

struct Hot {
  // These two do not change from the start of splitc_main to its end: see unchanging().
  const Views* views = &no_views;
  const std::uint64_t* attention = &quiet_word;
  // The light poll: something has come when *next_header is not empty_header any more, or when
  // *attention is not zero.
  const std::uint64_t* next_header = &quiet_word;
  std::uint64_t empty_header = 0;
  std::uint32_t myproc = 0;
  std::uint32_t procs = 1;
  Machine* machine = nullptr;  // null: outside splitc_main
};

/// The rank's own state: ranks may be threads. Split-C is linked with the program and never loaded
/// later, so that no access calls a function to find `hot`, not even in position-independent code.
[[gnu::tls_model("initial-exec")]] extern thread_local constinit Hot hot;

[[gnu::noinline]] void poll_slow();

/// The pointer at @p Offset in `hot`, read so that the compiler may keep it in a register for as
/// long as it likes: an atomic access makes the compiler reload all that it has read from memory.
/// For pointers that do not change while a function of the program runs.
template <class T, std::size_t Offset>
[[nodiscard]] inline const T* unchanging() noexcept {
#ifdef __x86_64__
  const T* pointer;
  asm("mov %c2(%1), %0" : "=r"(pointer) : "r"(&hot), "i"(Offset));
  return pointer;
#else
  return *reinterpret_cast<const T* const*>(reinterpret_cast<const std::byte*>(&hot) + Offset);
#endif
}

/// Whether the word, which another process may change at any time, is another one than @p value.
/// A comparison with memory: an instruction that writes no register leaves the processor room to
/// look further ahead in a loop of accesses, and an atomic load would write one.
[[nodiscard]] inline bool has_changed(const std::uint64_t* word, std::uint64_t value) noexcept {
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
  bool changed;
  asm volatile("cmpq %2, %1" : "=@ccne"(changed) : "m"(*word), "er"(value));
  return changed;
#else
  return __atomic_load_n(word, __ATOMIC_RELAXED) != value;
#endif
}

/// A light poll point: comparisons with two words whose lines stay in this core's cache.
inline void light_poll() {
  const std::uint64_t* const attention = unchanging<std::uint64_t, offsetof(Hot, attention)>();
  if (has_changed(hot.next_header, hot.empty_header) || has_changed(attention, 0)) [[unlikely]]
    poll_slow();
}

/// The place of @p word in this process when it is in the view of its process, else null.
[[nodiscard]] inline std::byte* place_of(std::uint64_t word) noexcept {
  const Views& views = *unchanging<Views, offsetof(Hot, views)>();
  const std::uint64_t process = word >> kProcessShift;
  const std::uint64_t at = word - views.first[process];
  if (at >= views.bytes[process]) [[unlikely]]
    return nullptr;
  std::byte* const place = views.base[process] + at;
  if (place == nullptr) __builtin_unreachable();
  return place;
}

}  // namespace viaduct::splitc::detail
