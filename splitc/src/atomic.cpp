/// Read-modify-write and functions at the owner.

#include "viaduct/splitc/atomic.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <cstring>
#include <ctime>
#include <exception>
#include <iterator>
#include <string>

#include "runtime/enum_name.hpp"
#include "runtime/errors/codes.hpp"
#include "splitc/src/wait.hpp"
#include "viaduct/splitc/sync.hpp"

namespace viaduct::splitc {
namespace detail {

namespace header = via::header;

namespace {

std::uint64_t modify(const char* operation, std::uint64_t to, Rmw what, std::uint64_t operand,
                     std::uint64_t expected, std::size_t bytes) {
  Machine::Impl& impl = machine(operation).impl();
  const auto place = impl.locate(operation, to, bytes, Machine::Impl::Use::writes);
  light_poll();
  if (place.here != nullptr) {
    impl.count(kDirect);
    return rmw_of(bytes, place.here, what, operand, expected);
  }
  Channel& c = impl.channel(process_of(to), false, operation);
  std::uint64_t old = 0;
  const std::uint64_t words[] = {without_process(to), operand, expected,
                                 reinterpret_cast<std::uint64_t>(&old)};
  const std::uint32_t index = static_cast<std::uint32_t>(what) | (bytes == 8 ? 0x10U : 0U);
  const std::uint64_t ticket =
      impl.request(c, operation, wire_format::make(wire_format::Op::modify, index), words, 32);
  impl.finish(operation, impl.note_answered(c, ticket));
  full_fence<Fence::rmw>();
  return old;
}

}  // namespace

std::uint64_t rmw_of(std::size_t bytes, std::byte* place, Rmw what, std::uint64_t operand,
                     std::uint64_t expected) noexcept {
  if (bytes == 8) return rmw_here<std::uint64_t>(place, what, operand, expected);
  return rmw_here<std::uint32_t>(place, what, static_cast<std::uint32_t>(operand),
                                 static_cast<std::uint32_t>(expected));
}

const char* to_string(Rmw what) noexcept {
  constexpr const char* kNames[] = {"fetch_add", "swap",     "compare_swap",
                                    "fetch_and", "fetch_or", "fetch_xor"};
  return enum_name<Rmw::bit_xor>(kNames, what, "an unknown atomic");
}

std::uint64_t rmw_slow(std::uint64_t to, Rmw what, std::uint64_t operand, std::uint64_t expected,
                       std::size_t bytes) {
  return modify(to_string(what), to, what, operand, expected, bytes);
}

void stop_thrown(std::uint32_t process, const char* what) {
  stop(errors::function_threw, "atomic",
       "the function that process " + std::to_string(process) + " runs in process " +
           std::to_string(hot.myproc) + " threw: " + what +
           "; catch it in the function, and answer that it failed by its result");
}

void stop_null_call(const char* operation) {
  stop(errors::null_pointer, operation, "the global pointer is null: give it an object's address");
}

namespace {

inline std::uint64_t sendable(const char* operation, const Code& code, CallThunk thunk) {
  const std::uint64_t number = code.number_of(thunk);
  if (number == 0) [[unlikely]]
    stop(errors::function_elsewhere, operation,
         "the function is in a shared library: functions that run in other processes must be in "
         "the program itself");
  return number;
}

/// Whether the arguments begin with an object's address.
enum class Begins : bool { with_any, with_object };

/// The bits of the message's index.
constexpr std::uint32_t index_of(Begins begins, std::uint32_t result_bytes = 0) noexcept {
  return result_bytes | (begins == Begins::with_object ? wire_format::kNamesObject : 0);
}

/// Runs the function in this process.
void run_here(const char* operation, Machine::Impl& impl, CallThunk thunk, const void* arguments,
              Begins begins, std::byte* answer) {
  if (begins == Begins::with_object) {
    std::uint64_t object;
    std::memcpy(&object, arguments, sizeof object);
    (void)impl.own_place(operation, hot.myproc, without_process(object), 1);
  }
  run_guest(hot.myproc, thunk, static_cast<const std::byte*>(arguments), answer);
}

Handle put_slow(std::uint32_t process, CallThunk thunk, const std::uint64_t* words,
                std::uint32_t bytes, Begins begins) {
  constexpr const char* kOperation = "atomic_put";
  Machine::Impl& impl = machine(kOperation).impl();
  if (process >= impl.job.size())
    stop_no_process(kOperation, "the call", static_cast<std::int32_t>(process));
  light_poll();
  if (process == hot.myproc) {
    run_here(kOperation, impl, thunk, words, begins, nullptr);
    return {};
  }
  Channel& c = impl.channel(process, false, kOperation);
  std::uint64_t line[via::kWordsPerSlot] = {sendable(kOperation, impl.code, thunk)};
  std::memcpy(line + 1, words, bytes);
  return impl.note_put(
      c, impl.request(c, kOperation, wire_format::make(wire_format::Op::run, index_of(begins)),
                      line, 8 + bytes));
}

template <Begins How>
[[gnu::always_inline]] inline Handle put(std::uint32_t process, CallThunk thunk,
                                         const std::uint64_t* words, std::uint32_t bytes) {
  if (hot.machine == nullptr) [[unlikely]]
    return put_slow(process, thunk, words, bytes, How);
  Machine::Impl& impl = hot.machine->impl();
  Channel* const c = process < impl.channels.size() ? impl.channels[process][0].get() : nullptr;
  if (c == nullptr || !c->open) return put_slow(process, thunk, words, bytes, How);
  if (!Machine::Impl::may_send_at_once(*c)) return put_slow(process, thunk, words, bytes, How);
  via::channel::Channel& channel = *c->channel;
  via::Slot& slot = channel.known_slot();
  slot.put(0, sendable("atomic_put", impl.code, thunk));
  for (std::uint32_t i = 0; i < (bytes + 7) / 8; ++i) slot.put(i + 1, words[i]);
  c->last_put = c->sent() + 1;
  ++c->others;
  channel.publish(slot, header::make(via::MessageKind::inline_data, 8 + bytes,
                                     wire_format::make(wire_format::Op::run, index_of(How))));
  return {c->last_put, c->process, c->index, 0};  // read again: a register kept is one more saved
}

void call(std::uint32_t process, CallThunk thunk, const void* arguments, std::size_t bytes,
          Begins begins, void* result, std::size_t result_bytes) {
  constexpr const char* kOperation = "atomic";
  Machine::Impl& impl = machine(kOperation).impl();
  if (process >= impl.job.size())
    stop_no_process(kOperation, "the call", static_cast<std::int32_t>(process));
  light_poll();
  if (process == hot.myproc) {
    std::byte answer[kResultBytes] = {};
    run_here(kOperation, impl, thunk, arguments, begins, answer);
    if (result_bytes != 0) std::memcpy(result, answer, result_bytes);
    full_fence<Fence::call>();  // a call by message is a full fence by itself
    return;
  }
  const std::uint64_t number = sendable(kOperation, impl.code, thunk);
  Channel& c = impl.channel(process, false, kOperation);
  std::uint64_t words[via::kWordsPerSlot] = {number, reinterpret_cast<std::uint64_t>(result)};
  std::memcpy(words + 2, arguments, bytes);
  const std::uint64_t ticket =
      impl.request(c, kOperation,
                   wire_format::make(wire_format::Op::call,
                                     index_of(begins, static_cast<std::uint32_t>(result_bytes))),
                   words, static_cast<std::uint32_t>(16 + bytes));
  impl.finish(kOperation, impl.note_answered(c, ticket));
}

}  // namespace

Handle call_put(std::uint32_t process, CallThunk thunk, const std::uint64_t* words,
                std::uint32_t bytes) {
  return put<Begins::with_any>(process, thunk, words, bytes);
}

Handle call_at_put(std::uint32_t process, CallThunk thunk, const std::uint64_t* words,
                   std::uint32_t bytes) {
  return put<Begins::with_object>(process, thunk, words, bytes);
}

void call_slow(std::uint32_t process, CallThunk thunk, const void* arguments, std::size_t bytes,
               void* result, std::size_t result_bytes) {
  call(process, thunk, arguments, bytes, Begins::with_any, result, result_bytes);
}

void call_at_slow(std::uint32_t process, CallThunk thunk, const void* arguments, std::size_t bytes,
                  void* result, std::size_t result_bytes) {
  call(process, thunk, arguments, bytes, Begins::with_object, result, result_bytes);
}

}  // namespace detail

namespace {

/// The word of a lock that this process holds.
std::uint64_t me() noexcept { return std::uint64_t{detail::hot.myproc} + 1; }

[[noreturn, gnu::cold]] void stop_lock(const char* operation, global_ptr<lock_t> l,
                                       const std::string& what) {
  detail::stop(errors::bad_lock, operation,
               fmt::format("the lock at {:#x} of process {} {}", detail::address_of(l.word()),
                           l.process(), what));
}

/// compare_swap() of the lock's word on behalf of @p operation.
std::uint64_t change(const char* operation, global_ptr<lock_t> l, std::uint64_t expected,
                     std::uint64_t desired) {
  constexpr auto kWhat = detail::Rmw::compare_swap;
  if (detail::address_of(l.word()) % alignof(lock_t) != 0) [[unlikely]]
    stop_lock(operation, l, "is at no multiple of 8: it must be a lock_t, as the compiler lays it");
  if (std::byte* place = detail::place_of(l.word())) [[likely]] {
    detail::light_poll();
    return detail::rmw_here<std::uint64_t>(place, kWhat, desired, expected);
  }
  return detail::modify(operation, l.word(), kWhat, desired, expected, sizeof(lock_t));
}

std::uint64_t holder_of(const char* operation, global_ptr<lock_t> l) {
  if (const std::byte* place = detail::place_of(l.word())) {
    detail::light_poll();
    return detail::load_word<std::uint64_t>(place);
  }
  // Changes nothing. The owner reads the whole word; a device might read a half of it.
  return detail::modify(operation, l.word(), detail::Rmw::compare_swap, 0, 0, sizeof(lock_t));
}

/// @p holder: not this process, and not 0.
void check_holder(const char* operation, global_ptr<lock_t> l, std::uint64_t holder) {
  if (holder > detail::hot.procs) [[unlikely]]
    stop_lock(operation, l,
              fmt::format("holds {:#x}, which is no process: a lock begins as zeros, and lock(), "
                          "try_lock() and unlock() alone may change it",
                          holder));
  detail::Machine::Impl& impl = detail::machine(operation).impl();
  if (impl.job.life_epoch() != 0)
    impl.check_lost(operation, static_cast<std::uint32_t>(holder - 1));
}

}  // namespace

bool in_atomic() noexcept { return detail::hot.machine == nullptr; }

bool try_lock(global_ptr<lock_t> l) {
  constexpr const char* kOperation = "try_lock";
  const std::uint64_t holder = change(kOperation, l, 0, me());
  if (holder != 0 && holder != me()) check_holder(kOperation, l, holder);
  return holder == 0;
}

namespace {

/// Throws Error when @p holder still has the lock: it will not reach unlock() any more.
[[gnu::noinline, gnu::cold]] void check_given_up(const char* operation, global_ptr<lock_t> l,
                                                 std::uint64_t holder) {
  if (holder_of(operation, l) != holder) return;
  throw Error(errors::waits_for_ever, std::errc::resource_deadlock_would_occur,
              fmt::format("{}: process {} holds the lock and has returned from splitc_main, or "
                          "waits for this process in a collective call: unlock it before",
                          operation, holder - 1));
}

/// @p holder has the lock.
[[gnu::noinline]] void wait_for_lock(const char* operation, global_ptr<lock_t> l,
                                     std::uint64_t holder) {
  constexpr int kEagerLooks = 100;
  detail::Machine::Impl& impl = detail::machine(operation).impl();
  impl.check_may_wait(operation);
  ShownWait waiting(impl.job);
  for (int looks = 0; holder != 0; ++looks) {
    check_holder(operation, l, holder);
    if (impl.is_ahead(static_cast<std::uint32_t>(holder - 1))) check_given_up(operation, l, holder);
    waiting.show(operation, static_cast<std::uint32_t>(holder - 1), Activity::waiting_message);
    // The holder of the lock may need this process, which stays awake as long as messages come.
    if (impl.poll_now(true) != 0) looks = 0;
    if (looks < kEagerLooks) {
      sched_yield();
    } else {
      waiting.before_sleep();
      const timespec pause{0, 50'000};
      nanosleep(&pause, nullptr);
    }
    holder = holder_of(operation, l);
    if (holder == 0) holder = change(operation, l, 0, me());
  }
}

}  // namespace

void lock(global_ptr<lock_t> l) {
  constexpr const char* kOperation = "lock";
  const std::uint64_t holder = change(kOperation, l, 0, me());
  if (holder == me())
    stop_lock(kOperation, l,
              "is held by this process already, which would wait for itself: unlock it first");
  if (holder != 0) wait_for_lock(kOperation, l, holder);
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
