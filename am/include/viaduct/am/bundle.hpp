#pragma once
/// @file
/// Bundles: endpoints that are serviced together. Source: Begel et al. 2001, sections 4.1 and 5.1.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "viaduct/am/context.hpp"
#include "viaduct/am/detail/dispatcher.hpp"
#include "viaduct/am/detail/gate.hpp"
#include "viaduct/am/detail/map.hpp"
#include "viaduct/am/detail/pending_call.hpp"
#include "viaduct/am/types.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/job_page.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct::am {

class SharedCalls;
class Task;

/// A set of endpoints that are serviced together: one poll handles the arrived messages of all.
///
/// Made and destroyed outside handlers (inside: the program is stopped); made after the Context,
/// destroyed after its endpoints and before the Context. A call that waits serves all bundles of
/// its thread, and Split-C (docs/guide.md, "Both models in one program"). The bundles of a rank
/// share one NIC: where several threads use them, all must be parallel. Two threads that poll
/// sequential bundles are stopped with a sentence (VIA-2012).
class Bundle {
 public:
  enum class Threads : std::uint8_t {
    /// One thread at a time uses the bundle and its endpoints. Two that do are stopped with a
    /// sentence where that is seen: while one waits, and in all calls but the inline ones. Other
    /// waits of the thread that made it serve it, too. Another thread takes it over with its first
    /// call that may wait, and does not poll it or send by it before.
    sequential,
    /// Any thread may, and handlers run one at a time. Calls that send or take plain short messages
    /// of this host are serialised by the bundle's own lock, so that threads with a bundle each do
    /// not meet; all others by one lock of the rank. Other waits of the thread that made it serve
    /// it, too. While a handler waits (for room for its reply, or for that lock), calls of other
    /// threads into the bundle wait for that handler and handle the replies of their thread's other
    /// bundles; a poll handles nothing and returns. So two handlers may not call into each other's
    /// bundles: each would wait for the other one's end.
    parallel,
  };
  /// Which messages a poll may handle: replies alone, or requests too.
  enum class Run : std::uint8_t { replies, all };

  /// Throws Error: no memory, or more than 4095 bundles at a time.
  explicit Bundle(Context& context, Threads threads = Threads::sequential);
  ~Bundle();
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  /// Handles arrived messages, at most a batch per peer: replies at once, requests in order if @p
  /// run allows them (else they are kept for the next poll that does).
  ///
  /// Blocks      never.
  /// Progress    also moves connections on and, each 64th time, serves
  ///             the thread's Split-C.
  /// Call from   outside handlers (inside: the program is stopped).
  /// Cost        nothing there: one load per talking peer (8 at most) and one for all others, and
  ///             a pause of the core, some 10 ns. A core that looks without a pause takes the line
  ///             that its peer is about to write more often. Where ranks outnumber cores, every
  ///             64th poll in vain yields the core, else every 16,384th.
  ///
  /// @return messages handled, those without a handler (returned credits, announcements) included.
  std::uint32_t poll(Run run = Run::all) noexcept {
    const std::uint32_t n = poll_once(run);
    if (n == 0) idle_.pause();
    return n;
  }

  /// @return whether poll() would handle something now, as far as can be seen without a lock:
  /// messages of a sequential bundle, or work that it has put off; true for a parallel bundle.
  /// Cost: one load for each talking peer (8 at most) and one for all others.
  [[nodiscard]] bool looks_busy() const noexcept {
    return dispatcher_.slow != 0 || dispatcher_.deferred_total != 0 || dispatcher_.unfinished ||
           dispatcher_.group->looks_busy();
  }

  /// From now on requests to a peer poll once in @p n slots that are sent there (a short message
  /// of up to seven words takes one), of a stream to one peer, too; VIADUCT_AM_POLL_EVERY, the
  /// setting for all bundles, no longer counts for this one.  Call from as poll(). Cost: a lock
  /// where the bundle is parallel. Precondition: @p n is not 0.
  void set_poll_every(std::uint32_t n) noexcept;

  /// Polls until at least one message has been handled, at most @p timeout_ns (negative: for ever):
  /// spins, yields, then blocks in the kernel.  ok or timeout. Call from outside handlers. The loss
  /// of a rank does not end it: see wait_until().
  Status wait(std::int64_t timeout_ns = -1) noexcept;

  /// Polls until @p done answers true: ok or timeout. @p done is called after every poll, and after
  /// each loss of a rank, so that it may ask Job::is_lost() or Job::life_epoch().
  Status wait_until(const std::function<bool()>& done, std::int64_t timeout_ns = -1) noexcept;

