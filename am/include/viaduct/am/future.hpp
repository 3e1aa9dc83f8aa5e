#pragma once
/// @file
/// The answer of a call (Endpoint::call), pending or here.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "viaduct/am/detail/pending_call.hpp"
#include "viaduct/am/types.hpp"
#include "viaduct/runtime/status.hpp"

namespace viaduct::am {

namespace detail {
/// Stops the program: a result was used that is none.
[[noreturn, gnu::cold, gnu::noinline]] void stop_no_result(Undeliverable error) noexcept;
}  // namespace detail

/// result: the value that a call has answered, or why there is none.
template <class R>
class Result {
 public:
  /// Made by the runtime.  Never waits.
  constexpr Result(R value) noexcept : error_(Undeliverable::none), value_(value) {}
  /// The same, for a call that has failed.  Never waits.
  constexpr Result(Undeliverable error) noexcept : error_(error), none_() {}

  /// @return whether there is a value.
  [[nodiscard]] constexpr bool has_value() const noexcept { return error_ == Undeliverable::none; }
  /// @return the same.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return has_value(); }
  /// @return none, or why the call has failed: as handler 0 would have been told.
  [[nodiscard]] constexpr Undeliverable error() const noexcept { return error_; }
  /// @return the value.  Errors: where there is none, stops the program with a sentence.
  [[nodiscard]] constexpr const R& value() const noexcept {
    if (!has_value()) [[unlikely]]
      detail::stop_no_result(error_);
    return value_;
  }
  /// @return the value.  Errors: as value().
  [[nodiscard]] constexpr const R& operator*() const noexcept { return value(); }
  /// @return the value's members.  Errors: as value().
  [[nodiscard]] constexpr const R* operator->() const noexcept { return &value(); }
  /// @return the value, or @p other where there is none.
  [[nodiscard]] constexpr R value_or(R other) const noexcept {
    return has_value() ? value_ : other;
  }

 private:
  Undeliverable error_;
  union {
    R value_;
    char none_;
  };
};

/// result of a call that answers nothing: whether its handler has run.
template <>
class Result<void> {
 public:
  /// Made by the runtime.  Never waits.
  constexpr Result(Undeliverable error = Undeliverable::none) noexcept : error_(error) {}
  /// @return whether the handler has run.
  [[nodiscard]] constexpr bool has_value() const noexcept { return error_ == Undeliverable::none; }
  /// @return the same.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return has_value(); }
  /// @return none, or why the call has failed: as handler 0 would have been told.
  [[nodiscard]] constexpr Undeliverable error() const noexcept { return error_; }

 private:
  Undeliverable error_;
};

class EndpointRequests;
template <class R, class F>
class Then;

namespace detail {

template <class R>
class Awaiter;

/// A pending call with the place of its result.
template <class R>
struct Answer : PendingCall {
  [[nodiscard]] Result<R> result(std::uint32_t outcome) const noexcept {
    if (outcome == kOk) [[likely]]
      return {*std::launder(reinterpret_cast<const R*>(bytes))};
    return {error};
  }
  void put(const R& value) noexcept { std::memcpy(bytes, &value, sizeof(R)); }
  void copy_room(const Answer&) noexcept {}
  void copy(const Answer& from) noexcept { std::memcpy(bytes, from.bytes, sizeof bytes); }
  alignas(R) std::byte bytes[sizeof(R) < CallRing::kLeastBytes ? CallRing::kLeastBytes : sizeof(R)];
};
template <>
struct Answer<void> : PendingCall {
  [[nodiscard]] Result<void> result(std::uint32_t outcome) const noexcept {
    return {outcome == kOk ? Undeliverable::none : error};
  }
  void copy_room(const Answer&) noexcept {}
  void copy(const Answer&) noexcept {}
  std::byte bytes[CallRing::kLeastBytes];  // that a wrong answer might write
};
/// A result of any length comes into memory of the caller.
template <class T>
struct Answer<std::span<T>> : PendingCall {
  [[nodiscard]] Result<std::span<T>> result(std::uint32_t outcome) const noexcept {
    if (outcome == kOk) return {data};
    return {error};
  }
  void copy_room(const Answer& from) noexcept { data = from.data; }
  void copy(const Answer& from) noexcept { data = from.data; }
  std::span<T> data;  // first the room for the answer, then the answer
};

}  // namespace detail

/// future: the value that Endpoint::call returns. A future holds the result itself; nothing is
/// allocated. While the call is pending the future may be moved, or end: the answer is then
/// dropped.
///
/// Call from   the thread of the endpoint's bundle; all threads where that is parallel, one at a
///             time for each future.
/// Errors      are values: the reasons that handler 0 would get (Undeliverable), a lost peer as
///             unreachable, an index out of range as bad_entry, data too long as bad_length, an end
///             of the endpoint as bad_endpoint.
template <class R>
class [[nodiscard]] Future : private detail::Answer<R> {
  using Base = detail::Answer<R>;

