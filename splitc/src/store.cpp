/// Signalling stores, and the waits for them.

#include "viaduct/splitc/store.hpp"

#include <atomic>
#include <cstring>
#include <string>

#include "runtime/errors/codes.hpp"
#include "splitc/src/wait.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/splitc/sync.hpp"

namespace viaduct::splitc {
namespace detail {

void store_value(const char* operation, std::uint64_t to, const void* from, std::size_t bytes,
                 std::uint32_t count) {
  Machine::Impl& impl = machine(operation).impl();
  light_poll();
  const std::uint32_t process = process_of(to);
  Channel* c = process < impl.channels.size() ? impl.channels[process][0].get() : nullptr;
  if (c == nullptr || !c->open_store || is_null(to)) [[unlikely]] {
    const auto place = impl.locate(operation, to, bytes, Machine::Impl::Use::writes);
    if (process == hot.myproc) {
      std::memmove(place.here, from, bytes);
      impl.delivered[count] += bytes;
      return;
    }
    c = &impl.channel(process, false, operation);
    impl.note_store(*c);
  }
  std::uint64_t words[via::kWordsPerSlot];
  words[0] = without_process(to);
  if (bytes == 8) {
    std::memcpy(words + 1, from, 8);
  } else {
    words[(bytes + 7) / 8] = 0;
    std::memcpy(words + 1, from, bytes);
  }
  (void)impl.request(*c, operation, wire_format::make_store(wire_format::Op::store, count), words,
                     static_cast<std::uint32_t>(8 + bytes));
}

/// A counted store's header: the caller's part, from store_form(), and the constant part.
[[nodiscard]] static constexpr std::uint64_t header_of(std::uint64_t form) noexcept {
  return form + via::header::make(via::MessageKind::inline_data, 8,
                                  wire_format::make_store(wire_format::Op::store, 0));
}
static_assert(header_of(store_form(8, 255)) ==
              via::header::make(via::MessageKind::inline_data, 16,
                                wire_format::make_store(wire_format::Op::store, 255)));

[[nodiscard]] static std::uint64_t header_of_epoch(const Machine::Impl& impl,
                                                   std::uint32_t bytes) noexcept {
  return via::header::make(via::MessageKind::inline_data, 8 + bytes,
                           wire_format::make_store(wire_format::Op::store, impl.epoch));
}

/// Sends a slot with the value if that needs no wait. False: nothing was sent. @p polled: the
/// caller has just polled.
template <bool polled, class Header>
[[gnu::always_inline]] static inline bool send_bits(std::uint64_t to, std::uint64_t bits,
                                                    Header&& header) {
  if (hot.machine == nullptr) [[unlikely]]
    return false;
  Machine::Impl& impl = hot.machine->impl();
  const std::uint32_t process = process_of(to);
  Channel* const c = process < impl.channels.size() ? impl.channels[process][0].get() : nullptr;
  if (c == nullptr || !c->open_store || is_null(to)) [[unlikely]]
    return false;
  if (!Machine::Impl::may_send_at_once<polled>(*c)) return false;
  via::channel::Channel& channel = *c->channel;
  via::Slot& slot = channel.known_slot();
  const std::uint64_t h = header(impl);
  slot.put_pair(without_process(to), bits);
  channel.publish(slot, h);
  return true;
}

// Not inlined, so that store_bits() writes no memory but the slot and the channel's count of slots:
// the rate of a stream of messages is limited by how fast the cache lines that it writes come to
// this core, several at a time, and every other store competes with them.
[[gnu::noinline]] static void store_bits_slow(std::uint64_t to, std::uint64_t bits,
                                              std::uint32_t bytes) {
  (void)machine("store");  // else the program is told of a poll that it may not make
  light_poll();
  const auto header = [bytes](const Machine::Impl& impl) { return header_of_epoch(impl, bytes); };
  if (!send_bits<true>(to, bits, header))
    store_value("store", to, &bits, bytes, machine("store").impl().epoch);
}

void store_bits(std::uint64_t to, std::uint64_t bits, std::uint32_t bytes) {
  const auto header = [bytes](const Machine::Impl& impl) { return header_of_epoch(impl, bytes); };
  if (!send_bits<false>(to, bits, header)) store_bits_slow(to, bits, bytes);
}

[[gnu::noinline]] static void store_bits_on_slow(std::uint64_t to, std::uint64_t bits,
                                                 std::uint64_t form) {
  (void)machine("store");
  light_poll();
  const std::uint64_t whole = header_of(form);
  if (!send_bits<true>(to, bits, [whole](const Machine::Impl&) { return whole; }))
    store_value("store", to, &bits, via::header::length(whole) - 8,
                wire_format::count_place(via::header::client(whole)));
}

void store_bits_on(std::uint64_t to, std::uint64_t bits, std::uint64_t form) {
  const auto header = [form](const Machine::Impl&) { return header_of(form); };
  if (!send_bits<false>(to, bits, header)) store_bits_on_slow(to, bits, form);
}

void count_own_store(std::size_t bytes) noexcept {
  Machine::Impl& impl = hot.machine->impl();
  impl.delivered[impl.epoch] += bytes;
}

void store_slow(std::uint64_t to, const void* from, std::size_t bytes) {
  store_slow_on(to, from, bytes, machine("store").impl().epoch);
}

void store_slow_on(std::uint64_t to, const void* from, std::size_t bytes, std::uint32_t count) {
  constexpr const char* kOperation = "store";
  if (bytes > kInlineData) return store_block(kOperation, to, from, bytes, count);
  store_value(kOperation, to, from, bytes, count);
}

void Machine::Impl::note_store(Channel& c) {
  if (c.open_store) return;
  c.open_store = true;
  open_stores.push_back(&c);
}

}  // namespace detail

namespace {

/// Finds out whether no store can come any more that this process waits for.
class Exhaustion {
 public:
  explicit Exhaustion(const detail::Machine::Impl& impl) noexcept : impl_(impl) {}

