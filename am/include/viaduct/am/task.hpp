#pragma once
/// @file
/// Tasks: coroutines that wait for calls with co_await, many at a time in one thread. A bundle runs
/// them (Bundle::run).

#include <coroutine>
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
/// once for each task, unless it can avoid that.
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

    detail::TaskRunner* runner = nullptr;
    promise_type* next = nullptr;  // in the runner's list
  };

  /// Takes over @p from.  Never waits. Precondition: neither runs.
  Task(Task&& from) noexcept : handle_(std::exchange(from.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  /// Ends the coroutine where it is; a call that it waits for is abandoned.  Never waits.
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
    task.handle_.promise().runner = this;
    wake(task.handle_.promise());
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
  [[nodiscard]] bool await_ready() const noexcept { return future_.ready(); }
  bool await_suspend(std::coroutine_handle<Task::promise_type> task) noexcept {
    return future_.attach(&tell, &task.promise());
  }
  Result<R> await_resume() noexcept { return future_.wait(); }

 private:
  /// In the poll that brings the answer: the task goes on outside the handler.
  static void tell(PendingCall&, void* context, std::uint32_t) {
    auto& task = *static_cast<Task::promise_type*>(context);
    task.runner->wake(task);
  }
  Future<R>& future_;
};

}  // namespace detail

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

}  // namespace viaduct::am
