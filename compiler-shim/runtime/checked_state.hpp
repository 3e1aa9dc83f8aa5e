#pragma once
// The race checker's state in one process, and the declarations that its files share.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compiler-shim/runtime/checked.hpp"
#include "compiler-shim/runtime/checked_shadow.hpp"
#include "viaduct/splitc/access.hpp"

namespace viaduct::shim::checked {

inline constexpr std::uint16_t kNever = std::numeric_limits<std::uint16_t>::max();

/// The clock of one process in one epoch. Time advances only where the order of accesses may matter
/// to another process; at its greatest value it stands still, which makes fewer reports and no
/// wrong ones.
struct Clock {
  std::uint16_t now = 0;
  std::uint16_t first_acquire = kNever;  // accesses at this time and later come after an acquire
  std::uint16_t first_poll = kNever;     // likewise
  std::uint16_t first_read = kNever;     // likewise: of memory that may be another process'
  std::uint16_t last_release = 0;        // accesses before this time come before a release
  std::uint16_t last_publish = 0;        // likewise: a release that a plain read may show

  void release() noexcept {
    advance();
    last_release = now;
  }
  void publish() noexcept {
    release();
    last_publish = now;
  }
  void acquire() noexcept {
    if (first_acquire != kNever) return;
    advance();
    first_acquire = now;
  }
  void poll() noexcept {
    if (first_poll != kNever) return;
    advance();
    first_poll = now;
  }
  void read() noexcept {
    if (first_read != kNever) return;
    advance();
    first_read = now;
  }
  [[nodiscard]] bool is_released(std::uint16_t time) const noexcept {
    return is_before(time, last_release);
  }
  [[nodiscard]] bool is_published(std::uint16_t time) const noexcept {
    return is_before(time, last_publish);
  }
  [[nodiscard]] bool is_after_read(std::uint16_t time) const noexcept { return time >= first_read; }
  [[nodiscard]] bool is_acquired(std::uint16_t time) const noexcept {
    return time >= first_acquire;
  }
  [[nodiscard]] bool is_before_poll(std::uint16_t time) const noexcept { return time < first_poll; }

 private:
  static bool is_before(std::uint16_t time, std::uint16_t last) noexcept {
    return time < last || (time == kNever - 1 && last == time);
  }
  void advance() noexcept {
    if (now < kNever - 1) ++now;
  }
};

/// Bytes of one process that another one has accessed in one way, from one place in the source.
struct Interval {
  std::uint64_t word = 0;
  std::uint32_t bytes = 0;
  std::uint32_t place = 0;
  std::uint32_t process = 0;  // that has accessed them
  Kind kind = Kind::local;
  bool is_write = false;
  bool is_released = false;
  bool is_acquired = false;
  bool is_published = false;
  bool is_after_read = false;
};

/// One side of a race.
struct Side {
  std::uint32_t place = 0;
  std::uint32_t process = 0;
  Kind kind = Kind::local;
  bool is_write = false;
};
struct Race {
  Side one;
  Side other;
  std::uint64_t word = 0;
};

struct State {
  explicit State(std::size_t bytes, bool is_fatal) : shadow(bytes), fatal(is_fatal) {}
  Shadow shadow;
  Clock clock;
  std::uint64_t accesses = 0;
  bool fatal;
  /// A function that another process' atomic() names has run here since the last note.
  std::atomic<bool> was_visited = false;
};
/// Null before begin() and after finish().
extern State* state;

/// Whether this is the program's own code, in its thread, and not a function that atomic() runs:
/// such a function races with no other access of its process.
[[nodiscard]] inline bool is_noting() noexcept {
  if (state == nullptr) return false;
  if (splitc::detail::hot.machine == nullptr) {
    state->was_visited.store(true, std::memory_order_relaxed);
    return false;
  }
  // The function may have written values that this process reads in its own memory.
  if (state->was_visited.load(std::memory_order_relaxed)) [[unlikely]] {
    state->was_visited.store(false, std::memory_order_relaxed);
    state->clock.acquire();
  }
  return true;
}

inline std::uint32_t place_of_caller(const void* caller) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(caller));
}

inline void note(std::uint64_t word, std::size_t bytes, bool is_write, Kind kind,
                 const void* caller) {
  ++state->accesses;
  Noted access;
  access.place = place_of_caller(caller);
  access.time = state->clock.now;
  access.kind = kind;
  state->shadow.note(word, bytes, is_write, access);
}
/// Notes an access of this process' own memory.
inline void note_local(const volatile void* at, std::size_t bytes, bool is_write, Kind kind,
                       const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  note(splitc::detail::make_word(splitc::detail::hot.myproc, address), bytes, is_write, kind,
       caller);
}

// checked_epoch.cpp
[[nodiscard]] const Hooks& checker_hooks();

// checked_compare.cpp
/// This process' accesses of other processes' memory, by owner.
[[nodiscard]] std::vector<std::vector<Interval>> accesses_by_owner();
/// The races among @p others, which are accesses of this process' memory, and between them and its
/// own accesses: one for each pair of places that no earlier call has answered.
[[nodiscard]] std::vector<Race> find_races(std::vector<Interval> others);

// checked_report.cpp
/// Writes a report to standard error unless one about the same two lines has been written.
void report(const Race& race);
/// How many reports have been written.
[[nodiscard]] std::size_t reports();

// checked_names.cpp
/// "FILE:LINE" of the call that ends before @p place, or a sentence with the address.
[[nodiscard]] std::string line_of(std::uint32_t place);
/// The object that @p word lies in, as the source names it.
[[nodiscard]] std::string object_at(std::uint64_t word);

}  // namespace viaduct::shim::checked