  /// @p here: how many bytes have come. The answer is true only after kGraceNs without a byte,
  /// since stores may still be on their way.
  [[nodiscard]] bool is_certain(std::uint64_t here) noexcept {
    constexpr std::uint64_t kGraceNs = 2'000'000'000;
    if (!impl_.all_others_are_ahead()) return false;
    const std::uint64_t now = monotonic_ns();
    if (since_ns_ == 0 || here != here_) {
      since_ns_ = now;
      here_ = here;
    }
    return now - since_ns_ >= kGraceNs;
  }

 private:
  const detail::Machine::Impl& impl_;
  std::uint64_t since_ns_ = 0;
  std::uint64_t here_ = 0;
};

/// Waits until @p bytes bytes have come at @p here. Hang reports, and the log when the wait fails,
/// show how many have come.
void await_stores(detail::Machine::Impl& impl, const char* operation, const std::uint64_t& here,
                  std::size_t bytes) {
  const std::string name = operation;
  if (bytes > detail::kAddressMask)
    detail::stop(errors::waits_for_ever, operation,
                 std::to_string(bytes) + " bytes never come: the count is negative or too large");
  RankRecord& record = impl.job.record(impl.job.rank());
  record.bytes_expected.store(bytes, std::memory_order_relaxed);
  Exhaustion exhaustion(impl);
  const auto done = [&] {
    record.bytes_seen.store(here, std::memory_order_relaxed);
    return here >= bytes || exhaustion.is_certain(here);
  };
  try {
    impl.wait(operation, detail::kAnyone, done);
    if (here < bytes)
      throw Error(errors::waits_for_ever, std::errc::resource_deadlock_would_occur,
                  name +
                      ": no process will store more here: all others have returned from "
                      "splitc_main, or wait for this one in a collective call");
  } catch (const Error&) {
    impl.job.log().write(LogLevel::error, name + ": " + std::to_string(here) + " of " +
                                              std::to_string(bytes) + " bytes have come");
    throw;
  }
  record.bytes_expected.store(0, std::memory_order_relaxed);
  record.bytes_seen.store(0, std::memory_order_relaxed);
}

/// Waits for @p bytes bytes at @p here and subtracts them.
void take_stores(detail::Machine::Impl& impl, const char* operation, std::uint64_t& here,
                 std::size_t bytes) {
  impl.poll_now();
  if (here < bytes) await_stores(impl, operation, here, bytes);
  here -= bytes;
  detail::full_fence<detail::Fence::store_sync>();
}

}  // namespace

void store_sync(std::size_t bytes) {
  auto& impl = detail::machine("store_sync").impl();
  take_stores(impl, "store_sync", impl.delivered[impl.epoch], bytes);
}

void store_counter::wait(std::size_t bytes) const {
  constexpr const char* kOperation = "store_counter::wait";
  auto& impl = detail::machine(kOperation).impl();
  take_stores(impl, kOperation, impl.delivered[place_], bytes);
}

bool store_counter::is_stored(std::size_t bytes) const {
  auto& impl = detail::machine("store_counter::is_stored").impl();
  impl.look();
  return impl.delivered[place_] >= bytes;
}

void store_counter::reset() const {
  auto& impl = detail::machine("store_counter::reset").impl();
  impl.poll_now();
  impl.delivered[place_] = 0;
}

void store_counter::refuse(std::uint32_t number) {
  throw Error(errors::no_such_counter, std::errc::invalid_argument,
              "store_counter: " + std::to_string(number) + " is none: counters are numbered 0 to " +
                  std::to_string(kStoreCounters - 1));
}

bool is_stored(std::size_t bytes) {
  auto& impl = detail::machine("is_stored").impl();
  impl.look();
  return impl.delivered[impl.epoch] >= bytes;
}

void reset_store_sync() {
  auto& impl = detail::machine("reset_store_sync").impl();
  impl.poll_now();
  impl.delivered[impl.epoch] = 0;
}

void all_store_sync() {
  constexpr const char* kOperation = "all_store_sync";
  auto& impl = detail::machine(kOperation).impl();
  // By number: a wait may make channels, which moves the list.
  for (std::size_t i = 0; i < impl.open_stores.size(); ++i) {
    detail::Channel* const c = impl.open_stores[i];
    if (!impl.is_handled(*c, c->sent()))
      impl.wait(kOperation, c->process, [&] { return impl.is_handled(*c, c->sent()); });
    c->open_store = false;
  }
  impl.open_stores.clear();
  detail::CollectiveEngine& collective_engine = detail::collective_engine(kOperation);
  if (detail::hot.procs == 1)
    collective_engine.alone(detail::CollectiveKind::store_sync);
  else
    collective_engine.barrier(detail::kStoreSyncCall);
  impl.delivered[impl.epoch] = 0;
  impl.epoch ^= 1;
}

}  // namespace viaduct::splitc
