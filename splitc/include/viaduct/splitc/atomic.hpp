#pragma once
/// @file
/// Atomic operations on global memory, functions that run at the owner, and locks.

#include <array>
#include <concepts>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "viaduct/splitc/access.hpp"
#include "viaduct/splitc/detail/checked_calls.hpp"

namespace viaduct::splitc {

namespace detail {
/// Kinds of read-modify-write.
enum class Rmw : std::uint8_t { add, swap, compare_swap, bit_and, bit_or, bit_xor };

/// Types that these work on: integers, pointers and enumerations of 4 or 8 bytes.
template <class T>
concept Atomic = kIsWord<T> &&(sizeof(T) == 4 || sizeof(T) == 8) && !std::is_floating_point_v<T> &&
                 !std::is_const_v<T>;

std::uint64_t rmw_slow(std::uint64_t to, Rmw what, std::uint64_t operand, std::uint64_t expected,
                       std::size_t bytes);

template <class U>
[[nodiscard]] inline U rmw_here(std::byte* place, Rmw what, U operand, U expected) noexcept {
  auto* at = reinterpret_cast<U*>(place);
  constexpr int kOrder = stands(Fence::rmw) ? __ATOMIC_SEQ_CST : __ATOMIC_RELAXED;
  switch (what) {
    case Rmw::add:
      return __atomic_fetch_add(at, operand, kOrder);
    case Rmw::swap:
      return __atomic_exchange_n(at, operand, kOrder);
    case Rmw::compare_swap:
      __atomic_compare_exchange_n(at, &expected, operand, false, kOrder, kOrder);
      return expected;
    case Rmw::bit_and:
      return __atomic_fetch_and(at, operand, kOrder);
    case Rmw::bit_or:
      return __atomic_fetch_or(at, operand, kOrder);
    case Rmw::bit_xor:
      return __atomic_fetch_xor(at, operand, kOrder);
  }
  __builtin_unreachable();
}

template <Rmw What, class T>
inline T rmw(global_ptr<T> to, T operand, T expected) {
  using U = BitsOf<T>;
  U bits;
  U was;
  std::memcpy(&bits, &operand, sizeof(T));
  std::memcpy(&was, &expected, sizeof(T));
  if (std::byte* place = aligned_place(to.word())) [[likely]] {
    prefetch_to_write(place);  // a load waits for the locked instruction of the last update
    light_poll();
    was = rmw_here<U>(place, What, bits, was);
  } else {
    was = static_cast<U>(rmw_slow(to.word(), What, bits, was, sizeof(T)));
  }
  T old;
  std::memcpy(static_cast<void*>(&old), &was, sizeof(T));
  return old;
}
}  // namespace detail

/// Adds @p value at @p to and answers the value that was there before. T is an integer of 4 or 8
/// bytes.
///
/// Blocks      until the answer is here.
/// Order       a full fence. Atomic with respect to all of these, and to reads and writes, by any
///             process on any path.
/// Cost        one locked instruction where the memory is mapped; else one round trip.
template <detail::Atomic T>
requires std::integral<T>
inline T fetch_add(global_ptr<T> to, std::type_identity_t<T> value,
                   detail::Here at = detail::here()) {
  at.check("fetch_add", to.word(), sizeof(T));
  return detail::rmw<detail::Rmw::add>(to, value, T{});
}
/// Writes the bitwise and of the present value and @p value; answers the value before.  Blocks,
/// order and cost: as fetch_add().
template <detail::Atomic T>
requires std::integral<T>
inline T fetch_and(global_ptr<T> to, std::type_identity_t<T> value,
                   detail::Here at = detail::here()) {
  at.check("fetch_and", to.word(), sizeof(T));
  return detail::rmw<detail::Rmw::bit_and>(to, value, T{});
}
/// Writes the bitwise or of the present value and @p value; answers the value before.  Blocks,
/// order and cost: as fetch_add().
template <detail::Atomic T>
requires std::integral<T>
inline T fetch_or(global_ptr<T> to, std::type_identity_t<T> value,
                  detail::Here at = detail::here()) {
  at.check("fetch_or", to.word(), sizeof(T));
  return detail::rmw<detail::Rmw::bit_or>(to, value, T{});
}
/// Writes the exclusive or of the present value and @p value; answers the value before.  Blocks,
/// order and cost: as fetch_add().
template <detail::Atomic T>
requires std::integral<T>
inline T fetch_xor(global_ptr<T> to, std::type_identity_t<T> value,
                   detail::Here at = detail::here()) {
  at.check("fetch_xor", to.word(), sizeof(T));
  return detail::rmw<detail::Rmw::bit_xor>(to, value, T{});
}
/// Writes @p value and answers the value before. T is an integer, a pointer or an enumeration of 4
/// or 8 bytes.  Blocks, order and cost: as fetch_add().
template <detail::Atomic T>
inline T swap(global_ptr<T> to, std::type_identity_t<T> value, detail::Here at = detail::here()) {
  at.check("swap", to.word(), sizeof(T));
  return detail::rmw<detail::Rmw::swap>(to, value, T{});
}
/// Writes @p desired if @p expected is there; answers the value before. T: as for swap().  Blocks,
/// order and cost: as fetch_add().
template <detail::Atomic T>
inline T compare_swap(global_ptr<T> to, std::type_identity_t<T> expected,
                      std::type_identity_t<T> desired, detail::Here at = detail::here()) {
  at.check("compare_swap", to.word(), sizeof(T));
  return detail::rmw<detail::Rmw::compare_swap>(to, desired, expected);
}

/// The same through a spread pointer. Blocks, order and cost: as above.
template <detail::Atomic T>
requires std::integral<T>
inline T fetch_add(spread_ptr<T> to, std::type_identity_t<T> value,
                   detail::Here at = detail::here()) {
  return fetch_add(global_ptr<T>(to), value, at);
}
/// The same through a spread pointer. Blocks, order and cost: as above.
template <detail::Atomic T>
requires std::integral<T>
inline T fetch_and(spread_ptr<T> to, std::type_identity_t<T> value,
                   detail::Here at = detail::here()) {
  return fetch_and(global_ptr<T>(to), value, at);
}
/// The same through a spread pointer. Blocks, order and cost: as above.
template <detail::Atomic T>
requires std::integral<T>
inline T fetch_or(spread_ptr<T> to, std::type_identity_t<T> value,
                  detail::Here at = detail::here()) {
  return fetch_or(global_ptr<T>(to), value, at);
}
/// The same through a spread pointer. Blocks, order and cost: as above.
template <detail::Atomic T>
requires std::integral<T>
inline T fetch_xor(spread_ptr<T> to, std::type_identity_t<T> value,
                   detail::Here at = detail::here()) {
  return fetch_xor(global_ptr<T>(to), value, at);
}
/// The same through a spread pointer. Blocks, order and cost: as above.
template <detail::Atomic T>
inline T swap(spread_ptr<T> to, std::type_identity_t<T> value, detail::Here at = detail::here()) {
  return swap(global_ptr<T>(to), value, at);
}
/// The same through a spread pointer. Blocks, order and cost: as above.
template <detail::Atomic T>
inline T compare_swap(spread_ptr<T> to, std::type_identity_t<T> expected,
                      std::type_identity_t<T> desired, detail::Here at = detail::here()) {
  return compare_swap(global_ptr<T>(to), expected, desired, at);
}

namespace detail {
inline constexpr std::size_t kCallBytes = 40;    // arguments of a function that runs elsewhere
inline constexpr std::size_t kResultBytes = 40;  // and its result
using CallThunk = void (*)(const std::byte* arguments, std::byte* result);
[[noreturn, gnu::cold]] void stop_null_call(const char* operation);
void call_slow(std::uint32_t process, CallThunk thunk, const void* arguments, std::size_t bytes,
               void* result, std::size_t result_bytes);
/// @p words: the arguments' @p bytes bytes.
Handle call_put(std::uint32_t process, CallThunk thunk, const std::uint64_t* words,
                std::uint32_t bytes);
/// The same for a function that gets an object of @p process. The arguments begin with the object's
/// address, or with a global pointer to it. Before the function runs, the owner looks whether there
/// is memory.
void call_at_slow(std::uint32_t process, CallThunk thunk, const void* arguments, std::size_t bytes,
                  void* result, std::size_t result_bytes);
Handle call_at_put(std::uint32_t process, CallThunk thunk, const std::uint64_t* words,
                   std::uint32_t bytes);

/// A pointer on its way to the process that it points into. That process makes a local pointer of
/// it: the address may differ in the caller.
template <class T>
struct Arriving {
  std::uint64_t word = 0;
  operator T*() const noexcept { return tolocal(global_ptr<T>::from_word(word)); }
};
template <class... A>
inline constexpr bool kBeginsWithObject = false;
template <class T, class... Rest>
inline constexpr bool kBeginsWithObject<Arriving<T>, Rest...> = true;

template <auto F, class R, class... A>
struct Call {
  static_assert((std::is_trivially_copyable_v<A> && ...), "arguments must be trivially copyable");
  static_assert(sizeof(std::tuple<A...>) <= kCallBytes, "at most 40 bytes of arguments");
  static constexpr auto kCall = kBeginsWithObject<A...> ? &call_at_slow : &call_slow;
  static constexpr auto kPut = kBeginsWithObject<A...> ? &call_at_put : &call_put;
  // A tuple need not be trivially copyable: the arguments travel one behind the other.
  static constexpr std::size_t kBytes = (sizeof(A) + ... + 0);
  static void thunk(const std::byte* from, std::byte* result) {
    std::tuple<Room<A>...> arguments;
    std::apply(
        [&from](auto&... a) {
          ((std::memcpy(static_cast<void*>(&a.value), from, sizeof(a)), from += sizeof(a)), ...);
        },
        arguments);
    const auto call = [](auto&... a) -> decltype(auto) { return F(a.value...); };
    if constexpr (std::is_void_v<R>) {
      std::apply(call, arguments);
    } else {
      const R value = std::apply(call, arguments);
      std::memcpy(result, &value, sizeof(R));
    }
  }
  static R run(std::uint32_t process, const A&... a) {
    std::array<std::byte, kBytes == 0 ? 1 : kBytes> bytes;
    if constexpr (kBytes == 0) bytes[0] = {};
    std::byte* to = bytes.data();
    ((std::memcpy(to, &a, sizeof(a)), to += sizeof(a)), ...);
    if constexpr (std::is_void_v<R>) {
      kCall(process, &thunk, bytes.data(), kBytes, nullptr, 0);
    } else {
      static_assert(std::is_trivially_copyable_v<R> && sizeof(R) <= kResultBytes,
                    "the result must be trivially copyable, of at most 40 bytes");
      Room<R> room;
      kCall(process, &thunk, bytes.data(), kBytes, &room.value, sizeof(R));
      return room.value;
    }
  }
  static Handle put(std::uint32_t process, const A&... a) {
    std::uint64_t words[kCallBytes / 8];
    words[kBytes == 0 ? 0 : (kBytes - 1) / 8] = 0;
    auto* to = reinterpret_cast<std::byte*>(words);
    ((std::memcpy(to, &a, sizeof(a)), to += sizeof(a)), ...);
    return kPut(process, &thunk, words, static_cast<std::uint32_t>(kBytes));
  }
};
template <auto F, class R, class... P>
R call_by_signature(std::uint32_t process, R (*)(P...), const std::type_identity_t<P>&... a) {
  return Call<F, R, std::decay_t<P>...>::run(process, a...);
}

template <auto F, class R, class... P>
Handle put_by_signature(std::uint32_t process, R (*)(P...), const std::type_identity_t<P>&... a) {
  return Call<F, void, std::decay_t<P>...>::put(process, a...);
}

template <auto F, class T, class R, class P, class... Rest>
R call_at(global_ptr<T> at, R (*)(P, Rest...), const std::type_identity_t<Rest>&... a) {
  if (!at) [[unlikely]]
    stop_null_call("atomic");
  return Call<F, R, Arriving<T>, std::decay_t<Rest>...>::run(at.process(), Arriving<T>{at.word()},
                                                             a...);
}
template <auto F, class T, class R, class P, class... Rest>
Handle put_at(global_ptr<T> at, R (*)(P, Rest...), const std::type_identity_t<Rest>&... a) {
  if (!at) [[unlikely]]
    stop_null_call("atomic_put");
  return Call<F, void, Arriving<T>, std::decay_t<Rest>...>::put(at.process(),
                                                                Arriving<T>{at.word()}, a...);
}
}  // namespace detail

/// Runs @p F(args...) in @p process, during one of its polls, and answers its result: no other such
/// function and no message runs there at the same time. F is a function, or a lambda that captures
/// nothing. F may use that process' memory and nothing else: communication from F stops the program
/// with a sentence (that of Active Messages too, but for short requests and polls of a parallel
/// bundle), and so does an exception that leaves F, in whichever process F runs. (MYPROC, PROCS,
/// toglobal() and tolocal() may be used.)
///
///     long bump(long by) { return counter += by; }
///     long now = atomic<bump>(3, 10);
///
/// Blocks      until the result is here.  Progress: polls meanwhile.
/// Order       as atomic_put().
/// Cost        one round trip; in this process, a call of the function.
/// Errors      as fetch_add(): no such process, or a lost one.
template <auto F, class... A>
inline auto atomic(int process, A... args) {
  return detail::call_by_signature<F>(static_cast<std::uint32_t>(process), +F, args...);
}
/// Where the pointer points; the function gets it as a local pointer, before the other arguments.
/// Blocks, order and cost: as above. Errors: as read(); the owner looks whether there is memory at
/// the address before F runs.
template <auto F, class T, class... A, class Mode = detail::Here>
inline auto atomic(global_ptr<T> at, A... args) {
  Mode::unknown().check("atomic", at.word(), 1);
  return detail::call_at<F>(at, +F, args...);
}
/// The same through a spread pointer. Blocks, order and cost: as above.
template <auto F, class T, class... A, class Mode = detail::Here>
inline auto atomic(spread_ptr<T> at, A... args) {
  Mode::unknown().check("atomic", at.word(), 1);
  return detail::call_at<F>(global_ptr<T>(at), +F, args...);
}

/// @return whether this is inside a function that atomic() or atomic_put() runs.  Call from: inside
/// splitc_main.
[[nodiscard]] bool in_atomic() noexcept;

/// Begins to run @p F(args...) in @p process, as atomic() does, and drops its result. atomic_put()
/// is to atomic() as put() to write(): the function has run after sync(), or when the handle is
/// complete. Functions and puts may be under way together.
///
///     void bump(long by) { counter += by; }
///     for (...) atomic_put<bump>(process, 10);
///     sync();  // all have run
///
/// Blocks      only while requests to that process use up its credits; polls then.
/// Progress    a poll point at least once in 16 calls for one process.
/// Order       functions of one process to another run in call order, among its atomic() and its
///             stores of words; each sees the accesses that precede its call.
/// Cost        one line of the ring to that process; here, a call of the function.
template <auto F, class... A>
inline Handle atomic_put(int process, A... args) {
  return detail::put_by_signature<F>(static_cast<std::uint32_t>(process), +F, args...);
}
/// Where the pointer points; the function gets it as a local pointer, before the other arguments.
/// Blocks, order, cost and errors: as above and as atomic().
template <auto F, class T, class... A, class Mode = detail::Here>
inline Handle atomic_put(global_ptr<T> at, A... args) {
  Mode::unknown().check("atomic_put", at.word(), 1);
  return detail::put_at<F>(at, +F, args...);
}
/// The same through a spread pointer. Blocks, order and cost: as above.
template <auto F, class T, class... A, class Mode = detail::Here>
inline Handle atomic_put(spread_ptr<T> at, A... args) {
  Mode::unknown().check("atomic_put", at.word(), 1);
  return detail::put_at<F>(global_ptr<T>(at), +F, args...);
}

/// A lock in global memory; all zero is free.
struct lock_t {
  std::uint64_t holder = 0;  // process + 1
};
// Checked sources have them from detail/checked_calls.hpp.
#if !(VIADUCT_CHECKED + 0)
/// Blocks until this process holds the lock, polling meanwhile. Not recursive. A full fence.
/// Errors: stops the program with a sentence when this process holds the lock already, or when the
/// object is no lock; throws Error when the process that holds the lock is lost, has returned from
/// splitc_main, or waits for this one in a collective call. (The last two not in a program that
/// also uses Active Messages, where a handler may still unlock.)
void lock(global_ptr<lock_t> l);
/// @return whether the lock could be taken at once; then this process holds it. False also where
/// this process holds it already.  Order: a full fence. Errors: as lock() for the object and for
/// the process that holds it.
[[nodiscard]] bool try_lock(global_ptr<lock_t> l);
/// Releases the lock.  Order: a full fence.  Errors: stops the program with a sentence that names
/// the holder, when this process does not hold it.
void unlock(global_ptr<lock_t> l);
#endif

}  // namespace viaduct::splitc