 public:
  using Value = R;

  /// Takes over @p from, also a pending one.  Never waits. Cost: pending, a search of its calls.
  Future(Future&& from) noexcept { adopt(from); }
  /// The same; the call before is abandoned.  Never waits.
  Future& operator=(Future&& from) noexcept {
    if (this == &from) return *this;
    if (!ready()) this->abandon();
    adopt(from);
    return *this;
  }
  /// Never waits. A pending call is abandoned: its handler runs, and its answer is dropped.
  ~Future() {
    if (!this->seems_ready()) [[unlikely]]
      this->abandon();
  }

  /// @return whether the call is answered or has failed.  Never waits; no poll point.
  [[nodiscard]] bool ready() const noexcept { return this->is_ready(); }
  /// The result.
  ///
  /// Blocks      until the call is answered or has failed, polling like every other wait.
  /// Call from   outside handlers. In a task co_await serves the other tasks meanwhile.
  /// @return the value, or why there is none.
  Result<R> wait() & noexcept {
    const std::uint32_t now = load_word(this->state, kAcquire);
    return this->result(now <= Base::kFailed ? now : this->await());
  }
  /// The same for a future that ends then; it polls once where the answer is here. Blocks and call
  /// from: as above. Precondition: the endpoint's bundle has not ended.
  Result<R> wait() && noexcept {
    const Result<R> result = this->result(this->await());
    this->state = Base::kFailed;  // the destructor need not look
    return result;
  }
  /// Waits at most @p timeout_ns (negative: for ever), as wait().
  ///
  /// @return ok: it is ready; timeout.
  Status wait_for(std::int64_t timeout_ns) noexcept {
    return ready() ? Status::ok : this->await_for(timeout_ns);
  }
  /// @p function is called once with the Result<R>, inside the poll that brings the answer, as a
  /// reply handler: it may not communicate. Where the answer is here already it is called at once.
  /// Precondition: no task waits for the future (the program is stopped).
  ///
  /// @return an object that holds @p function. When that ends before the answer comes, @p function
  ///         is not called. In a parallel bundle its end, and its move, wait for a call of
  ///         @p function that is under way in another thread.
  template <class F>
  [[nodiscard]] Then<R, F> then(F function) && noexcept {
    return Then<R, F>(std::move(*this), std::move(function));
  }

 private:
  friend class EndpointRequests;
  template <class, class>
  friend class Then;
  template <class>
  friend class detail::Awaiter;

  /// @p send begins the call: the object is made where its user has it, and need not move.
  template <class Send>
  explicit Future(Send&& send) noexcept {
    send(*this);
  }
  void adopt(Future& from) noexcept {
    this->copy_room(from);
    if (this->take_over(from)) this->copy(from);
  }
};

/// then: a future with a function that is told of its result. It is no Future: it has no second
/// then(), and a task cannot co_await it. The function moves to the poll's stack for its call, and
/// ends behind it: the function may move this object, or end it.
template <class R, class F>
class [[nodiscard]] Then : private Future<R> {
 public:
  using typename Future<R>::Value;
  using Future<R>::ready;
  using Future<R>::wait;
  using Future<R>::wait_for;

  /// Made by Future::then().  Never waits.
  Then(Future<R>&& future, F function) noexcept
      : Future<R>(std::move(future)), function_(std::move(function)) {
    if (!this->attach(&tell, nullptr)) function_(this->wait());
  }
  /// Takes over @p from.  Blocks: parallel, as long as its function runs in another thread. The
  /// function is moved under the bundle's lock.
  Then(Then&& from) noexcept : Then(std::move(from), detail::CallLock(from)) {}
  Then& operator=(Then&&) = delete;
  /// A pending call is abandoned, and the function is not called.  Blocks: as the move does.
  ~Then() {
    if (!ready()) [[unlikely]]
      this->abandon();
  }

 private:
  /// The call and the function move under one lock: no answer comes between.
  Then(Then&& from, const detail::CallLock&) noexcept
      : Future<R>(static_cast<Future<R>&&>(from)), function_(std::move(from.function_)) {}
  static void tell(detail::PendingCall& call, void*, std::uint32_t outcome) {
    Then& self = static_cast<Then&>(static_cast<detail::Answer<R>&>(call));
    const Result<R> result = self.result(outcome);
    F function(std::move(self.function_));  // which may end or move self
    function(result);
  }
  F function_;
};

}  // namespace viaduct::am
