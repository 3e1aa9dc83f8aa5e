/// Requests, replies, credits and counters (docs/splitc.md).

#include <sched.h>

#include <algorithm>
#include <bit>
#include <string>

#include "runtime/errors/codes.hpp"
#include "splitc/src/wait.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/parts.hpp"
#include "viaduct/splitc/detail/collective.hpp"

namespace viaduct::splitc::detail {

namespace header = via::header;

namespace {
// "SC": leaves other discriminators to other clients.
constexpr std::uint64_t kSplitC = std::uint64_t{0x5343} << 48;

[[noreturn]] void stop_ended(const char* operation, std::uint32_t process) {
  stop(errors::process_lost, operation,
       "process " + std::to_string(process) +
           " has ended Split-C and can no longer be reached: see why its splitc_main "
           "has failed, or let all processes meet in a barrier before the end");
}
}  // namespace

/// Makes this side of the channel and asks the peer for its own; an exception leaves no channel.
Channel& Machine::Impl::make_channel(std::uint32_t process, std::uint16_t which) {
  auto& slot = channels[process][which];
  if (slot != nullptr) return *slot;
  auto made = std::make_unique<Channel>();
  Channel& c = *made;
  c.process = process;
  c.index = which;
  via::channel::Options options;
  options.slots = flow.slots;
  options.release_every = options.slots / 8;
  options.client_bits = wire_format::kUsedBits;
  options.remote = nic->is_remote(Rank{process});
  if (options.remote) {
    constexpr std::uint32_t kSigns = 4;
    options.notifications = 2 * flow.credits + kSigns;
    options.extra_bytes = sizeof(StageName);
  }
  c.channel = nic->create_channel(*group, &c, options);
  if (options.remote) new (c.channel->prepare_extra()) StageName(stage_name());
  // So that no list of channels allocates while a request is under way.
  for (auto* const list : {&all_channels, &open, &open_stores, &dirty})
    list->reserve(std::bit_ceil(all_channels.size() + 1));
  c.ended = c.channel->connect_peer_start(Rank{process}, kSplitC | which) != Status::ok;
  all_channels.push_back(&c);
  slot = std::move(made);
  return c;
}

/// The name of this process' staging blocks, which the first call registers.
const StageName& Machine::Impl::stage_name() {
  if (own_stage_name.bytes == 0) {
    const std::uint32_t key = nic->transport()->register_memory(stage->data(0), stage->bytes());
    own_stage_name = {reinterpret_cast<std::uint64_t>(stage->data(0)), stage->offset(0),
                      stage->bytes(), key};
  }
  return own_stage_name;
}

void Machine::Impl::incoming(Rank from, std::uint64_t discriminator) {
  const auto which = static_cast<std::uint16_t>(discriminator);
  if ((discriminator & ~std::uint64_t{0xffff}) != kSplitC || which > 1 ||
      channels[index(from)][which] != nullptr)
    return nic->reject_peer(from, discriminator);
  try {
    (void)make_channel(index(from), which);
  } catch (const std::exception& problem) {
    stop(errors::system_refused, "a message of another process", problem.what());
  }
}

void Machine::Impl::ended(Channel& c, via::ErrorCause cause) {
  c.ended = true;
  if (cause == via::ErrorCause::disconnected) return;
  c.broken = {true, cause == via::ErrorCause::format};
  if (broken != kNobody) return;
  broken = c.process;
  broken_at_ns = monotonic_ns();
}

/// Ends an operation that needs channel @p c, which has ended.
void Machine::Impl::end_of(Channel& c, const char* operation) {
  check_lost(operation, c.process);
  check_lost(operation, kAnyone);  // the loss of another process may have ended it
  if (c.broken.is_there) wait(operation, c.process, [] { return false; });
  // A process whose splitc_main has failed ends its connections before its loss is known.
  constexpr std::uint64_t kGraceNs = 2'000'000'000;
  const std::uint64_t begin = monotonic_ns();
  wait(operation, c.process, [begin] { return monotonic_ns() - begin >= kGraceNs; });
  stop_ended(operation, c.process);
}

/// The connected channel to @p process.
Channel& Machine::Impl::channel(std::uint32_t process, bool blocks, const char* operation) {
  const auto which = static_cast<std::uint16_t>(blocks && machine.settings().vis == 2 ? 1 : 0);
  Channel* known = channels[process][which].get();
  if (known != nullptr && known->connected) [[likely]]
    return *known;
  Channel& c = known != nullptr ? *known : make_channel(process, which);
  count(kWaits);
  wait(operation, process,
       [&] { return c.ended || c.channel->state() != via::ViState::connecting; });
  if (c.ended || c.channel->state() != via::ViState::connected) {
    end_of(c, operation);
  }
  c.connected = true;
  return c;
}

void Machine::Impl::refresh_credits(Channel& c) noexcept {
  const std::uint64_t now = c.channel->peer_counter(0);
  if (now < c.counter || now > c.sent()) [[unlikely]]
    return c.channel->break_off("a count of requests carried out that cannot be");
  c.counter = now;
  if (now <= c.handled) return;
  c.handled = now;
  c.channel->update_room();  // the line is here now
}

/// As in a MAP: some credits are withheld while the line of the owner's counters is fetched, so
/// that a stream of requests does not stop for that cache miss.
bool Machine::Impl::find_credits(Channel& c) noexcept {
  note_requests(c);
  const auto raise = [&](std::uint32_t most) {
    const std::uint64_t sent = std::min(c.sent() + most, c.returned() + flow.credits);
    c.limit = std::max(c.limit, sent + c.replies);  // returned() may fall
  };
  if (!c.fetched) {
    c.channel->fetch_counters();
    raise(std::max(1U, publish_every / 2));
  } else {
    refresh_credits(c);
    raise(2 * publish_every);
  }
  c.fetched = !c.fetched;
  if (c.channel->slots_sent() == c.limit) {
    refresh_credits(c);
    raise(2 * publish_every);
  }
  return c.channel->slots_sent() != c.limit;
}

std::uint64_t Machine::Impl::request(Channel& c, const char* operation, std::uint64_t client,
                                     const std::uint64_t* words, std::uint32_t bytes) {
  via::Slot* slot = nullptr;
  bool credit = c.channel->slots_sent() != c.limit || find_credits(c);
  if (!credit || (slot = c.channel->claim()) == nullptr) [[unlikely]] {
    count(kWaits);
    wait(operation, c.process, [&] {
      if (c.ended) return true;
      // A handler that the wait runs may take the last credit.
      credit = c.channel->slots_sent() != c.limit || find_credits(c);
      return credit && (slot = c.channel->claim()) != nullptr;
    });
    if (c.ended) end_of(c, operation);
  }
  VIADUCT_PART(build);
  for (std::uint32_t i = 0; i < (bytes + 7) / 8; ++i) slot->put(i, words[i]);
  c.channel->publish(*slot, header::make(via::MessageKind::inline_data, bytes, client));
  c.others += wire_format::op(client) != wire_format::Op::store;
  return c.sent();
}

bool Machine::Impl::try_request(std::uint32_t process, std::uint64_t client,
                                const std::uint64_t* words, std::uint32_t bytes) {
  Channel& c = make_channel(process, 0);
  if (c.ended || c.channel->state() != via::ViState::connected) return false;
  c.connected = true;
  if (c.channel->slots_sent() == c.limit && !find_credits(c)) return false;
  via::Slot* const slot = c.channel->claim();
  if (slot == nullptr) return false;
  for (std::uint32_t i = 0; i < (bytes + 7) / 8; ++i) slot->put(i, words[i]);
  c.channel->publish(*slot, header::make(via::MessageKind::inline_data, bytes, client));
  ++c.others;
  return true;
}

/// The slot for a reply that claim() did not find: the slot is free (docs/splitc.md, Credits), but
/// the counter that says so is being written again. Null: there is no free slot.
static via::Slot* claim_late(via::channel::Channel& channel) noexcept {
  constexpr std::uint64_t kPatienceNs =
      1'000'000'000;  // a processor that writes a counter may have to wait for it
  const std::uint64_t start = monotonic_ns();
  while (channel.is_remote() && channel.state() == via::ViState::connected &&
         monotonic_ns() - start < kPatienceNs) {
    sched_yield();
    if (via::Slot* const slot = channel.claim()) return slot;
  }
  return nullptr;
}

void Machine::Impl::reply(Channel& c, wire_format::Op op, std::uint32_t index, std::uint64_t ticket,
                          const std::uint64_t* words, std::uint32_t bytes) noexcept {
  VIADUCT_PART(bookkeeping);
  via::Slot* slot = c.channel->claim();
  if (slot == nullptr) slot = claim_late(*c.channel);
  if (slot == nullptr) {
    if (c.ended || c.channel->state() != via::ViState::connected) return;
    stop(errors::nonsense, "reply",
         "no room in the ring: a peer has sent more requests than its credits");
  }
  VIADUCT_NEXT_PART(build);
  for (std::uint32_t i = 0; i < (bytes + 7) / 8; ++i) slot->put(i, words[i]);
  c.channel->publish(*slot, header::make(via::MessageKind::inline_data, bytes,
                                         wire_format::make(op, index, 0, ticket)));
  ++c.replies;
  ++c.limit;  // a reply takes a slot and no credit
}

void Machine::Impl::publish(Channel& c) noexcept {
  if (reads.channel == &c) finish_reads();
  c.published = c.served;
  c.urgent = false;
  if (c.channel->state() == via::ViState::connected) c.channel->release_and_publish(0, c.served);
}

/// @p all: also counts for which no process is known to wait.
void Machine::Impl::publish_dirty(bool all) noexcept {
  VIADUCT_PART(bookkeeping);
  std::erase_if(dirty, [&](Channel* c) {
    if (c->published != c->served &&
        (all || c->urgent || c->served - c->published >= publish_every))
      publish(*c);
    c->dirty = c->published != c->served;
    return !c->dirty;
  });
}

bool Machine::Impl::is_handled(Channel& c, std::uint64_t ticket) noexcept {
  if (c.handled < ticket) refresh_credits(c);
  return c.handled >= ticket;
}

bool Machine::Impl::is_complete(Handle handle) noexcept {
  if (handle.ticket == 0) return true;
  Channel& c = *channels[handle.process][handle.channel];
  if (handle.kind == Handle::kTransferred) return is_transferred(c, handle.ticket);
  return handle.kind == Handle::kReplied ? c.replied >= handle.ticket
                                         : is_handled(c, handle.ticket);
}

void Machine::Impl::note_open(Channel& c) {
  if (c.open) return;
  c.open = true;
  open.push_back(&c);
}

Handle Machine::Impl::note_get(Channel& c, std::uint64_t ticket) {
  note_open(c);
  return note_answered(c, ticket);
}

Handle Machine::Impl::note_answered(Channel& c, std::uint64_t ticket) noexcept {
  c.last_get = ticket;
  return {ticket, c.process, c.index, Handle::kReplied};
}

Handle Machine::Impl::note_put(Channel& c, std::uint64_t ticket) {
  note_open(c);
  c.last_put = ticket;
  return {ticket, c.process, c.index, Handle::kHandled};
}

void Machine::Impl::finish(const char* operation, Handle handle) {
  if (!is_complete(handle)) wait(operation, handle.process, [&] { return is_complete(handle); });
}

void Machine::send_slot(const char* operation, std::uint32_t process, std::uint32_t index,
                        std::uint64_t mark, const std::uint64_t* words, std::uint32_t count) {
  Impl& impl = *impl_;
  Channel& c = impl.channel(process, false, operation);
  std::uint64_t message[via::kWordsPerSlot] = {};
  if (count < via::kWordsPerSlot) {
    message[0] = mark;
    std::copy_n(words, count, message + 1);
    impl.request(c, operation, wire_format::make(wire_format::Op::slot, index), message,
                 8 * (count + 1));
    return;
  }
  std::copy_n(words, via::kWordsPerSlot, message);
  impl.request(c, operation, wire_format::make(wire_format::Op::slot_words, index), message,
               8 * via::kWordsPerSlot);
  impl.request(c, operation, wire_format::make(wire_format::Op::slot, index, 1), &mark, 8);
}

bool Machine::has_sent_slot(std::uint32_t process, std::uint32_t index, std::uint64_t mark,
                            const std::uint64_t* words, std::uint32_t& sent) {
  using wire_format::Op;
  constexpr std::uint32_t kBytes = 8 * via::kWordsPerSlot;
  if (sent == 0 &&
      impl_->try_request(process, wire_format::make(Op::slot_words, index), words, kBytes))
    ++sent;
  if (sent == 1 && impl_->try_request(process, wire_format::make(Op::slot, index, 1), &mark, 8))
    ++sent;
  if (sent < 2) return false;
  Channel& c = *impl_->channels[process][0];
  return c.ended || impl_->is_handled(c, c.sent());
}

}  // namespace viaduct::splitc::detail
