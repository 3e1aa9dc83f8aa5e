#pragma once
/// @file
/// Tasks: coroutines that wait for calls with co_await, many at a time in one thread. A bundle runs
/// them (Bundle::run).

#include <coroutine>
#include <new>
#include <utility>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/future.hpp"

namespace viaduct::am {

namespace detail {

/// The tasks of one Bundle::run() that may go on.
class TaskRunner;

}  // namespace detail

/// task: the return type of a coroutine that a bundle runs. Bundle::run() starts the coroutine. In
/// it, co_await of a Future answers the Result, and other tasks run meanwhile. Between two co_await
/// the coroutine runs outside handlers, and may do what its thread may.
///
///     am::Task look_up_all(am::Endpoint& endpoint, am::Index owner, std::uint64_t& sum) {
///       for (std::uint64_t key = 0; key < 10; ++key)
///         if (const auto count = co_await endpoint.call<look_up>(owner, key)) sum += *count;
///     }
///     bundle.run(look_up_all(endpoint, owner, sum));
///
/// Bundle::run() throws the exception that a task throws. The compiler allocates a task's frame,
/// once for each task, unless it can avoid that. One task waits for a future at a time: a second
/// one is stopped with a sentence (VIA-3015). A future may move while a task waits for it. Where
/// the future ends first, the task goes on with reply_rejected.
///
/// Keep the result in a variable before you look at it, as above: g++ 12 makes wrong code of `if
/// (co_await call) ...; else ...` (illegal instruction).
class Task {
 public:
  struct promise_type {
    Task get_return_object() noexcept {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const { throw; }
    /// The answer that the task waits for is here.
    void go_on() noexcept;

    detail::TaskRunner* runner = nullptr;  // null: no run() has the task
    promise_type* next = nullptr;          // in the runner's list
    bool is_waiting = false;               // for an answer
  };

  /// Takes over @p from.  Never waits. Precondition: neither runs.
  Task(Task&& from) noexcept : handle_(std::exchange(from.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  /// Ends the coroutine where it is.  Never waits. A call that it waits for is abandoned, if the
  /// future lies in the coroutine. A future outside it stays pending: it may be waited for, or
  /// awaited in another task.
  ~Task() {
    if (handle_ != nullptr) handle_.destroy();
  }
  /// @return whether it has run to its end.  Never waits.
  [[nodiscard]] bool is_done() const noexcept { return handle_ == nullptr || handle_.done(); }

 private:
  friend class detail::TaskRunner;
  explicit Task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

namespace detail {

class TaskRunner {
 public:
  void add(Task& task) noexcept {
    Task::promise_type& promise = task.handle_.promise();
    promise.runner = this;
    if (!promise.is_waiting) wake(promise);
  }
  /// The run ends before @p task.
  static void leave(Task& task) noexcept {
    if (task.handle_ != nullptr) task.handle_.promise().runner = nullptr;
  }
  [[nodiscard]] bool has_ready() const noexcept { return first_ != nullptr; }
  void wake(Task::promise_type& task) noexcept {
    task.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &task;
    last_ = &task;
  }
  /// The next task that may go on; there is one.
  [[nodiscard]] std::coroutine_handle<Task::promise_type> take() noexcept {
    Task::promise_type& task = *first_;
    first_ = task.next;
    return std::coroutine_handle<Task::promise_type>::from_promise(task);
  }

 private:
  Task::promise_type* first_ = nullptr;
  Task::promise_type* last_ = nullptr;
};

template <class R>
class Awaiter {
 public:
  explicit Awaiter(Future<R>& future) noexcept : future_(future) {}
  Awaiter(const Awaiter&) = delete;
  Awaiter& operator=(const Awaiter&) = delete;
  /// Where the task ends before the answer comes, the future may go on without it.
  ~Awaiter() {
    if (Bundle* const bundle = waits_in_.load(kAcquire)) [[unlikely]]
      PendingCall::detach(*bundle, this);
  }
  [[nodiscard]] bool await_ready() const noexcept { return future_.ready(); }
  bool await_suspend(std::coroutine_handle<Task::promise_type> task) noexcept {
    task_ = &task.promise();
    task_->is_waiting = true;
    waits_in_.store(future_.bundle, kRelaxed);
    if (future_.attach(&tell, this)) return true;
    waits_in_.store(nullptr, kRelaxed);
    std::exchange(task_, nullptr)->is_waiting = false;
    return false;
  }
  Result<R> await_resume() noexcept { return task_ == nullptr ? future_.wait() : result_; }

 private:
  /// In the poll that brings the answer: the task goes on outside the handler.
  static void tell(PendingCall& call, void* context, std::uint32_t outcome) {
    Awaiter& self = *static_cast<Awaiter*>(context);
    new (&self.result_) Result<R>(static_cast<Answer<R>&>(call).result(outcome));
    self.task_->go_on();
    self.waits_in_.store(nullptr, kRelease);  // last: now the task may end
  }
  Future<R>& future_;                   // which may move or end when the task waits
  Task::promise_type* task_ = nullptr;  // null: the answer was here
  AtomicWord<Bundle*> waits_in_ = nullptr;
  Result<R> result_{Undeliverable::none};  // that a task is told
};

}  // namespace detail

inline void Task::promise_type::go_on() noexcept {
  is_waiting = false;
  if (runner != nullptr) runner->wake(*this);
}

/// In a Task: waits for @p future while other tasks of the same Bundle::run() go on.
///
/// @return the Result.
template <class R>
detail::Awaiter<R> operator co_await(Future<R>& future) noexcept {
  return detail::Awaiter<R>(future);
}
/// The same, for the future that a call has just answered.
template <class R>
detail::Awaiter<R> operator co_await(Future<R>&& future) noexcept {
  return detail::Awaiter<R>(future);
}
/// Does not compile: the function that then() was given is told of the answer.
template <class R, class F>
detail::Awaiter<R> operator co_await(const Then<R, F>&) noexcept {
  static_assert(sizeof(F) == 0, "a task cannot co_await what then() returns: co_await the future");
  __builtin_unreachable();
}

}  // namespace viaduct::am
