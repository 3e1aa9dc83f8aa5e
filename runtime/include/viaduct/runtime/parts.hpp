#pragma once
/// @file
/// The parts of a message's path through the processors, whose times benchmark `mapping` measures
/// (docs/mapping.md). The marks are nothing at all, unless VIADUCT_INSTRUMENT is defined: only that
/// benchmark compiles sources of the library so.
///
///     VIADUCT_PART(build);        from here to the end of the block: part `build`
///     VIADUCT_NEXT_PART(recycle); from here to the end of that block: another part instead
///
/// A part that begins within another one interrupts it.

#ifndef VIADUCT_INSTRUMENT

#define VIADUCT_PART(part) static_cast<void>(0)
#define VIADUCT_NEXT_PART(part) static_cast<void>(0)

#else

#include <array>
#include <cstddef>
#include <cstdint>

namespace viaduct::parts {

enum class Part : std::uint8_t {
  send_done,
  post_send,
  recv_done,
  post_recv,
  recycle_send,
  recycle_recv,
  build,
  cq_send,
  cq_recv,
  bookkeeping,
  processing,
  read_data,
  act,
  publish,  ///< a slot of a channel becomes visible
};
inline constexpr std::size_t kParts = 14;

inline constexpr std::uint8_t kNoPart = kParts;

/// The time of one part inside another one: from its begins to its ends, with all that lies within.
struct Row {
  std::uint64_t ticks = 0;
  std::uint64_t boundaries = 0;  ///< whose cost is in `ticks`
};
/// The measurements of the part whose boundaries read the clock.
struct Rows {
  std::array<Row, kParts + 1> inside{};  ///< by the part around it
  std::uint64_t entries = 0;             ///< how often it has begun
};

/// Of one thread.
struct State {
  std::uint8_t live = kNoPart;     ///< the part whose boundaries read the clock
  std::uint8_t current = kNoPart;  ///< the part that runs
  std::uint64_t boundaries = 0;    ///< that have read the clock
  Rows rows;
};
inline thread_local constinit State state;

/// @return the time-stamp counter, when all instructions before have been carried out, and all
/// their loads. Those behind may have begun.  Cost: about 30 cycles.
#ifdef VIADUCT_PARTS_CLOCK  // the name of a test's function, which takes the clock's place
std::uint64_t VIADUCT_PARTS_CLOCK() noexcept;
inline std::uint64_t ticks_behind_all() noexcept { return VIADUCT_PARTS_CLOCK(); }
#else
[[gnu::always_inline]] inline std::uint64_t ticks_behind_all() noexcept {
  std::uint32_t low, high;
  asm volatile("rdtscp" : "=a"(low), "=d"(high) : : "rcx", "memory");
  return std::uint64_t{high} << 32 | low;
}
#endif

/// A part, to the end of the block.  Cost of the begin and of the end: a compare and a store; that
/// of the clock too, if the part is live.
class Scope {
 public:
  [[gnu::always_inline]] explicit Scope(Part part) noexcept : outer_(state.current) { begin(part); }
  [[gnu::always_inline]] ~Scope() {
    end();
    state.current = outer_;
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// Another part instead, inside the same one.
  [[gnu::always_inline]] void next(Part part) noexcept {
    end();
    begin(part);
  }

 private:
  [[gnu::always_inline]] void begin(Part part) noexcept {
    State& s = state;
    part_ = static_cast<std::uint8_t>(part);
    s.current = part_;
    if (s.live != part_) [[likely]]
      return;
    ++s.rows.entries;
    boundaries_ = ++s.boundaries;
    began_ = ticks_behind_all();
  }
  [[gnu::always_inline]] void end() noexcept {
    State& s = state;
    if (s.live != part_) [[likely]]
      return;
    const std::uint64_t ended = ticks_behind_all();
    Row& row = s.rows.inside[outer_];
    row.ticks += ended - began_;
    row.boundaries += s.boundaries - boundaries_ + 1;
    ++s.boundaries;
  }

  std::uint8_t part_ = kNoPart;
  std::uint8_t outer_;
  std::uint64_t began_ = 0;
  std::uint64_t boundaries_ = 0;
};

}  // namespace viaduct::parts

#define VIADUCT_PART(part) ::viaduct::parts::Scope viaduct_part(::viaduct::parts::Part::part)
#define VIADUCT_NEXT_PART(part) viaduct_part.next(::viaduct::parts::Part::part)

#endif
