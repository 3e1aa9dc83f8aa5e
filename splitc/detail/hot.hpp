#pragma once
// What every operation of this rank touches first, and the way from a global address to a place in
// this process.

#include <atomic>
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

/// Where the most used part of a process' memory (spread memory and heap) is mapped here:
/// address a of it, lo <= a < lo + bytes, is at base + (a - lo). bytes is 0 while nothing is
/// mapped, where the path is forced to another one, and for processes that do not exist. A word may
/// cross the end by less than its size: the mapping is longer than `bytes`.
struct View {
  std::uintptr_t lo = 0;
  std::size_t bytes = 0;
  std::byte* base = nullptr;
  std::uint64_t unused = 0;
};
static_assert(sizeof(View) == 32);

class Machine;

// What the pointers below show outside splitc_main: nothing is mapped, nothing ever comes.
extern const View no_views[kMaxProcesses];
extern const std::atomic<std::uint64_t> quiet_word;
extern const std::atomic<std::uint32_t> quiet_mail;

struct Hot {
  const View* views = no_views;  // kMaxProcesses of them
  // The light poll: a message has come when bit 0 of *next_header is next_phase, or one of the two
  // words is not zero.
  const std::atomic<std::uint64_t>* next_header = &quiet_word;
  std::uint64_t next_phase = 1;
  const std::atomic<std::uint64_t>* bell = &quiet_word;
  const std::atomic<std::uint32_t>* mail = &quiet_mail;
  std::uint32_t myproc = 0;
  std::uint32_t procs = 1;
  Machine* machine = nullptr;  // null: outside splitc_main
};

/// The rank's own: ranks may be threads.
extern thread_local constinit Hot hot;

[[gnu::noinline]] void poll_slow();

/// A light poll point: three loads of lines that stay in this core's cache, and one branch.
inline void light_poll() {
  const Hot& h = hot;
  const std::uint64_t came = (h.next_header->load(std::memory_order_relaxed) ^ ~h.next_phase) & 1;
  if ((came | h.bell->load(std::memory_order_relaxed) | h.mail->load(std::memory_order_relaxed)) !=
      0) [[unlikely]]
    poll_slow();
}

/// The place of @p word in this process when it is in the view of its process, else null.
[[nodiscard]] inline std::byte* place_of(std::uint64_t word) noexcept {
  const View& view = hot.views[process_of(word)];
  const std::uintptr_t at = address_of(word) - view.lo;
  return at < view.bytes ? view.base + at : nullptr;
}

}  // namespace viaduct::splitc::detail
