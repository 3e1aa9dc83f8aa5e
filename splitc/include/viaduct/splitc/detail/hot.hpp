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
  std::uint64_t unused = 0;
};
static_assert(sizeof(View) == 32);

class Machine;

// The targets of the pointers below outside splitc_main: no memory is mapped, and no message ever
// comes.
extern const View no_views[kMaxProcesses];
extern const std::uint64_t quiet_word;
// A header that always looks full: a light poll that reads it goes on to a poll.
extern const std::uint64_t full_word;

struct Hot {
  // These two do not change from the start of splitc_main to its end: see unchanging().
  const View* views = no_views;  // kMaxProcesses of them
  const std::uint64_t* attention = &quiet_word;
  // The light poll: something has come when bit 0 of *next_header is not that of empty_header, or
  // when *attention is not zero.
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

/// A light poll point: two loads of lines that stay in this core's cache, and one branch.
inline void light_poll() {
  const std::uint64_t* const attention = unchanging<std::uint64_t, offsetof(Hot, attention)>();
  const std::uint64_t header = __atomic_load_n(hot.next_header, __ATOMIC_RELAXED);
  const std::uint64_t asked = __atomic_load_n(attention, __ATOMIC_RELAXED);
  if ((((header ^ hot.empty_header) & 1) | asked) != 0) [[unlikely]]
    poll_slow();
}

/// The place of @p word in this process when it is in the view of its process, else null.
[[nodiscard]] inline std::byte* place_of(std::uint64_t word) noexcept {
  const View& view = unchanging<View, offsetof(Hot, views)>()[process_of(word)];
  const std::uint64_t at = word - view.first;
  if (at >= view.bytes) [[unlikely]]
    return nullptr;
  std::byte* const place = view.base + at;
  if (place == nullptr) __builtin_unreachable();
  return place;
}

}  // namespace viaduct::splitc::detail
