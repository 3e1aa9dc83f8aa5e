#pragma once
// The state that every operation of this rank touches first, and the translation of a global
// address into a place in this process.

#include <cstddef>
#include <cstdint>

namespace viaduct::splitc::detail {

// The word of a global pointer has one of two forms (docs/splitc.md, "Global addresses"):
//
//     bits     63 .. 48     47   46 .. 0
//     plain    process       0   address in the process' own address space
//     aligned  process       1   place of the object in every process' address space
//
// Objects of the region have aligned words in jobs whose processes have mapped all regions at the
// same addresses, the regions of two neighbours at the same distance.
inline constexpr unsigned kProcessShift = 48;
inline constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kProcessShift) - 1;
inline constexpr unsigned kAlignedShift = 47;
inline constexpr std::uint64_t kAlignedBit = std::uint64_t{1} << kAlignedShift;
inline constexpr std::uint32_t kMaxProcesses = 65536;

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
  // These three do not change from the start of splitc_main to its end: see unchanging().
  const Views* views = &no_views;
  const std::uint64_t* attention = &quiet_word;
  std::uint64_t aligned_bit = 0;  // kAlignedBit: aligned words are places to access
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

/// `hot` when Split-C has ended, and in a forked child: the process keeps its number.
[[nodiscard]] inline Hot outside() noexcept {
  Hot value;
  value.myproc = hot.myproc;
  value.procs = hot.procs;
  return value;
}

[[gnu::noinline]] void poll_slow();

/// The translation between the two forms of words. The process': where ranks are threads, all words
/// are plain. It stays when Split-C has ended, in other threads and in a forked child, so that
/// pointers become local there, too.
struct Alignment {
  std::uint64_t first = 0;   // address of the region in the process' own address space
  std::uint64_t bytes = 0;   // of the region; 0: the job has no aligned words
  std::uint64_t origin = 0;  // word of the first object of process 0
  std::uint64_t step = 0;    // from an object's word to that of the next process
  std::uint64_t procs = 0;
};
extern constinit Alignment alignment;

/// The word of 8 bytes at @p Offset in @p from, read so that the compiler may keep it in a register
/// for as long as it likes: an atomic access makes the compiler reload all that it has read from
/// memory. For words that do not change while a function of the program runs.
template <class T, std::size_t Offset>
[[nodiscard]] inline T unchanging(const void* from = &hot) noexcept {
  static_assert(sizeof(T) == 8);
#ifdef __x86_64__
  T word;
  asm("mov %c2(%1), %0" : "=r"(word) : "r"(from), "i"(Offset));
  return word;
#else
  return *reinterpret_cast<const T*>(static_cast<const std::byte*>(from) + Offset);
#endif
}

[[nodiscard]] constexpr std::uint32_t process_of(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> kProcessShift);
}
[[nodiscard]] constexpr bool is_null(std::uint64_t word) noexcept {
  return (word & kAddressMask) == 0;
}
/// The object as messages to its process name it.
[[nodiscard]] constexpr std::uint64_t without_process(std::uint64_t word) noexcept {
  return word & kAddressMask;
}
/// What the word of the same object of the next process has more.
[[nodiscard]] inline std::uint64_t process_step(std::uint64_t word) noexcept {
  if ((word & kAlignedBit) != 0) [[likely]]
    return unchanging<std::uint64_t, offsetof(Alignment, step)>(&alignment);
  return std::uint64_t{1} << kProcessShift;
}
/// The word of the same object of process 0.
[[nodiscard]] inline std::uint64_t word_of_first(std::uint64_t word) noexcept {
  return word - process_of(word) * process_step(word);
}
/// The address in the process' own address space. That of an aligned word outside the region lies
/// outside the region, too.
[[nodiscard]] inline std::uint64_t address_of(std::uint64_t word) noexcept {
  if ((word & kAlignedBit) == 0) return word & kAddressMask;
  return alignment.first + (word_of_first(word) - alignment.origin);
}
[[nodiscard]] inline std::uint64_t make_word(std::uint32_t process,
                                             std::uint64_t address) noexcept {
  const std::uint64_t at = address - alignment.first;
  if (at >= alignment.bytes) return std::uint64_t{process} << kProcessShift | address;
  return alignment.origin + at + process * alignment.step;
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
  const auto* const attention = unchanging<const std::uint64_t*, offsetof(Hot, attention)>();
  if (has_changed(hot.next_header, hot.empty_header) || has_changed(attention, 0)) [[unlikely]]
    poll_slow();
}

/// The place of @p word in this process when it is in the view of its process, else null.
[[nodiscard]] inline std::byte* place_in_view(std::uint64_t word) noexcept {
  const View view = hot.views->at(process_of(word));
  const std::uint64_t at = word - view.first;
  return at < view.bytes ? view.base + at : nullptr;
}

/// The place of @p word in this process when it is aligned, else null. What follows is inlined in
/// loops of accesses: an instruction that writes a register costs there, and a load does.
[[nodiscard]] inline std::byte* aligned_place(std::uint64_t word) noexcept {
  if ((word & unchanging<std::uint64_t, offsetof(Hot, aligned_bit)>()) == 0) [[unlikely]]
    return nullptr;
  constexpr unsigned kAbove = 64 - kAlignedShift;
  auto* const place = reinterpret_cast<std::byte*>(word << kAbove >> kAbove);
  if (place == nullptr) __builtin_unreachable();
  return place;
}

/// The place of @p word in this process; null: only a call reaches it.
[[nodiscard]] inline std::byte* place_of(std::uint64_t word) noexcept {
  std::byte* const place = aligned_place(word);
  return place != nullptr ? place : place_in_view(word);
}

}  // namespace viaduct::splitc::detail
