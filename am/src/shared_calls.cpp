#include "am/src/shared_calls.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>

namespace viaduct::am {
namespace {

/// What the calling thread has.
struct Mine {
  SharedCalls* held = nullptr;  // the lock
  std::uint32_t depth = 0;      // how often it was taken
  Gate* inside = nullptr;       // behind which the thread is, or which it has parked
};
constinit thread_local Mine mine [[gnu::tls_model("initial-exec")]];

/// Between two looks at what another thread is to change.
class Looks {
 public:
  void next() noexcept {
    constexpr std::uint32_t kSpins = 256;
    constexpr std::uint32_t kYields = 64;
    ++count_;
    if (count_ < kSpins) {
      __builtin_ia32_pause();
    } else if (count_ < kSpins + kYields) {
      ::sched_yield();
    } else {
      const timespec a_while{0, 50'000};
      nanosleep(&a_while, nullptr);
    }
  }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

 private:
  std::uint32_t count_ = 0;
};

}  // namespace

bool SharedCalls::is_held() const noexcept { return mine.held == this; }

/// Waits until nobody is behind a gate. False: a handler of the called bundle is parked there.
bool SharedCalls::clear(const Gate* called) const noexcept {
  for (const Gate* const gate : gates_) {
    if (gate == mine.inside) continue;
    for (Looks looks;; looks.next()) {
      const std::uint32_t now = gate->load();
      if (now == kOpen) break;
      if (now != kParked) continue;
      if (gate == called) return false;
      break;
    }
  }
  return true;
}

/// A mutex alone goes to the thread that has just put it down, since the others have yet to wake.
void SharedCalls::lock_in_turn() noexcept {
  constexpr std::uint32_t kLooks = 340;  // a millisecond
  for (Looks looks;
       looks.count() < kLooks && waiting_.load(kRelaxed) != 0 && last_.load(kRelaxed) == &mine;)
    looks.next();
  waiting_.fetch_add(1);
  mutex_.lock();
  waiting_.fetch_sub(1);
  last_.store(&mine, kRelaxed);
}

void SharedCalls::lock(Gate* called) noexcept {
  for (Looks looks;; looks.next()) {
    lock_in_turn();
    closed_.store(1);
    if (clear(called)) return;
    closed_.store(0);
    mutex_.unlock();
  }
}

void SharedCalls::enter(Gate* called) noexcept {
  if (mine.held == this) {
    ++mine.depth;
    return;
  }
  if (mine.inside != nullptr) mine.inside->store(kParked);
  lock(called);
  mine.held = this;
  mine.depth = 1;
}

bool SharedCalls::try_enter(Gate* called) noexcept {
  const auto is_free = [called] {
    return called == nullptr || called == mine.inside || called->load() != kParked;
  };
  if (mine.held == this) {
    if (!is_free()) return false;
    ++mine.depth;
    return true;
  }
  if (!mutex_.try_lock()) return false;
  if (mine.inside != nullptr) mine.inside->store(kParked);
  closed_.store(1);
  mine.held = this;
  mine.depth = 1;
  if (clear(called)) return true;
  leave();
  return false;
}

void SharedCalls::leave() noexcept {
  if (--mine.depth != 0) return;
  mine.held = nullptr;
  closed_.store(0);
  mutex_.unlock();
  return_inside();
}

/// Back behind the gate that was parked. Never past somebody who holds the lock.
void SharedCalls::return_inside() noexcept {
  if (mine.inside == nullptr) return;
  for (Looks looks;; looks.next()) {
    mine.inside->store(kInside);
    if (closed_.load() == 0) return;
    mine.inside->store(kParked);
  }
}

SharedCalls::Pause SharedCalls::pause(Gate* own) noexcept {
  Pause pause{mine.depth, nullptr};
  if (own != nullptr && mine.inside == nullptr) {
    pause.parked = mine.inside = own;
    own->store(kParked);
  }
  mine.held = nullptr;
  mine.depth = 0;
  closed_.store(0);
  mutex_.unlock();
  return pause;
}

void SharedCalls::resume(const Pause& pause, Gate* called) noexcept {
  lock(called);
  mine.held = this;
  mine.depth = pause.depth;
  if (pause.parked == nullptr) return;
  pause.parked->store(kOpen);
  mine.inside = nullptr;
}

bool SharedCalls::try_pass(Gate& gate) noexcept {
  constexpr std::uint32_t kLooks = 300;
  if (mine.inside != nullptr || mine.held == this) return false;
  for (Looks looks; looks.count() < kLooks; looks.next()) {
    std::uint32_t now = kOpen;
    if (!gate.compare_exchange_strong(now, kInside)) continue;
    if (closed_.load() == 0) {
      mine.inside = &gate;
      return true;
    }
    gate.store(kOpen);
  }
  return false;
}

void SharedCalls::go_out(Gate& gate) noexcept {
  mine.inside = nullptr;
  gate.store(kOpen, kRelease);
}

void SharedCalls::add(Gate& gate) { gates_.push_back(&gate); }

void SharedCalls::remove(Gate& gate) noexcept { std::erase(gates_, &gate); }

}  // namespace viaduct::am
