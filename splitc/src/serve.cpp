/// The owner's service for other processes, and the handling of replies.

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "runtime/enum_name.hpp"
#include "runtime/errors/codes.hpp"
#include "splitc/src/checks.hpp"
#include "splitc/src/code.hpp"
#include "splitc/src/machine_impl.hpp"
#include "splitc/src/mapped.hpp"
#include "splitc/src/served.hpp"
#include "via/copy.hpp"
#include "viaduct/runtime/parts.hpp"
#include "viaduct/runtime/prefetch.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/splitc/detail/collective.hpp"
#include "viaduct/via/transport.hpp"

namespace viaduct::splitc::detail {

namespace header = via::header;
using wire_format::Op;

namespace {

/// The operations that the program of the other process may have called.
const char* name_of(Op op) noexcept {
  constexpr const char* kNames[] = {"read or get",
                                    "write, put or store_now",
                                    "store",
                                    "bulk_read or bulk_get",
                                    "bulk_write, bulk_put or bulk_store_now",
                                    "bulk_store",
                                    "bulk_store"};
  return enum_name<Op::pull>(kNames, op, "message");
}

/// From the words of a slot.
void put_value(std::byte* to, const std::uint64_t* words, std::size_t bytes) noexcept {
  copy_value(to, reinterpret_cast<const std::byte*>(words), bytes,
             reinterpret_cast<std::uintptr_t>(to));
}

[[nodiscard]] CallThunk function_of(const Code& code, const Channel& c, std::uint64_t number) {
  const CallThunk thunk = code.at(number);
  if (thunk == nullptr) [[unlikely]]
    stop(errors::programs_differ, "atomic",
         ("process " + std::to_string(c.process) +
          " names a function that this program does not have: start all processes from "
          "one build")
             .c_str());
  return thunk;
}

/// Whether one of the ranges, which all can be written, holds all of it.
bool is_in(std::span<const SharedRange> ranges, const std::byte* here, std::size_t bytes) noexcept {
  return std::any_of(ranges.begin(), ranges.end(), [&](const SharedRange& range) {
    const auto at = static_cast<std::size_t>(here - range.begin);
    return at < range.bytes && bytes <= range.bytes - at;
  });
}

}  // namespace

std::byte* Machine::Impl::own_place_slow(const char* operation, std::uint32_t process,
                                         std::uint64_t address, std::size_t bytes, Use use) {
  address = address_of(std::uint64_t{hot.myproc} << kProcessShift | address);
  // Messages may name an object of the region by its address as well.
  const std::uint64_t at = address - alignment.first;
  if (alignment.bytes != 0 && at < own_view.bytes && bytes <= own_view.bytes - at)
    return own_view.base + at;
  auto* const here = static_cast<std::byte*>(machine.memory().localize(address));
  const bool shared = is_in(machine.memory().shared_ranges(), here, bytes);
  const bool there = shared || (bytes <= kAddressMask && is_mapped(here, bytes));
  if (!there || (!shared && use == Use::writes && !is_writable(here, bytes))) [[unlikely]]
    stop(errors::wild_pointer, operation,
         fmt::format("process {} names {} byte{} at {:#x} of process {}, {}: look where that "
                     "pointer comes from",
                     process, bytes, bytes == 1 ? "" : "s", address, hot.myproc,
                     there ? "which may only be read" : "where there is no memory"));
  if (Checks* const checks = machine.memory().checks())
    checks->check(operation, process, make_word(hot.myproc, address), bytes, {});
  return here;
}

namespace {

/// Stops the program: no process of this build sends such a message.
[[noreturn, gnu::cold, gnu::noinline]] void stop_nonsense(std::uint32_t process) {
  stop(errors::nonsense, "poll",
       "a message of process " + std::to_string(process) +
           " makes no sense: start all processes from one build, or see whether something "
           "writes into the memory of either process");
}

/// Stops the program: what it reads cannot be written to where the answer says.
[[noreturn, gnu::cold, gnu::noinline]] void stop_no_room(std::uint32_t process,
                                                         std::uint64_t address, std::size_t bytes) {
  stop(errors::nonsense, "read",
       fmt::format("{} bytes of process {} cannot be written at {:#x} of this process: look at the "
                   "local address that this process gave to a read or get; if it was another one, "
                   "the message makes no sense: start all processes from one build",
                   bytes, process, address));
}

/// Whether a request has the length that its kind has, as serve() reads it.
bool has_its_length(Op op, std::uint64_t client, std::size_t bytes) noexcept {
  struct Lengths {
    std::uint8_t least, most;
  };
  constexpr std::uint8_t kLine = via::kInlineBytes;
  constexpr Lengths kNotServed{1, 0};
  static constexpr Lengths kLengths[] = {
      {16, 16},        // read
      {8, kLine},      // write
      kNotServed,      // store: the dispatcher serves it
      {24, 24},        // block_read
      {24, 24},        // block_write
      {24, 24},        // block_store
      {32, 32},        // pull
      {32, 32},        // modify
      {16, kLine},     // call
      kNotServed,      // run: as store
      {kLine, kLine},  // slot_words
      {8, kLine},      // slot
      {kLine, kLine},  // waits
      {16, 16},        // chunk
  };
  if (op > Op::chunk) return false;
  const Lengths& lengths = kLengths[static_cast<std::size_t>(op)];
  if (bytes < lengths.least || bytes > lengths.most) return false;
  if (op == Op::read) return wire_format::index(client) <= kInlineData;
  if (op == Op::call)
    return (wire_format::index(client) & ~wire_format::kNamesObject) <= kInlineData;
  return op != Op::modify ||
         (wire_format::index(client) & 0xf) <= static_cast<unsigned>(Rmw::bit_xor);
}

/// Whether serve() answers a request with a message.
constexpr bool is_answered(Op op) noexcept {
  constexpr auto bit = [](Op of) { return 1U << static_cast<unsigned>(of); };
  constexpr unsigned kAnswered =
      bit(Op::read) | bit(Op::block_read) | bit(Op::modify) | bit(Op::call) | bit(Op::chunk);
  return (bit(op) & kAnswered) != 0;
}

}  // namespace

inline void Machine::Impl::serve_store(Channel& c, std::uint64_t client, const std::uint64_t* words,
                                       std::size_t bytes) {
  const std::size_t size = bytes - 8;
  std::byte* const to = own_place("store", c.process, words[0], size, Use::writes);
  put_value(to, words + 1, size);
  delivered[wire_format::count_place(client)] += size;
}

void Machine::Impl::note_dirty(Channel& c) {
  c.dirty = true;
  dirty.push_back(&c);
}

/// Handles one message. The operations of streams are tested for first.
struct Machine::Impl::Dispatcher {
  // A function's first argument is mostly a pointer: the target of the pointer that comes so many
  // slots later is prefetched. A word that is no pointer does no harm.
  static constexpr std::uint32_t kAhead = 8;
  /// The bits of a slot's header that make its shape: the operation, and the fields that all
  /// messages have, except for the phase.
  static constexpr std::uint64_t kOpMask = 0x1fULL << header::client_shift;
  static constexpr std::uint64_t kShapeMask = kOpMask | header::kind_mask |
                                              3ULL << header::lines_shift | header::immediate_bit |
                                              header::rdma_bit | 0xC0ULL << header::length_shift;
  static constexpr std::uint64_t shape_of(Op op) noexcept {
    return header::make(via::MessageKind::inline_data, 0, static_cast<std::uint64_t>(op));
  }
  Impl& impl;
  std::optional<GuestCall> guest = {};  // made at the first function, for all of them

