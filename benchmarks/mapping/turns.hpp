#pragma once
/// @file
/// Two ranks that work in turn: only one of them works at a time, and the other one waits for a
/// word that is not the library's. So all time between the begin and the end of a turn is work.
/// docs/mapping.md describes the measurements.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "benchmarks/common/pair.hpp"
#include "viaduct/runtime/parts.hpp"

namespace viaduct::bench {

/// Part of a message's work, as an index of Work::parts.
inline constexpr std::size_t kMostParts = 14;

/// The work of one rank for one operation, on average.
struct Work {
  /// The time of all turns, without the cost of the clock, from batches in which no part reads it.
  double total_ns = 0;
  struct PartWork {
    double ns = 0;       ///< without the parts inside it, and without the cost of the boundaries
    double entries = 0;  ///< how often the part began
  };
  PartWork parts[kMostParts] = {};  ///< zeroes in a program without instrumentation
  double boundary_ns = 0;           ///< the cost that was subtracted for each boundary of a part
};

class Turns {
 public:
  /// @p progress is called while a rank waits for very long.
  explicit Turns(
      Pair& pair, std::function<void()> progress = [] {})
      : pair_(pair), progress_(std::move(progress)) {}

  /// Before the first turn of a series; both call it.
  void start() noexcept;
  /// Waits until the other rank has passed the turn to this one.
  void await();
  /// The rank's work begins, with part @p first.
#ifdef VIADUCT_INSTRUMENT
  void begin(parts::Part first) noexcept;
#else
  void begin() noexcept { began_ = ticks(); }
#endif
  void end() noexcept;
  void pass() noexcept;
  /// One operation more has been done. Operations are counted in batches.
  void operation_done();
  /// The mean of one operation of the batches whose times are neither short nor long: a batch in
  /// which the kernel or the host took the processor does not count.
  [[nodiscard]] Work result() const;

  static constexpr std::uint32_t kBatch = 64;  // two polls of a stream of requests
#ifdef VIADUCT_INSTRUMENT
  /// In each batch the boundaries of one part read the clock, in the next batch those of the next
  /// part. In one batch of kKinds no boundary does.
  static constexpr std::size_t kKinds = parts::kParts + 1;
#else
  static constexpr std::size_t kKinds = 1;
#endif

 private:
  struct Batch {
    std::uint64_t ticks = 0;
    std::uint64_t turns = 0;
#ifdef VIADUCT_INSTRUMENT
    std::array<parts::Row, parts::kParts> turns_of{};  // by the part that they began with
    parts::Rows rows{};
#endif
  };
  /// The sum of the batches of one kind that count, of @p operations operations.
  struct Sum {
    Batch all;
    double operations = 0;
  };
  [[nodiscard]] Sum sum_of(std::size_t kind) const;
#ifdef VIADUCT_INSTRUMENT
  static std::uint64_t ticks() noexcept { return parts::ticks_behind_all(); }
#else
  [[gnu::always_inline]] static std::uint64_t ticks() noexcept {
    std::uint32_t low, high;
    asm volatile("rdtscp" : "=a"(low), "=d"(high) : : "rcx", "memory");
    return std::uint64_t{high} << 32 | low;
  }
#endif

  Pair& pair_;
  std::function<void()> progress_;
  std::uint64_t turn_ = 0;
  std::uint64_t began_ = 0;
#ifdef VIADUCT_INSTRUMENT
  std::size_t first_ = 0;  // the part that the turn began with
#endif
  std::uint32_t in_batch_ = 0;
  Batch batch_;
  std::vector<Batch> batches_;  // of all kinds in turn
};

/// A turn's work begins with part @p part.
#ifdef VIADUCT_INSTRUMENT
#define VIADUCT_BEGIN_TURN(turns, part) (turns).begin(::viaduct::parts::Part::part)
#else
#define VIADUCT_BEGIN_TURN(turns, part) (turns).begin()
#endif

}  // namespace viaduct::bench
