#pragma once
/// @file
/// The gate of a parallel bundle: one thread at a time is behind it (am/src/shared_calls.hpp).

#include <cstdint>

#include "viaduct/runtime/atomic.hpp"

namespace viaduct::am {
class SharedCalls;
}

namespace viaduct::am::detail {

struct CallingThread;

/// One for each parallel bundle.
struct Gate {
  static constexpr std::uint32_t kOpen = 0;
  static constexpr std::uint32_t kInside =
      1;  // a thread without the reservation is in a short call
  static constexpr std::uint32_t kParked =
      2;  // a handler waits for the calls' lock, or in its reply

  AtomicWord<std::uint32_t> state = kOpen;
  /// The thread that the gate is reserved for: it goes in and out by plain stores to a word of its
  /// own. Null: threads go in by a locked instruction. Changes under the calls' lock alone.
  AtomicWord<const CallingThread*> owner = nullptr;
  const SharedCalls* calls = nullptr;  // whose gate it is

  // Of the thread that is behind the gate, or holds the calls' lock.
  const CallingThread* user = nullptr;  // the last one
  std::uint32_t streak = 0;             // its short calls since another thread has closed the gate
};

}  // namespace viaduct::am::detail
