/// Read-modify-write and functions at the owner.

#include "splitc/atomic.hpp"

#include <sched.h>
#include <cstring>
#include <ctime>

#include "splitc/src/code.hpp"
#include "splitc/src/wait.hpp"
#include "splitc/sync.hpp"

namespace viaduct::splitc {
namespace detail {

std::uint64_t rmw_slow(std::uint64_t to, Rmw what, std::uint64_t operand, std::uint64_t expected,
                       std::size_t bytes) {
  constexpr const char* kNames[] = {"fetch_add", "swap",     "compare_swap",
                                    "fetch_and", "fetch_or", "fetch_xor"};
  const char* const operation = kNames[static_cast<std::size_t>(what)];
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

void call_slow(std::uint32_t process, CallThunk thunk, const void* arguments, std::size_t bytes,
               void* result, std::size_t result_bytes) {
  constexpr const char* kOperation = "atomic";
  Machine::Parts& parts = machine(kOperation).parts();
  if (process >= parts.job.size() || parts.in_call)
    (void)parts.locate(kOperation, make_word(process, 1), 1);  // says what is wrong
  light_poll();
  if (process == hot.myproc) {
    std::byte answer[kResultBytes] = {};
    parts.in_call = true;
    thunk(static_cast<const std::byte*>(arguments), answer);
    parts.in_call = false;
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
global_ptr<std::uint64_t> holder_of(global_ptr<lock_t> l) {
  return global_ptr<std::uint64_t>::from_word(l.word());
}
}  // namespace

bool in_atomic() noexcept {
  return detail::hot.machine != nullptr && detail::hot.machine->parts().in_call;
}

bool try_lock(global_ptr<lock_t> l) {
  return compare_swap(holder_of(l), 0, std::uint64_t{detail::hot.myproc} + 1) == 0;
}

void lock(global_ptr<lock_t> l) {
  constexpr int kEagerTries = 100;
  for (int tries = 0; !try_lock(l); ++tries) {
    while (read(holder_of(l)) != 0) {
      poll();
      if (tries < kEagerTries) {
        sched_yield();
      } else {
        const timespec pause{0, 50'000};
        nanosleep(&pause, nullptr);
      }
      ++tries;
    }
  }
}

void unlock(global_ptr<lock_t> l) {
  const std::uint64_t me = std::uint64_t{detail::hot.myproc} + 1;
  if (compare_swap(holder_of(l), me, 0) != me)
    detail::stop("unlock", "this process does not hold the lock");
}

}  // namespace viaduct::splitc
