#pragma once
// The objects that the bundles of a context share, and how the rank's engine serves a bundle.

#include <memory>
#include <mutex>

#include "am/src/shared_calls.hpp"
#include "via/channel/engine.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"

namespace viaduct::am {

struct Context::Shared {
  explicit Shared(Job& job)
      : engine(via::channel::Engine::of(job)), calls_of_rank(SharedCalls::of(job)) {}

  std::shared_ptr<via::channel::Engine> engine;
  std::shared_ptr<SharedCalls> calls_of_rank;
  /// The lock of all parallel bundles' calls and of the engine.
  SharedCalls& calls = *calls_of_rank;
  Bundle::ReplyWait* reply_waits = nullptr;  // those that last
  std::uint64_t reply_wait_number = 0;       // of the last one
};

/// Holds the calls' lock in a cold call that is into no bundle.
class CallsLock {
 public:
  explicit CallsLock(SharedCalls& calls) noexcept : calls_(calls) { calls_.enter(nullptr); }
  ~CallsLock() { calls_.leave(); }
  CallsLock(const CallsLock&) = delete;
  CallsLock& operator=(const CallsLock&) = delete;

 private:
  SharedCalls& calls_;
};

/// A bundle as a client of the engine: its thread's other waits serve it. The home of a parallel
/// bundle is the thread that made it. The home of a sequential bundle is the thread of the last
/// call that Bundle::Lock has seen.
class Bundle::Served final : public via::channel::Client {
 public:
  Served(Bundle& bundle, via::channel::Nic& nic)
      : Client(nic, *bundle.dispatcher_.group, Kind::runs_handlers),
        bundle_(bundle),
        engine_(*bundle.dispatcher_.context.shared_->engine) {
    engine_.add(*this);
    bundle.dispatcher_.group->on_housekeeping(
        [](void* self) noexcept {
          auto& served = *static_cast<Served*>(self);
          if (!served.engine_.is_alone()) served.engine_.serve_passive(served);
        },
        this);
  }
  ~Served() { engine_.remove(*this); }

  /// From now on the waits of this thread serve the bundle, and those of the thread before do not.
  void take_over() noexcept;

  static void stop_in_handler(Context& context, const char* call) noexcept;
  [[nodiscard]] via::channel::Engine& engine() noexcept { return engine_; }

  /// In a wait of the bundle's own that may run @p run: serves the thread's other clients.
  std::uint32_t serve_others(Run run) noexcept {
    const bool all = run == Run::all && !engine_.runs_handler();
    return engine_.serve_others(*this, all ? via::channel::Run::all : via::channel::Run::replies);
  }

 private:
  [[nodiscard]] bool is_parallel() const noexcept { return bundle_.calls_ != nullptr; }
  [[nodiscard]] Gate* gate() noexcept { return is_parallel() ? &bundle_.gate_ : nullptr; }
  bool try_lock() noexcept override;
  void unlock() noexcept override;
  std::uint32_t serve(via::channel::Run run) noexcept override;
  bool before_sleep() noexcept override { return bundle_.publish_withheld(); }
  [[nodiscard]] bool runs_handler() noexcept override;
  void begin_function() noexcept override;
  void end_function() noexcept override;
  void open_inline_paths() noexcept;

  Bundle& bundle_;
  via::channel::Engine& engine_;
  bool entered_ = false;       // a sequential bundle, which this thread was in no call of
  std::mutex function_mutex_;  // of the word below, and of what it stands for
  std::uint32_t raised_ = 0;   // what begin_function() has added to the bundle's depths
};

}  // namespace viaduct::am