  /// Polls for replies until a reply or a returned message has been handled, a request is here that
  /// the next poll will handle, or @p done answers true: ok or timeout. Runs no request handler of
  /// this bundle.  Call from outside handlers.
  Status wait_pending(const std::function<bool()>& done, std::int64_t timeout_ns = -1) noexcept;
  /// @return whether the next poll has a request to handle that was kept for it, or a connection's
  ///         end. Takes nothing off a ring. Never waits for a message.
  ///         Cost: a lock where the bundle is parallel.
  [[nodiscard]] bool has_pending() noexcept;

  /// Makes a sequential bundle a parallel one.
  ///
  /// Call from   outside handlers, while no other thread uses the bundle.
  /// Errors      stops the program while a call into the bundle lasts that waits.
  void make_parallel() noexcept;

  /// Collective over the job, polling meanwhile: when it returns, all ranks have called it, and the
  /// requests that they had sent before, to endpoints of this bundle and over shared memory, are
  /// handled. Between hosts, and with VIADUCT_AM_GENERATION set, a request may still be on its way:
  /// wait for a reply. ok, or peer_lost when a rank that has not arrived is lost or has come to its
  /// Job's destructor (a sentence names that one).
  Status barrier() noexcept;

  /// Runs @p task to its end (am/task.hpp), polling while it waits for calls.
  ///
  /// Blocks      until the task has ended.  Call from: outside handlers; also in a task.
  /// Errors      throws what the task throws.
  void run(Task task);
  /// Runs all of @p tasks, each while the others wait for calls: a call of each may be outstanding.
  /// Blocks and errors as above. After an error the other tasks stay where they are: polls bring
  /// the answers that they wait for, and let none of them go on. A later run() goes on with them,
  /// or they may end.
  void run(std::span<Task> tasks);

  /// @return the context that the bundle was made in.
  [[nodiscard]] Context& context() noexcept { return dispatcher_.context; }
  /// @return the job of that context.
  [[nodiscard]] Job& job() noexcept { return dispatcher_.context.job(); }

 private:
  friend class Endpoint;
  friend class Token;
  friend class Context;
  friend struct detail::Dispatcher;
  friend struct detail::EndpointCore;
  friend struct detail::PendingCall;
  friend class detail::CallLock;
  friend struct detail::ShortWay;

  class Lock;       // of a parallel bundle
  class Guard;      // the same, and the check that no handler is running
  class Exclusive;  // the lock alone
  class Passed;     // its gate, for short calls
  class WaitPause;  // puts the lock down while it waits
  class Served;     // how other waits of the thread serve the bundle
  class ReplyWait;

  /// poll() without the pause, for a call that does not wait.
  std::uint32_t poll_once(Run run) noexcept {
    if (dispatcher_.slow != 0) [[unlikely]]
      return poll_guarded(run);
    // Two calls: a compiler that knows `run` makes one of them, with a constant.
    return run == Run::all ? dispatcher_.poll(true) : dispatcher_.poll(false);
  }
  [[gnu::noinline]] std::uint32_t poll_guarded(Run run) noexcept;
  [[gnu::noinline]] std::uint32_t poll_long(Run run) noexcept;
  [[nodiscard]] bool poll_fast(std::uint32_t& n) noexcept;

  [[noreturn, gnu::cold]] void stop_caller(const char* call) const noexcept;
  [[noreturn, gnu::cold]] void stop_second_thread(const char* call) const noexcept;
  Status send_waiting(detail::Map& map, std::uint64_t client, std::span<const std::uint64_t> words,
                      std::uint32_t bytes, std::span<const std::byte> data = {}) noexcept;
  bool block(Run run, std::uint64_t until, std::int64_t timeout_ns,
             const std::function<bool()>& done) noexcept;
  template <class ComeIn>
  bool come_in_until(Run run, std::uint64_t until, ComeIn&& come_in) noexcept;
  [[nodiscard]] bool publish_withheld() noexcept;
  void wake_others() noexcept;
  void catch_up() noexcept;
  template <class Done>
  Status wait_loop(Activity activity, const char* operation, std::uint32_t peer, Run run,
                   std::int64_t timeout_ns, Done&& done, std::uint32_t* handled = nullptr,
                   ReplyWait* reply_wait = nullptr) noexcept;
  void show_handlers() noexcept;
  void hide_handlers() noexcept;

  detail::Dispatcher dispatcher_;  // first: inline paths look at it
  Threads threads_;
  SharedCalls* calls_ = nullptr;  // the rank's; null: the bundle is sequential
  detail::Gate gate_;
  bool has_short_calls_ = false;  // parallel, and all ranks share memory
  /// Of a sequential bundle: the thread that is in one of its calls, but for the inline ones, and
  /// that call.
  AtomicWord<std::uintptr_t> user_ = 0;  // 0: none
  AtomicWord<const char*> user_call_ = nullptr;
  Owned<Served> served_;
  IdleLooks idle_;                  // polls of the program
  std::uint32_t waited_looks_ = 0;  // of all waits
  RunningHandler shown_;            // what the dispatcher runs, for hang reports
};

}  // namespace viaduct::am
