#pragma once
/// @file
/// The gate of a parallel bundle: one thread at a time is behind it (am/src/shared_calls.hpp).

#include <cstdint>

#include "viaduct/runtime/atomic.hpp"

namespace viaduct::am::detail {

struct CallingThread;

/// One for each parallel bundle.
struct Gate {
  static constexpr std::uint32_t kOpen = 0;
  /// A thread without the reservation is in a short call.
  static constexpr std::uint32_t kInside = 1;
  /// A handler waits for the calls' lock, or in its reply.
  static constexpr std::uint32_t kParked = 2;

  AtomicWord<std::uint32_t> state = kOpen;
  /// The thread that the gate is reserved for: it goes in and out by plain stores to a word of its
  /// own. Null: threads go in by a locked instruction. Changes under the calls' lock alone.
  AtomicWord<const CallingThread*> owner = nullptr;
  /// The thread of that handler, while the state is kParked.
  AtomicWord<const CallingThread*> parker = nullptr;
  std::uint32_t pause =
      0;  // the parker's wait that has parked the bundle; 0: a call of its handler
  // Of the bundle: a handler runs while they differ. Null: none ever does.
  const std::uint32_t* depth = nullptr;
  const std::uint32_t* depth_base = nullptr;

  /// Precondition: the calling thread holds the calls' lock.
  [[nodiscard]] bool runs_handler() const noexcept {
    return depth != nullptr && load_word(*depth, kRelaxed) != *depth_base;
  }

  // Of the thread that is behind the gate, or holds the calls' lock.
  const CallingThread* user = nullptr;  // the last one
  std::uint32_t streak = 0;             // its short calls since another thread has closed the gate
};

}  // namespace viaduct::am::detail