  [[gnu::always_inline]] void operator()(via::channel::Channel& channel, via::Slot& slot,
                                         std::uint64_t h) {
    VIADUCT_PART(read_data);
    Channel& c = *static_cast<Channel*>(channel.context());
    const std::uint64_t client = header::client(h);
    const std::size_t bytes = header::length(h);
    const std::uint64_t* const words = slot.words;
    const std::uint64_t shape = h & kShapeMask;
    if (shape == shape_of(Op::store)) {
      impl.serve_store(c, client, words, bytes);
    } else if (shape == shape_of(Op::run)) {
      if (wire_format::names_object(client))
        (void)impl.own_place("atomic_put", c.process, without_process(words[1]), 1);
      if (!guest) guest.emplace();
      if (const auto* later = channel.arrived_ahead(kAhead); later != nullptr)
        prefetch_line(reinterpret_cast<const std::byte*>(later->words[1] & (kAlignedBit - 1)));
      run_thunk(c.process, function_of(impl.code, c, words[0]),
                reinterpret_cast<const std::byte*>(words + 1), nullptr);
      c.urgent = true;
    } else if (shape == shape_of(Op::value) || shape == shape_of(Op::done)) {
      return impl.take_reply(c, wire_format::op(client), client, words, bytes);
    } else {
      if ((shape & ~kOpMask) != shape_of(Op{})) [[unlikely]]
        stop_nonsense(c.process);
      impl.serve(c, wire_format::op(client), client, words, bytes);
    }
    ++c.served;
    if (!c.dirty) impl.note_dirty(c);
    if (c.served - c.published >= impl.publish_every) impl.publish(c);
  }
  void after_portion(via::channel::Channel& channel) {
    Channel& c = *static_cast<Channel*>(channel.context());
    if (c.served != c.published) impl.publish(c);
  }
};

static constexpr std::uint32_t kBatch = 32;

std::uint32_t Machine::Impl::poll_own() {
  std::uint32_t n = 0;
  {
    Dispatcher dispatcher{*this};
    n = group->drain(kBatch, dispatcher);
  }
  if (reads.channel != nullptr) finish_reads();
  if (!dirty.empty()) publish_dirty(n == 0);
  refresh_watch();
  return n;
}

std::uint32_t Machine::Impl::poll_now(bool all) {
  constexpr std::uint32_t kOthersEvery = 256;  // the engine's word shows most arrivals
  const bool asked = engine->take_attention();
  if (asked) group->look_fully();
  const std::uint32_t n = poll_own();
  if (asked || all || n > kBatch || ++polls % (others_hot ? 64 : kOthersEvery) == 0) [[unlikely]]
    return engine->is_alone() ? n : n + serve_others(asked);
  return n;
}

/// Serves no other client inside a handler, which one of them has called.
std::uint32_t Machine::Impl::serve_others(bool asked) {
  if (engine->runs_handler()) return 0;
  const auto outcome = engine->serve_others(*served, via::channel::Run::all, asked);
  others_hot = outcome.hot;
  refresh_watch();
  return outcome.handled;
}

void Machine::Impl::take_reply(Channel& c, Op op, std::uint64_t client, const std::uint64_t* words,
                               std::size_t bytes) noexcept {
  // The low 16 bits of a ticket are enough: fewer than 65536 requests are open.
  const std::uint64_t sent = c.sent();
  const std::uint64_t ticket = sent - ((sent - wire_format::ticket(client)) & 0xffff);
  // Replies come in the order of their requests.
  if (ticket - c.replied - 1 >= sent - c.replied || bytes > via::kInlineBytes) [[unlikely]]
    stop_nonsense(c.process);
  c.replied = ticket;
  if (ticket > c.handled) c.handled = ticket;
  if (op == Op::value) {
    if (bytes <= 8) return;
    // The address comes back as this process sent it; any other address would write anywhere.
    auto* const to = reinterpret_cast<std::byte*>(words[0]);
    if (!is_writable(to, bytes - 8)) [[unlikely]]
      stop_no_room(c.process, words[0], bytes - 8);
    VIADUCT_PART(act);
    return put_value(to, words + 1, bytes - 8);
  }
  const std::uint32_t i = wire_format::index(client);
  Stage& blocks = *stage;
  if (i >= blocks.bytes() / kBlockBytes) return;
  Stage::Block& block = blocks[i];
  // Else it is no get from this peer, or not as it was sent.
  if (block.channel != &c || block.to == nullptr || block.first != i) return;
  std::memcpy(block.to, blocks.data(i), block.bytes);
  blocks.use(i, {nullptr, 0, nullptr, block.bytes, 0});
}

void Machine::Impl::serve(Channel& c, Op op, std::uint64_t client, const std::uint64_t* words,
                          std::size_t bytes) {
  // A processor that waits for a request runs ahead of it to here: the line of the answer comes
  // together with the request.
  if (is_answered(op)) c.channel->fetch_room(1);
  if (!has_its_length(op, client, bytes)) [[unlikely]]
    stop_nonsense(c.process);
  const std::uint64_t ticket = c.served + 1;
  std::uint64_t answer[via::kWordsPerSlot] = {};
  switch (op) {
    case Op::read: {
      VIADUCT_PART(act);
      const std::size_t size = wire_format::index(client);
      const std::byte* const from = own_place(name_of(op), c.process, words[0], size);
      copy_value(reinterpret_cast<std::byte*>(answer + 1), from, size,
                 reinterpret_cast<std::uintptr_t>(from));
      answer[0] = words[1];
      return reply(c, Op::value, 0, ticket, answer, static_cast<std::uint32_t>(8 + size));
    }
    case Op::write:
      put_value(own_place(name_of(op), c.process, words[0], bytes - 8, Use::writes), words + 1,
                bytes - 8);
      c.urgent = true;
      return;
    case Op::block_read:
    case Op::block_write:
    case Op::block_store:
      return serve_block(c, op, client, words);
    case Op::pull:
      return serve_pull(c, client, words);
    case Op::modify:
      answer[0] = words[3];
      answer[1] = modify(c, client, words);
      return reply(c, Op::value, 0, ticket, answer, 16);
    case Op::call:
      return serve_call(c, client, words);
    case Op::slot_words:
      std::memcpy(c.slot_words, words, sizeof(c.slot_words));
      return;
    case Op::slot: {
      const bool in_two = wire_format::epoch(client) != 0;
      machine.collective_engine().arrived(wire_format::index(client), words[0],
                                          in_two ? c.slot_words : words + 1,
                                          in_two ? 7 : static_cast<std::uint32_t>(bytes / 8 - 1));
      return;
    }
    case Op::waits:
      return machine.collective_engine().waited_for(c.process, words);
    case Op::chunk:
      return serve_chunk(c, words);
    default:
      stop_nonsense(c.process);
  }
}

/// The staging blocks of @p c's process, among which are @p bytes bytes at @p place.
StageName Machine::Impl::stage_with(Channel& c, Op op, std::uint64_t place, std::size_t bytes) {
  StageName name{0, 0, job.segment().window_bytes()};
  std::size_t most = kBlockBytes;
  if (c.channel->is_remote()) {
    std::memcpy(&name, c.channel->peer_extra(), sizeof name);
    most = kMostFarBytes;
  }
  if (bytes == 0 || bytes > most || !name.holds(place, bytes))
    stop(errors::nonsense, name_of(op),
         ("process " + std::to_string(c.process) + " names a block that is none").c_str());
  return name;
}

void Machine::Impl::serve_block(Channel& c, Op op, std::uint64_t client,
                                const std::uint64_t* words) {
  const std::size_t length = words[1];
  const StageName theirs = stage_with(c, op, words[2], length);
  std::byte* const mine = own_place(name_of(op), c.process, words[0], length,
                                    op == Op::block_read ? Use::reads : Use::writes);
  if (op != Op::block_read) c.urgent = true;  // for the write, or for the block of staging memory
  if (c.channel->is_remote()) {
    const FarBlock block{theirs.address + (words[2] - theirs.offset), theirs.key, mine, length};
    if (op == Op::block_read)
      answer_far_block(c, client, block);
    else
      take_far_block(c, op, client, block);
    return;
  }
  std::byte* const block = job.window_of(Rank{c.process}) + words[2];
  if (op == Op::block_read) {
    std::memcpy(block, mine, length);
    return reply(c, Op::done, wire_format::index(client), c.served + 1, nullptr, 0);
  }
  std::memcpy(mine, block, length);
  if (op == Op::block_store) delivered[wire_format::count_place(client)] += length;
}

/// Asks @p done(link) until the answer is true. False: the connection has ended, and nothing more
/// is taken from it, since later messages must not take effect without this one.
template <class Done>
bool Machine::Impl::await_device(Channel& c, Done done) noexcept {
  constexpr std::uint32_t kLooks = 100;  // before others get the core
  for (std::uint32_t looks = 1; via::Link* const link = c.channel->link(); ++looks) {
    if (done(*link)) {
      if (c.channel->link() != nullptr) return true;
      break;
    }
    if (looks % kLooks != 0) continue;
    if (job.is_lost(Rank{c.process})) break;
    sched_yield();
  }
  nic->give_up(*c.channel);
  return false;
}

/// Writes a block into the staging memory of a process on another host, and answers.
void Machine::Impl::answer_far_block(Channel& c, std::uint64_t client, const FarBlock& block) {
  // This process may change the bytes when the poll has ended.
  const bool copied = block.bytes < kCopiedPut;
  const auto source = copied ? via::Link::Source::changes : via::Link::Source::stays;
  std::uint64_t transfer = 0;
  const auto sent = [&](via::Link& link) {
    if (transfer == 0)
      transfer = link.put(block.mine, block.bytes, block.address, block.key, source);
    return transfer != 0 && (copied || link.is_sent(transfer));
  };
  if (await_device(c, sent))
    reply(c, Op::done, wire_format::index(client), c.served + 1, nullptr, 0);
}

/// Begins to read a block out of the staging memory of a process on another host. Waits for it
/// unless the next message of that process brings one more.
void Machine::Impl::take_far_block(Channel& c, Op op, std::uint64_t client, const FarBlock& block) {
  static_assert(kMostFarBytes <= via::Link::kMostTransferBytes);
  const bool stores = op == Op::block_store;
  const std::uint32_t count = stores ? wire_format::count_place(client) : reads.count;
  // Of two transfers to one place the later one may end first: one may go through a buffer.
  const bool overlaps = block.mine < reads.end && reads.begin < block.mine + block.bytes;
  if (reads.channel != &c || overlaps || (reads.bytes != 0 && reads.count != count)) finish_reads();
  std::uint64_t transfer = 0;
  const auto begin = [&](via::Link& link) {
    transfer = link.get(block.mine, block.bytes, block.address, block.key);
    return transfer != 0;
  };
  via::Link* const link = c.channel->link();
  if (link == nullptr || !begin(*link)) {
    finish_reads();  // which use up the bounds
    if (!await_device(c, begin)) return;
  }
  if (reads.channel == nullptr) reads = {&c, 0, block.mine, block.mine};
  reads.transfer = transfer;
  reads.begin = std::min(reads.begin, block.mine);
  reads.end = std::max(reads.end, block.mine + block.bytes);
  if (stores) {
    reads.count = count;
    reads.bytes += block.bytes;
  }
  const via::Slot* const next = c.channel->arrived_ahead(0);
  const Op then =
      next == nullptr ? Op::done : wire_format::op(header::client(next->header.load(kRelaxed)));
  if (then != Op::block_write && then != Op::block_store) finish_reads();
}

/// Waits for the device until the blocks are here whose transfer has begun, and counts those of
/// stores.
void Machine::Impl::finish_reads() noexcept {
  const Reads begun = std::exchange(reads, {});
  if (begun.channel == nullptr) return;
  const auto here = [&](via::Link& link) { return link.is_done(begun.transfer); };
  if (await_device(*begun.channel, here)) delivered[begun.count] += begun.bytes;
}

/// The offer of @p c's process at @p place of its window, as mapped in this process.
Offer& Machine::Impl::offer_of(Channel& c, std::uint64_t place) {
  if (place > job.segment().window_bytes() - sizeof(Offer) || place % alignof(Offer) != 0)
    stop_nonsense(c.process);
  return *reinterpret_cast<Offer*>(job.window_of(Rank{c.process}) + place);
}

void Machine::Impl::serve_pull(Channel& c, std::uint64_t client, const std::uint64_t* words) {
  const std::size_t length = words[1];
  Offer& offer = offer_of(c, words[3]);
  prefetch_to_write(&offer);
  std::byte* const to = own_place("bulk_store", c.process, words[0], length, Use::writes);
  const std::byte* const from = machine.memory().find(c.process, words[2], length);
  const Offer::State answer = from != nullptr ? Offer::taken : Offer::refused;
  Offer::State state = Offer::open;
  if (!offer.state.compare_exchange_strong(state, answer)) {
    if (state != Offer::withdrawn) stop_nonsense(c.process);
    return offer.state.store(Offer::none, kRelease);
  }
  c.urgent = true;
  if (answer == Offer::refused) return;
  via::copy_bytes(to, from, length);
  count(kPulled, length);
  delivered[wire_format::count_place(client)] += length;
}

std::uint64_t Machine::Impl::modify(Channel& c, std::uint64_t client, const std::uint64_t* words) {
  const auto what = static_cast<Rmw>(wire_format::index(client) & 0xf);
  const std::size_t bytes = (wire_format::index(client) & 0x10) != 0 ? 8 : 4;
  const char* const name = what == Rmw::compare_swap ? "compare_swap or lock" : to_string(what);
  std::byte* const place = own_place(name, c.process, words[0], bytes, Use::writes);
  return rmw_of(bytes, place, what, words[1], words[2]);
}

void Machine::Impl::serve_call(Channel& c, std::uint64_t client, const std::uint64_t* words) {
  const CallThunk thunk = function_of(code, c, words[0]);
  if (wire_format::names_object(client))
    (void)own_place("atomic", c.process, without_process(words[2]), 1);
  std::uint64_t answer[via::kWordsPerSlot] = {words[1]};
  run_guest(c.process, thunk, reinterpret_cast<const std::byte*>(words + 2),
            reinterpret_cast<std::byte*>(answer + 1));
  reply(c, Op::value, 0, c.served + 1, answer,
        8 + (wire_format::index(client) & ~wire_format::kNamesObject));
}

}  // namespace viaduct::splitc::detail
