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
  /// Values of `state`. All others: pending, the tag of the result's type, and kAttached when
  /// somebody is to be told.
  static constexpr std::uint32_t kOk = 0;
  static constexpr std::uint32_t kFailed = 1;
  static constexpr std::uint32_t kAttached = 1;
  static constexpr std::uint32_t kSpanTag = 0x80000002;
  using Resume = void (*)(PendingCall& call, std::uint32_t outcome);

  PendingCall() noexcept {}  // a call writes what it needs
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  [[nodiscard]] bool is_ready() const noexcept { return load_word(state, kAcquire) <= kFailed; }
  /// Polls the bundle until the call is answered or has failed. Answers which.
  std::uint32_t await() noexcept {
    poll();  // mostly brings the answer
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
  /// @p resume is to be called when the answer comes. False: it has come.
  [[nodiscard]] bool attach(Resume to_resume, void* its_context) noexcept;
  /// This object takes the place of @p from, which may be pending. Answers whether its result is
  /// there.
  bool take_over(PendingCall& from) noexcept;
  /// The object ends: nobody wants the answer.
  [[gnu::cold]] void abandon() noexcept;
  [[gnu::cold]] void fail(Undeliverable why) noexcept;
  /// Says who is to be told that there is an answer; then that there is one.
  void finish(std::uint32_t outcome) noexcept;

  Bundle* bundle;  // while pending
  mutable std::uint32_t state;
  Undeliverable error;  // when it has failed
  Resume resume;        // when attached
  void* context;
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
    calls[made] = &call;
    count_up(made);
  }
  /// Takes the oldest call for an answer of @p Bytes. Null: take_any() takes it, because somebody
  /// is to be told, or nobody wants it; or there is none. Answers of a word fit any call, whatever
  /// a peer sends; others are taken where their type is right.
  template <std::size_t Bytes>
  [[nodiscard]] PendingCall* take(std::uint32_t tag) noexcept {
    const std::size_t at = answered;
    PendingCall* const call = calls[at];
    if (call == nullptr) [[unlikely]]
      return nullptr;
    if (Bytes > kLeastBytes && call->state != tag) [[unlikely]]
      return nullptr;
    calls[at] = nullptr;
    count_up(answered);
    return call;
  }
  static constexpr std::size_t kLeastBytes = 8;  // that each call has place for
  /// Takes the oldest call; null when there is none, or nobody wants its answer.
  [[nodiscard, gnu::cold]] PendingCall* take_any() noexcept;
  /// Puts @p now, or nobody, in the place of @p before. False: that is not here.
  bool replace(const PendingCall* before, PendingCall* now) noexcept;
  /// From now on take() leaves @p call to take_any().
  void hold(const PendingCall* call) noexcept;

  std::uint8_t made = 0;
  std::uint8_t answered = 0;
  std::array<PendingCall*, kSize> calls{};
  std::array<PendingCall*, kSize> held{};  // those of which somebody is to be told
};

}  // namespace viaduct::am::detail
