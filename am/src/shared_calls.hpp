#pragma once
// The lock of a context's parallel bundles.
//
// A short call (a poll that finds plain messages, a short request with room) takes its bundle's
// gate alone, so that threads with a bundle each do not meet. Every other call takes the calls'
// lock: it closes all gates, waits until nobody is behind one, and has the NIC and all parallel
// bundles to itself. A handler that runs behind its bundle's gate and makes such a call parks its
// bundle first: others then pass it by, except those that call into that bundle, which wait for the
// handler's end. What waits puts the lock down meanwhile.

#include <cstdint>
#include <mutex>
#include <vector>

#include "viaduct/runtime/atomic.hpp"

namespace viaduct::am {

/// Of a parallel bundle. Values: below.
using Gate = AtomicWord<std::uint32_t>;
inline constexpr std::uint32_t kOpen = 0;
inline constexpr std::uint32_t kInside = 1;  // a thread is in a short call
inline constexpr std::uint32_t kParked = 2;  // a handler waits for the calls' lock, or in its reply

class SharedCalls {
 public:
  /// Takes the lock for a call into the bundle of @p called (null: into none); the holder may take
  /// it again.  Blocks while other threads are in calls.
  void enter(Gate* called) noexcept;
  /// The same without waiting for other long calls.  @return false: a thread is in one, or in a
  /// handler of that bundle.
  [[nodiscard]] bool try_enter(Gate* called) noexcept;
  void leave() noexcept;
  /// @return whether the calling thread holds the lock.
  [[nodiscard]] bool is_held() const noexcept;

  /// What a thread puts down while it waits.
  struct Pause {
    std::uint32_t depth = 0;
    Gate* parked = nullptr;  // for the time of the pause
  };
  /// Puts the lock down, however often it was taken. @p own: the gate of a bundle that waits in its
  /// handler; null: no handler runs.  Precondition: the lock is held.
  [[nodiscard]] Pause pause(Gate* own) noexcept;
  /// Takes it again for the bundle of @p called.
  void resume(const Pause& pause, Gate* called) noexcept;

  /// Goes behind @p gate for a short call.  @return false: the caller takes the long way, since it
  /// is in a call already, or others are for a long time.
  [[nodiscard]] bool try_pass(Gate& gate) noexcept;
  void go_out(Gate& gate) noexcept;

  void add(Gate& gate);
  void remove(Gate& gate) noexcept;

 private:
  [[nodiscard]] bool clear(const Gate* called) const noexcept;
  void lock(Gate* called) noexcept;
  void lock_in_turn() noexcept;
  void return_inside() noexcept;

  std::mutex mutex_;
  AtomicWord<std::uint32_t> closed_ = 0;  // 1: the lock is held
  // A thread that makes one call after the other leaves a turn to those that wait.
  AtomicWord<std::uint32_t> waiting_ = 0;
  AtomicWord<const void*> last_ = nullptr;  // the thread that has had the lock last
  std::vector<Gate*> gates_;                // under the lock
};

}  // namespace viaduct::am
