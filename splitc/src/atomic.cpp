/// Read-modify-write and functions at the owner.

#include "splitc/atomic.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <cstring>
#include <ctime>
#include <exception>
#include <iterator>
#include <string>

#include "splitc/src/code.hpp"
#include "splitc/src/wait.hpp"
#include "splitc/sync.hpp"

namespace viaduct::splitc {
namespace detail {

namespace {

std::uint64_t modify(const char* operation, std::uint64_t to, Rmw what, std::uint64_t operand,
                     std::uint64_t expected, std::size_t bytes) {
  Machine::Parts& parts = machine(operation).parts();
  const auto place = parts.locate(operation, to, bytes);
  light_poll();
  if (place.here != nullptr) {
    parts.count(kDirect);
    if (bytes == 8) return rmw_here<std::uint64_t>(place.here, what, operand, expected);
    return rmw_here<std::uint32_t>(place.here, what, static_cast<std::uint32_t>(operand),
                                   static_cast<std::uint32_t>(expected));
  }
  Channel& c = parts.channel(process_of(to), false, operation);
  std::uint64_t old = 0;
  const std::uint64_t words[] = {address_of(to), operand, expected,
                                 reinterpret_cast<std::uint64_t>(&old)};
  const std::uint32_t index = static_cast<std::uint32_t>(what) | (bytes == 8 ? 0x10U : 0U);
  const std::uint64_t ticket =
      parts.request(c, operation, wire::make(wire::Op::modify, index), words, 32);
  parts.finish(operation, {ticket, c.process, c.index, 1});
  full_fence<Fence::rmw>();
  return old;
}

}  // namespace

const char* to_string(Rmw what) noexcept {
  constexpr const char* kNames[] = {"fetch_add", "swap",     "compare_swap",
                                    "fetch_and", "fetch_or", "fetch_xor"};
  const auto i = static_cast<std::size_t>(what);
  return i < std::size(kNames) ? kNames[i] : "an unknown atomic";
}

std::uint64_t rmw_slow(std::uint64_t to, Rmw what, std::uint64_t operand, std::uint64_t expected,
                       std::size_t bytes) {
  return modify(to_string(what), to, what, operand, expected, bytes);
}

void run_guest(std::uint32_t process, CallThunk thunk, const std::byte* arguments,
               std::byte* result) noexcept {
  const char* threw = "what is no std::exception";
  std::string text;
  try {
    const GuestCall guest;
    return thunk(arguments, result);
  } catch (const std::exception& problem) {
    text = problem.what();
    threw = text.c_str();
  } catch (...) {
  }
  stop("atomic", "the function that process " + std::to_string(process) + " runs in process " +
                     std::to_string(hot.myproc) + " threw: " + threw +
                     "; catch it in the function, and answer that it failed by its result");
}

void stop_null_call() { stop("atomic", "the global pointer is null: give it an object's address"); }

void call_slow(std::uint32_t process, CallThunk thunk, const void* arguments, std::size_t bytes,
               void* result, std::size_t result_bytes) {
  constexpr const char* kOperation = "atomic";
  Machine::Parts& parts = machine(kOperation).parts();
  if (process >= parts.job.size())
    stop_no_process(kOperation, "the call", static_cast<std::int32_t>(process));
  light_poll();
  if (process == hot.myproc) {
    std::byte answer[kResultBytes] = {};
    run_guest(process, thunk, static_cast<const std::byte*>(arguments), answer);
    if (result_bytes != 0) std::memcpy(result, answer, result_bytes);
    full_fence<Fence::call>();  // where messages do it, they are one
    return;
  }
  const std::uint64_t number = number_of(thunk);
  if (number == 0)
    stop(kOperation,
         "the function is in a shared library: functions that run in other processes must be in "
         "the program itself");
  Channel& c = parts.channel(process, false, kOperation);
  std::uint64_t words[via::shm::kWordsPerSlot] = {number, reinterpret_cast<std::uint64_t>(result)};
  std::memcpy(words + 2, arguments, bytes);
  const std::uint64_t ticket = parts.request(
      c, kOperation, wire::make(wire::Op::call, static_cast<std::uint32_t>(result_bytes)), words,
      static_cast<std::uint32_t>(16 + bytes));
  parts.finish(kOperation, {ticket, c.process, c.index, 1});
}

}  // namespace detail

namespace {

/// What the word of a lock holds that this process has.
std::uint64_t me() noexcept { return std::uint64_t{detail::hot.myproc} + 1; }

/// compare_swap() of the lock's word under the name of @p operation.
std::uint64_t change(const char* operation, global_ptr<lock_t> l, std::uint64_t expected,
                     std::uint64_t desired) {
  constexpr auto kWhat = detail::Rmw::compare_swap;
  if (std::byte* place = detail::place_of(l.word())) [[likely]] {
    detail::light_poll();
    return detail::rmw_here<std::uint64_t>(place, kWhat, desired, expected);
  }
  return detail::modify(operation, l.word(), kWhat, desired, expected, sizeof(lock_t));
}

std::uint64_t holder_of(const char* operation, global_ptr<lock_t> l) {
  std::uint64_t holder = 0;
  if (const std::byte* place = detail::place_of(l.word())) {
    detail::light_poll();
    return detail::load_word<std::uint64_t>(place);
  }
  detail::read_as(operation, l.word(), &holder, sizeof(holder));
  return holder;
}

[[noreturn, gnu::cold]] void stop_lock(const char* operation, global_ptr<lock_t> l,
                                       const std::string& what) {
  detail::stop(operation, fmt::format("the lock at {:#x} of process {} {}",
                                      detail::address_of(l.word()), l.process(), what));
}

/// @p holder: not this process, and not 0.
void check_holder(const char* operation, global_ptr<lock_t> l, std::uint64_t holder) {
  if (holder > detail::hot.procs) [[unlikely]]
    stop_lock(operation, l,
              fmt::format("holds {:#x}, which is no process: a lock begins as zeros, and lock(), "
                          "try_lock() and unlock() alone may change it",
                          holder));
  detail::Machine::Parts& parts = detail::machine(operation).parts();
  if (parts.job.life_epoch() != 0)
    parts.check_lost(operation, static_cast<std::uint32_t>(holder - 1));
}

}  // namespace

bool try_lock(global_ptr<lock_t> l) {
  constexpr const char* kOperation = "try_lock";
  const std::uint64_t holder = change(kOperation, l, 0, me());
  if (holder != 0 && holder != me()) check_holder(kOperation, l, holder);
  return holder == 0;
}

void lock(global_ptr<lock_t> l) {
  constexpr const char* kOperation = "lock";
  constexpr int kEagerTries = 100;
  for (int tries = 0;;) {
    std::uint64_t holder = change(kOperation, l, 0, me());
    if (holder == 0) return;
    if (holder == me())
      stop_lock(kOperation, l,
                "is held by this process already, which would wait for itself: unlock it first");
    for (; holder != 0; holder = holder_of(kOperation, l), ++tries) {
      check_holder(kOperation, l, holder);
      poll();
      if (tries < kEagerTries) {
        sched_yield();
      } else {
        const timespec pause{0, 50'000};
        nanosleep(&pause, nullptr);
      }
    }
  }
}

void unlock(global_ptr<lock_t> l) {
  constexpr const char* kOperation = "unlock";
  const std::uint64_t holder = change(kOperation, l, me(), 0);
  if (holder == me()) return;
  stop_lock(kOperation, l,
            (holder == 0 ? std::string("is held by nobody")
                         : fmt::format("is held by process {}", holder - 1)) +
                fmt::format(", not by this one ({}): unlock it once, in the process that has "
                            "locked it",
                            detail::hot.myproc));
}

}  // namespace viaduct::splitc
