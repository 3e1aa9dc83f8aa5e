/// Signalling stores, and what waits for them.

#include "splitc/store.hpp"

#include <atomic>
#include <cstring>
#include <string>

#include "runtime/error.hpp"
#include "splitc/src/wait.hpp"
#include "splitc/sync.hpp"

namespace viaduct::splitc {
namespace detail {

void store_value(const char* operation, std::uint64_t to, const void* from, std::size_t bytes) {
  Machine::Impl& impl = machine(operation).impl();
  light_poll();
  const std::uint32_t process = process_of(to);
  Channel* c = process < impl.channels.size() ? impl.channels[process][0].get() : nullptr;
  if (c == nullptr || !c->open_store || address_of(to) == 0) [[unlikely]] {
    const auto place = impl.locate(operation, to, bytes);
    if (process == hot.myproc) {
      std::memmove(place.here, from, bytes);
      impl.delivered[impl.epoch] += bytes;
      return;
    }
    c = &impl.channel(process, false, operation);
    impl.note_store(*c);
  }
  std::uint64_t words[via::shm::kWordsPerSlot];
  words[0] = address_of(to);
  if (bytes == 8) {
    std::memcpy(words + 1, from, 8);
  } else {
    words[(bytes + 7) / 8] = 0;
    std::memcpy(words + 1, from, bytes);
  }
  impl.count(kStores);
  (void)impl.request(*c, operation, wire_format::make(wire_format::Op::store, 0, impl.epoch), words,
                     static_cast<std::uint32_t>(8 + bytes));
}

// Not inlined, so that store_bits() writes nothing to memory but the line and what counts it: a
// stream of messages goes as fast as the lines of its stores come to this core, several at a time,
// and stores to other places take their turn among them.
[[gnu::noinline]] static void store_bits_slow(std::uint64_t to, std::uint64_t bits,
                                              std::uint32_t bytes) {
  store_value("store", to, &bits, bytes);
}

void store_bits(std::uint64_t to, std::uint64_t bits, std::uint32_t bytes) {
  if (hot.machine == nullptr) [[unlikely]]
    return store_bits_slow(to, bits, bytes);
  Machine::Impl& impl = hot.machine->impl();
  const std::uint32_t process = process_of(to);
  Channel* const c = process < impl.channels.size() ? impl.channels[process][0].get() : nullptr;
  if (c == nullptr || !c->open_store || address_of(to) == 0) [[unlikely]]
    return store_bits_slow(to, bits, bytes);
  via::shm::Slot* const slot = impl.claim_at_once(*c);
  if (slot == nullptr) return store_bits_slow(to, bits, bytes);
  slot->put(0, address_of(to));
  slot->put(1, bits);
  impl.count(kStores);
  ++c->sent;
  c->vi->publish(*slot,
                 via::shm::header::make(via::shm::MessageKind::inline_data, 8 + bytes,
                                        wire_format::make(wire_format::Op::store, 0, impl.epoch)));
}

void count_own_store(std::size_t bytes) noexcept {
  Machine::Impl& impl = hot.machine->impl();
  impl.delivered[impl.epoch] += bytes;
}

void store_slow(std::uint64_t to, const void* from, std::size_t bytes) {
  constexpr const char* kOperation = "store";
  if (bytes > kInlineData) return store_block(kOperation, to, from, bytes);
  store_value(kOperation, to, from, bytes);
}

void Machine::Impl::note_store(Channel& c) {
  if (c.open_store) return;
  c.open_store = true;
  open_stores.push_back(&c);
}

}  // namespace detail

namespace {

/// Whether nothing can come any more that this process waits for.
class Exhaustion {
 public:
  explicit Exhaustion(const detail::Machine::Impl& impl) noexcept : impl_(impl) {}

  /// @p here: how many bytes have come. Stores of the others may be on their way for a while.
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

/// Hang reports show how many bytes have come, and so does the end of a wait that fails.
void await_stores(detail::Machine::Impl& impl, const std::uint64_t& here, std::size_t bytes) {
  RankRecord& record = impl.job.record(impl.job.rank());
  record.bytes_expected.store(bytes, std::memory_order_relaxed);
  Exhaustion exhaustion(impl);
  const auto done = [&] {
    record.bytes_seen.store(here, std::memory_order_relaxed);
    return here >= bytes || exhaustion.is_certain(here);
  };
  try {
    impl.wait("store_sync", detail::kAnyone, done);
    if (here < bytes)
      throw Error(std::errc::resource_deadlock_would_occur,
                  "store_sync: no process will store more here: all others have returned from "
                  "splitc_main, or wait for this one in a collective call");
  } catch (const Error&) {
    impl.job.log().write(LogLevel::error, "store_sync: " + std::to_string(here) + " of " +
                                              std::to_string(bytes) + " bytes have come");
    throw;
  }
  record.bytes_expected.store(0, std::memory_order_relaxed);
  record.bytes_seen.store(0, std::memory_order_relaxed);
}

}  // namespace

void store_sync(std::size_t bytes) {
  auto& impl = detail::machine("store_sync").impl();
  impl.poll_now();
  std::uint64_t& here = impl.delivered[impl.epoch];
  if (here < bytes) await_stores(impl, here, bytes);
  here -= bytes;
  detail::full_fence<detail::Fence::store_sync>();
}

bool is_stored(std::size_t bytes) {
  auto& impl = detail::machine("is_stored").impl();
  impl.poll_now();
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
  for (detail::Channel* c : impl.open_stores) {
    if (!impl.is_handled(*c, c->sent))
      impl.wait(kOperation, c->process, [&] { return impl.is_handled(*c, c->sent); });
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
