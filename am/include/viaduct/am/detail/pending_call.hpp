#pragma once
/// @file
/// Calls that have not been answered (Endpoint::call). Requests to one peer are handled in order,
/// and the handler of a call replies at once: so the answers of one peer come in the order of the
/// calls to it, and no number travels with them. A MAP keeps its calls in a ring.

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "viaduct/am/types.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/status.hpp"

namespace viaduct::am {
class Bundle;
}

namespace viaduct::am::detail {

/// One call: the part of a future that does not depend on the result's type. The ring of a MAP
/// points to it while it is pending.
struct PendingCall {
  /// Values of `state`. All others: the call is pending; the value is the tag of the result's type,
  /// and kAttached when a function or task is to be told.
  static constexpr std::uint32_t kOk = 0;
  static constexpr std::uint32_t kFailed = 1;
  static constexpr std::uint32_t kAttached = 1;
  static constexpr std::uint32_t kSpanTag = 0x80000002;
  /// Tells @p context, a waiting task, or a function (null) of @p call's outcome.
  using Resume = void (*)(PendingCall& call, void* context, std::uint32_t outcome);

  PendingCall() noexcept {}  // each call writes the members that it needs
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  [[nodiscard]] bool is_ready() const noexcept { return load_word(state, kAcquire) <= kFailed; }
  /// Whether the call is pending, and a function or task is to be told, or is being told.
  [[nodiscard]] bool is_attached() const noexcept {
    const std::uint32_t now = load_word(state, kRelaxed);
    return now > kFailed && (now & kAttached) != 0;
  }
  /// Polls the bundle until the call is answered or has failed. Answers which.
  std::uint32_t await() noexcept {
    poll();  // the answer mostly comes in this poll
    const std::uint32_t outcome = load_word(state, kAcquire);
    return outcome == kOk ? kOk : await_slowly();
  }
  /// For the end of the object. Pending, abandon() looks again, under the lock.
  [[nodiscard]] __attribute__((no_sanitize("thread"))) bool seems_ready() const noexcept {
    return state <= kFailed;
  }
  [[gnu::noinline]] void poll() noexcept;
  [[gnu::cold, gnu::noinline]] std::uint32_t await_slowly() noexcept;
  /// Waits at most @p timeout_ns (negative: for ever).
  [[gnu::cold, gnu::noinline]] Status await_for(std::int64_t timeout_ns) noexcept;
  /// Has @p to_resume called when the answer comes. False: the answer has come already. Stops the
  /// program where a task is to be told already.
  [[nodiscard]] bool attach(Resume to_resume, void* its_context) noexcept;
  /// Takes attach() back for the call of @p bundle that has @p its_context, if it is still pending.
  [[gnu::cold, gnu::noinline]] static void detach(Bundle& bundle, const void* its_context) noexcept;
  /// This object takes the place of @p from, which may be pending. Answers whether its result is
  /// there.
  bool take_over(PendingCall& from) noexcept;
  /// @p to takes the place of this call in the ring, and its contents. Null: the place stays empty,
  /// as the future ends, and a task that waits for it goes on with reply_rejected. Answers whether
  /// the result is there. While another thread tells the call's function, this waits for its end.
  bool move_to(PendingCall* to) noexcept;
  /// The object ends: the answer is to be dropped.
  [[gnu::cold]] void abandon() noexcept;
  [[gnu::cold]] void fail(Undeliverable why) noexcept;
  /// Calls `resume` of an attached call, then stores @p outcome, which shows that the answer is
  /// here. The function that is told may end or move this object.
  void finish(std::uint32_t outcome) noexcept;

  Bundle* bundle;  // while pending
  mutable std::uint32_t state;
  Undeliverable error;  // when it has failed
  Resume resume;        // when attached; null while the function is being told
  void* context;        // for resume; while it is told: a pointer to the pointer to this object
};

/// Holds the lock under which answers come, while @p call is pending. Its future moves meanwhile,
/// with what belongs to it.
class CallLock {
 public:
  explicit CallLock(const PendingCall& call) noexcept {
    if (!call.is_ready()) lock(*call.bundle);
  }
  ~CallLock() {
    if (is_held_) unlock();
  }
  CallLock(const CallLock&) = delete;
  CallLock& operator=(const CallLock&) = delete;

