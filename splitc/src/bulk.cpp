/// Blocks of data: one copy where the memory is mapped, else messages with staged pieces.

#include "viaduct/splitc/bulk.hpp"

#include <algorithm>
#include <cstring>

#include "splitc/src/wait.hpp"
#include "viaduct/splitc/store.hpp"

namespace viaduct::splitc::detail {

using wire_format::Op;

namespace {

/// A staging block of a get is free after its reply; that of a put or store, after its handling.
bool is_free(Machine::Impl& impl, Stage::Block& block) {
  if (block.channel != nullptr &&
      (block.channel->ended ||
       (block.to == nullptr && impl.is_handled(*block.channel, block.ticket))))
    block.channel = nullptr;
  return block.channel == nullptr;
}

struct Run {
  std::uint32_t first;
  std::size_t bytes;
};

/// The next blocks of the stage, for @p bytes bytes over @p c or fewer: one block, which the call
/// waits for, and to another host the free ones behind it.
Run take_blocks(Machine::Impl& impl, const Channel& c, const char* operation, std::size_t bytes) {
  Stage& stage = *impl.stage;
  // A handler that the wait runs may take the block.
  while (!is_free(impl, stage[stage.next()])) {
    Stage::Block& block = stage[stage.next()];
    impl.wait(operation, block.channel->process, [&] { return is_free(impl, block); });
  }
  const std::uint32_t first = stage.next();
  stage.advance();
  const std::size_t most = c.channel->is_remote() ? kMostFarBytes : kBlockBytes;
  std::size_t taken = kBlockBytes;
  while (taken < std::min(bytes, most) && stage.next() > first &&
         is_free(impl, stage[stage.next()])) {
    stage.advance();
    taken += kBlockBytes;
  }
  return {first, std::min(bytes, taken)};
}

/// Sends one block_write or block_store for each piece. Answers the last one's ticket. @p stored:
/// the client word of a store; null: the pieces are written.
std::uint64_t send_pieces(Machine::Impl& impl, Channel& c, const char* operation,
                          const std::uint64_t* stored, std::uint64_t to, const std::byte* from,
                          std::size_t bytes) {
  std::uint64_t ticket = 0;
  Stage& stage = *impl.stage;
  for (std::size_t at = 0; at < bytes;) {
    constexpr std::uint64_t kNotSent = ~std::uint64_t{0};
    const auto [i, n] = take_blocks(impl, c, operation, bytes - at);
    stage.use(i, {&c, kNotSent, nullptr, n, 0});
    std::memcpy(stage.data(i), from + at, n);
    const std::uint64_t words[] = {without_process(to) + at, n, stage.offset(i)};
    const std::uint64_t client =
        stored != nullptr ? *stored : wire_format::make(Op::block_write, i);
    ticket = impl.request(c, operation, client, words, 24);
    stage.use(i, {&c, ticket, nullptr, n, 0});
    at += n;
  }
  return ticket;
}

/// Waits until the target has copied a block of @p bytes bytes. A process that sleeps is woken
/// late, so this one stays awake for as long as such a copy takes on a slow machine.
void await_copy(Machine::Impl& impl, Channel& c, const char* operation, std::uint64_t ticket,
                std::size_t bytes) {
  constexpr std::uint64_t kBytesPerNs = 4;
  constexpr std::uint64_t kMostNs = 1'000'000;
  if (impl.is_handled(c, ticket)) return;
  impl.check_may_wait(operation);
  if (impl.job.wait_policy().spin_ticks != 0) {
    const std::uint64_t until = monotonic_ns() + std::min(bytes / kBytesPerNs, kMostNs);
    while (!impl.is_handled(c, ticket) && monotonic_ns() < until) impl.poll_now();
  }
  impl.finish(operation, {ticket, c.process, c.index, Handle::kHandled});
}

/// Withdraws the offer of a block of @p bytes bytes in the message @p ticket when the target does
/// not come soon: a target that computes does not keep its senders from computing. Waits for about
/// as long as a target needs that polls already, and serves others meanwhile.
/// @return false: the offer is withdrawn.
bool is_answered_soon(Machine::Impl& impl, Channel& c, std::uint64_t ticket, std::size_t bytes) {
  constexpr std::uint64_t kPatienceNs = 2'000;
  constexpr std::uint64_t kBytesPerNs = 32;
  const std::uint64_t until = monotonic_ns() + kPatienceNs + bytes / kBytesPerNs;
  while (!impl.is_handled(c, ticket)) {
    impl.poll_now();
    if (monotonic_ns() < until) continue;
    Offer::State state = Offer::open;
    return !impl.stage->offer().state.compare_exchange_strong(state, Offer::withdrawn);
  }
  return true;
}

/// Lets the target copy the block from where it lies. False: not in good time, or the target does
/// not reach that memory, and the block is to be sent.
bool is_pulled(Machine::Impl& impl, Channel& c, const char* operation, std::uint64_t client,
               std::uint64_t to, const void* from, std::size_t bytes) {
  // More than the staging blocks hold waits for the target in any case.
  const bool may_withdraw = bytes <= impl.stage->bytes();
  Offer& offer = impl.stage->offer();
  if (offer.state.load(kAcquire) != Offer::none ||
      (may_withdraw && (impl.job.wait_policy().spin_ticks == 0 || impl.engine->runs_handler())))
    return false;
  offer.state.store(Offer::open, kRelease);
  const std::uint64_t words[] = {without_process(to), bytes, impl.machine.memory().globalize(from),
                                 impl.stage->offer_offset()};
  const std::uint64_t ticket = impl.request(c, operation, client, words, 32);
  if (may_withdraw && !is_answered_soon(impl, c, ticket, bytes)) return false;
  await_copy(impl, c, operation, ticket, bytes);
  const Offer::State answer = offer.state.load(kAcquire);
  offer.state.store(Offer::none, kRelaxed);
  return answer == Offer::taken;
}

Handle get_pieces(Machine::Impl& impl, Channel& c, const char* operation, std::byte* to,
                  std::uint64_t from, std::size_t bytes) {
  Handle handle;
  Stage& stage = *impl.stage;
  for (std::size_t at = 0; at < bytes;) {
    const auto [i, n] = take_blocks(impl, c, operation, bytes - at);
    const std::uint64_t words[] = {without_process(from) + at, n, stage.offset(i)};
    stage.use(i, {&c, c.sent() + 1, to + at, n, 0});
    handle = impl.note_get(
        c, impl.request(c, operation, wire_format::make(Op::block_read, i), words, 24));
    at += n;
  }
  return handle;
}

}  // namespace

/// Whether no process of another host has to read this process' blocks any more.
bool Machine::Impl::are_far_blocks_taken() {
  for (std::uint32_t i = 0; i < stage->bytes() / kBlockBytes; ++i) {
    Stage::Block& block = (*stage)[i];
    if (!is_free(*this, block) && block.channel->channel->is_remote()) return false;
  }
  return true;
}

Handle block_by_message(Machine::Impl& impl, const char* operation, std::uint64_t word,
                        std::byte* local, std::size_t bytes, bool out) {
  Channel& c = impl.channel(process_of(word), true, operation);
  if (!out) return get_pieces(impl, c, operation, local, word, bytes);
  return impl.note_put(c, send_pieces(impl, c, operation, nullptr, word, local, bytes));
}

void bulk_read(void* to, std::uint64_t from, std::size_t bytes) {
  complete("bulk_read", from, to, bytes, Transfer::read);
}

void bulk_write(std::uint64_t to, const void* from, std::size_t bytes) {
  complete("bulk_write", to, const_cast<void*>(from), bytes, Transfer::write);
}

Handle bulk_get(void* to, std::uint64_t from, std::size_t bytes) {
  return transfer("bulk_get", from, to, bytes, Transfer::get);
}

Handle bulk_put(std::uint64_t to, const void* from, std::size_t bytes) {
  return put_as("bulk_put", to, from, bytes);
}

void bulk_store_now(std::uint64_t to, const void* from, std::size_t bytes) {
  (void)put_as("bulk_store_now", to, from, bytes);
}

/// Small blocks go in a slot, middling ones through the stage; the target on this host fetches
/// large ones itself, where it polls already or the stage is too small.
void store_block(const char* operation, std::uint64_t to, const void* from, std::size_t bytes,
                 std::uint32_t count) {
  Machine::Impl& impl = machine(operation).impl();
  if (bytes <= kInlineData) {
    if (bytes == 0) return light_poll();
    check_local(operation, from, bytes);
    return store_value(operation, to, from, bytes, count);
  }
  light_poll();
  check_local(operation, from, bytes);
  const std::uint32_t process = process_of(to);
  const auto place =
      impl.locate(operation, to, process == hot.myproc ? bytes : 1, Machine::Impl::Use::writes);
  impl.count(kStores);
  if (process == hot.myproc) {
    std::memmove(place.here, from, bytes);
    impl.delivered[count] += bytes;
    return;
  }
  // All stores use one channel, even where other blocks have a channel of their own, so that stores
  // arrive in the order of the calls.
  Channel& c = impl.channel(process, false, operation);
  impl.note_store(c);
  if (bytes > kBlockBytes && impl.path != Path::message && !impl.is_remote(process) &&
      machine(operation).memory().is_shared(from, bytes) &&
      is_pulled(impl, c, operation, wire_format::make_store(Op::pull, count), to, from, bytes))
    return;
  if (bytes <= impl.most_in_lines(process)) {
    for (std::size_t at = 0; at < bytes; at += kInlineData) {
      const std::size_t n = std::min(kInlineData, bytes - at);
      std::uint64_t words[via::kWordsPerSlot] = {without_process(to) + at};
      std::memcpy(words + 1, static_cast<const std::byte*>(from) + at, n);
      (void)impl.request(c, operation, wire_format::make_store(Op::store, count), words,
                         static_cast<std::uint32_t>(8 + n));
      ++c.others;  // which has been counted as a store
    }
    return;
  }
  const std::uint64_t client = wire_format::make_store(Op::block_store, count);
  (void)send_pieces(impl, c, operation, &client, to, static_cast<const std::byte*>(from), bytes);
}

void bulk_store(std::uint64_t to, const void* from, std::size_t bytes) {
  constexpr const char* kOperation = "bulk_store";
  store_block(kOperation, to, from, bytes, machine(kOperation).impl().epoch);
}

void bulk_store_on(std::uint64_t to, const void* from, std::size_t bytes, std::uint32_t count) {
  store_block("bulk_store", to, from, bytes, count);
}

}  // namespace viaduct::splitc::detail
