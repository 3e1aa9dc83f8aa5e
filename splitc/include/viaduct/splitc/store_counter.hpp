#pragma once
/// @file
/// Counters of the target, on which stores are counted apart from others (store.hpp).

#include <cstddef>
#include <cstdint>

namespace viaduct::splitc {

/// The counters of each process, numbered from 0.
inline constexpr std::uint32_t kStoreCounters = 254;

namespace detail {
inline constexpr std::uint32_t kEpochs = 2;  // of the counts of store_sync()
inline constexpr std::uint32_t kCountPlaces = kStoreCounters + kEpochs;
}  // namespace detail

/// store_counter: names one of the counters that every process has. A store that names a counter is
/// counted on that counter of its *target*, in bytes, and not by store_sync(): the target learns
/// that the bytes that it waits for have come, and not as many bytes of another process.
///
///     constexpr splitc::store_counter from_left{0};
///     constexpr splitc::store_counter from_right{1};
///     ...
///     store(right_ghost_of_left, edge, from_right);  // I am the right neighbour of my left one
///     store(left_ghost_of_right, edge, from_left);
///     from_left.wait(sizeof edge);
///     from_right.wait(sizeof edge);
///
/// The neighbour pattern: one counter for each neighbour, and two copies of the memory that
/// neighbours write, used in turn, since a neighbour may be one step ahead (docs/guide.md, "Stores
/// that neighbours count").
///
/// A store_counter is a number and nothing else: constants, copies and all processes that give the
/// same number name the same counter. Libraries that are used together must choose different
/// numbers. The counts begin at 0 when the job begins. all_store_sync() waits for these stores as
/// for all, and leaves the counters as they are.
class store_counter {
 public:
  /// Never waits.  Errors: throws Error when @p number is kStoreCounters or more; in a constant,
  /// the program does not compile.
  constexpr explicit store_counter(std::uint32_t number) : place_(number + detail::kEpochs) {
    if (number >= kStoreCounters) refuse(number);
  }

  /// Blocks until @p bytes bytes of stores have been delivered to this process on this counter that
  /// no earlier wait() has taken, and takes them off the count.  Progress: polls meanwhile. Cost:
  /// as store_sync(). Order: accesses of the senders before the stores are seen after it. A full
  /// fence. Errors: throws Error as store_sync(), and stops the program outside splitc_main.
  void wait(std::size_t bytes) const;
  /// @return whether wait(bytes) would return at once.  Waits no more than poll().  A poll point.
  [[nodiscard]] bool is_stored(std::size_t bytes) const;
  /// Forgets the bytes that have been delivered on this counter and not waited for.  Never waits.
  /// Progress: a poll point.
  void reset() const;

  /// @return the number that it was made with.
  [[nodiscard]] constexpr std::uint32_t number() const noexcept { return place_ - detail::kEpochs; }
  /// @return its place among the counts of a process, for the runtime.
  [[nodiscard]] constexpr std::uint32_t place() const noexcept { return place_; }

 private:
  [[noreturn, gnu::cold]] static void refuse(std::uint32_t number);

  std::uint32_t place_;
};

}  // namespace viaduct::splitc
