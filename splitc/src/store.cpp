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
  Machine::Parts& parts = machine(operation).parts();
  light_poll();
  const std::uint32_t process = process_of(to);
  Channel* c = process < parts.channels.size() ? parts.channels[process][0].get() : nullptr;
  if (c == nullptr || !c->open_store || address_of(to) == 0) [[unlikely]] {
    const auto place = parts.locate(operation, to, bytes);
    if (process == hot.myproc) {
      std::memmove(place.here, from, bytes);
      parts.delivered[parts.epoch] += bytes;
      return;
    }
    c = &parts.channel(process, false, operation);
    parts.note_store(*c);
  }
  std::uint64_t words[via::shm::kWordsPerSlot];
  words[0] = address_of(to);
  if (bytes == 8) {
    std::memcpy(words + 1, from, 8);
  } else {
    words[(bytes + 7) / 8] = 0;
    std::memcpy(words + 1, from, bytes);
  }
  parts.count(kStores);
  (void)parts.request(*c, operation, wire::make(wire::Op::store, 0, parts.epoch), words,
                      static_cast<std::uint32_t>(8 + bytes));
}

// Apart, so that store_bits() writes nothing to memory but the line and what counts it: a stream of
// messages goes as fast as the lines of its stores come to this core, several at a time, and stores
// to other places take their turn among them.
[[gnu::noinline]] static void store_bits_slow(std::uint64_t to, std::uint64_t bits,
                                              std::uint32_t bytes) {
  store_value("store", to, &bits, bytes);
}

void store_bits(std::uint64_t to, std::uint64_t bits, std::uint32_t bytes) {
  if (hot.machine == nullptr) [[unlikely]]
    return store_bits_slow(to, bits, bytes);
  Machine::Parts& parts = hot.machine->parts();
  const std::uint32_t process = process_of(to);
  Channel* const c = process < parts.channels.size() ? parts.channels[process][0].get() : nullptr;
  if (c == nullptr || !c->open_store || address_of(to) == 0) [[unlikely]]
    return store_bits_slow(to, bits, bytes);
  via::shm::Slot* const slot = parts.claim_at_once(*c);
  if (slot == nullptr) return store_bits_slow(to, bits, bytes);
  slot->put(0, address_of(to));
  slot->put(1, bits);
  parts.count(kStores);
  ++c->sent;
  c->vi->publish(*slot, via::shm::header::make(via::shm::MessageKind::inline_data, 8 + bytes,
                                               wire::make(wire::Op::store, 0, parts.epoch)));
}

void count_own_store(std::size_t bytes) noexcept {
  Machine::Parts& parts = hot.machine->parts();
  parts.delivered[parts.epoch] += bytes;
}

void store_slow(std::uint64_t to, const void* from, std::size_t bytes) {
  constexpr const char* kOperation = "store";
  if (bytes > kInlineData) return store_block(kOperation, to, from, bytes);
  store_value(kOperation, to, from, bytes);
}

void Machine::Parts::note_store(Channel& c) {
  if (c.open_store) return;
  c.open_store = true;
  open_stores.push_back(&c);
}

}  // namespace detail

namespace {

/// Whether nothing can come any more that this process waits for.
class Exhaustion {
 public:
  explicit Exhaustion(const detail::Machine::Parts& parts) noexcept : parts_(parts) {}

  /// @p here: how many bytes have come. Stores of the others may be on their way for a while.
  [[nodiscard]] bool is_certain(std::uint64_t here) noexcept {
    constexpr std::uint64_t kGraceNs = 2'000'000'000;
    if (!parts_.all_others_are_ahead()) return false;
    const std::uint64_t now = monotonic_ns();
    if (since_ns_ == 0 || here != here_) {
      since_ns_ = now;
      here_ = here;
    }
    return now - since_ns_ >= kGraceNs;
  }

 private:
  const detail::Machine::Parts& parts_;
  std::uint64_t since_ns_ = 0;
  std::uint64_t here_ = 0;
};

/// Hang reports show how many bytes have come, and so does the end of a wait that fails.
void await_stores(detail::Machine::Parts& parts, const std::uint64_t& here, std::size_t bytes) {
  RankRecord& record = parts.job.record(parts.job.rank());
  record.bytes_expected.store(bytes, std::memory_order_relaxed);
  Exhaustion exhaustion(parts);
  const auto done = [&] {
    record.bytes_seen.store(here, std::memory_order_relaxed);
    return here >= bytes || exhaustion.is_certain(here);
  };
  try {
    parts.wait("store_sync", detail::kAnyone, done);
    if (here < bytes)
      throw Error(std::errc::resource_deadlock_would_occur,
                  "store_sync: no process will store more here: all others have returned from "
                  "splitc_main, or wait for this one in a collective call");
  } catch (const Error&) {
    parts.job.log().write(LogLevel::error, "store_sync: " + std::to_string(here) + " of " +
                                               std::to_string(bytes) + " bytes have come");
    throw;
  }
  record.bytes_expected.store(0, std::memory_order_relaxed);
  record.bytes_seen.store(0, std::memory_order_relaxed);
}

}  // namespace

void store_sync(std::size_t bytes) {
  auto& parts = detail::machine("store_sync").parts();
  parts.poll_now();
  std::uint64_t& here = parts.delivered[parts.epoch];
  if (here < bytes) await_stores(parts, here, bytes);
  here -= bytes;
  detail::full_fence<detail::Fence::store_sync>();
}

bool is_stored(std::size_t bytes) {
  auto& parts = detail::machine("is_stored").parts();
  parts.poll_now();
  return parts.delivered[parts.epoch] >= bytes;
}

void reset_store_sync() {
  auto& parts = detail::machine("reset_store_sync").parts();
  parts.poll_now();
  parts.delivered[parts.epoch] = 0;
}

void all_store_sync() {
  constexpr const char* kOperation = "all_store_sync";
  auto& parts = detail::machine(kOperation).parts();
  for (detail::Channel* c : parts.open_stores) {
    if (!parts.is_handled(*c, c->sent))
      parts.wait(kOperation, c->process, [&] { return parts.is_handled(*c, c->sent); });
    c->open_store = false;
  }
  parts.open_stores.clear();
  detail::Collector& collector = detail::collector(kOperation);
  if (detail::hot.procs == 1)
    collector.alone(detail::CollectiveKind::store_sync);
  else
    collector.barrier(detail::kStoreSyncCall);
  parts.delivered[parts.epoch] = 0;
  parts.epoch ^= 1;
}

}  // namespace viaduct::splitc