 private:
  [[gnu::cold, gnu::noinline]] void lock(Bundle& bundle) noexcept;
  [[gnu::cold, gnu::noinline]] void unlock() noexcept;
  bool is_held_ = false;
  alignas(void*) std::byte room_[2 * sizeof(void*)];  // for a Bundle::Lock
};

/// The tag of a result of words.
template <class R>
inline constexpr std::uint32_t kCallTag = [] {
  if constexpr (std::is_void_v<R>)
    return std::uint32_t{2};
  else
    return static_cast<std::uint32_t>(sizeof(R)) << 2 | 2U;
}();

/// Counts in memory: one instruction, where the compiler would take two because it has the count in
/// a register.
[[gnu::always_inline]] inline void count_up(std::uint8_t& count) noexcept {
  asm("" : "+m"(count));
  ++count;
}

/// The calls that one peer has not answered, oldest first. The two counters wrap round by
/// themselves.
struct CallRing {
  static constexpr std::size_t kSize = 256;
  /// The address of a call. With kHeld: a call with a function or task to tell. kHeld alone: none.
  using Place = std::uintptr_t;
  static constexpr Place kHeld = 1;
  static_assert(alignof(PendingCall) > kHeld);

  [[nodiscard]] static Place place_of(PendingCall& call) noexcept {
    return reinterpret_cast<Place>(&call);
  }
  /// @return the call of @p place, or null.
  [[nodiscard]] static PendingCall* call_of(Place place) noexcept {
    return reinterpret_cast<PendingCall*>(place & ~kHeld);
  }
  [[nodiscard]] bool is_empty() const noexcept { return made == answered; }
  /// Calls that have not been answered.
  [[nodiscard]] std::uint32_t pending() const noexcept {
    return static_cast<std::uint8_t>(made - answered);
  }
  /// Whether a further call has no place. Not with fewer credits than kSize.
  [[nodiscard]] bool is_full() const noexcept {
    return static_cast<std::uint8_t>(made + 1) == answered;
  }
  void push(PendingCall& call) noexcept {
    places[made] = place_of(call);
    count_up(made);
  }
  /// Takes the oldest call for an answer of @p Bytes. Null: there is none, or take_any() takes it,
  /// because a function or task is to be told or the future has ended. An answer of one word fits
  /// any call, whatever a peer sends. Longer ones are taken where their type is right.
  template <std::size_t Bytes>
  [[nodiscard]] PendingCall* take(std::uint32_t tag) noexcept {
    const std::size_t at = answered;
    const Place place = places[at];
    if ((place & kHeld) != 0) [[unlikely]]
      return nullptr;
    PendingCall* const call = reinterpret_cast<PendingCall*>(place);
    if (call == nullptr) __builtin_unreachable();  // so that callers need no second look
    if (Bytes > kLeastBytes && call->state != tag) [[unlikely]]
      return nullptr;
    places[at] = kHeld;
    count_up(answered);
    return call;
  }
  static constexpr std::size_t kLeastBytes = 8;  // that each call has place for
  /// Takes the oldest call; null when there is none, or its future has ended.
  [[nodiscard, gnu::cold]] PendingCall* take_any() noexcept;
  /// Puts @p now (or null) in the place of @p before. False: @p before is not here.
  bool replace(const PendingCall* before, PendingCall* now) noexcept;
  /// From now on take() leaves @p call to take_any().
  void hold(const PendingCall* call) noexcept;
  /// Takes attach() and hold() back for the call that is attached with @p context. False: it is not
  /// here.
  bool detach(const void* context) noexcept;

  CallRing() noexcept { places.fill(kHeld); }

  std::uint8_t made = 0;
  std::uint8_t answered = 0;
  std::array<Place, kSize> places;
};

}  // namespace viaduct::am::detail
