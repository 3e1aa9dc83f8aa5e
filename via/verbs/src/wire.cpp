#include "via/verbs/src/wire.hpp"

#include <arpa/inet.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/error.hpp"
#include "via/copy.hpp"
#include "via/verbs/src/errors.hpp"
#include "via/verbs/src/rdma_carrier.hpp"

namespace viaduct::via::verbs {

Wire::Wire(Carrier& carrier, std::byte* block, std::size_t half_bytes, std::uint32_t notes,
           void* owner)
    : block_(block),
      half_bytes_(half_bytes),
      depth_(static_cast<std::uint32_t>(carrier.device_.settings().wire_depth)),
      carrier_(carrier),
      notes_(notes),
      owner_(owner) {
  signal_every_ = std::max(1U, depth_ / 4);
  region_.reset(library().reg_mr(carrier.domain_.get(), block, 2 * half_bytes,
                                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
  if (region_ == nullptr) throw_registration(errno, "the rings of a peer", 2 * half_bytes);
  key_ = region_->rkey;
  carrier.add(*this);
}

Wire::~Wire() {
  carrier_.remove(*this);
  pair_.reset();  // before the region that it writes to
}

via::Wire::Name Wire::name() const noexcept {
  const Plain plain{reinterpret_cast<std::uint64_t>(block_), key_, pair_->name(), {}};
  Name name;
  std::memcpy(name.data(), &plain, sizeof plain);
  return name;
}

void Wire::connect(Rank peer, const Name& theirs) {
  Plain plain;
  std::memcpy(&plain, theirs.data(), sizeof plain);
  peer_ = peer;
  peer_block_ = plain.block;
  peer_key_ = plain.key;
  fill(line_, line_segment_, block_, kLineBytes, peer_block_ + half_bytes_);
  line_.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  line_there_ = peer_block_ + half_bytes_;
  pair_->connect(carrier_.mail_->address_of(peer), plain.pair);
  carrier_.tell_ready(peer, plain.pair.number);
}

void Wire::fill(ibv_send_wr& request, ibv_sge& segment, const std::byte* from, std::uint32_t bytes,
                std::uint64_t to) noexcept {
  segment = {reinterpret_cast<std::uint64_t>(from), bytes, region_->lkey};
  request.sg_list = &segment;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = 0;
  if (bytes <= inline_bytes_) request.send_flags = IBV_SEND_INLINE;
  request.next = nullptr;
  request.wr.rdma.remote_addr = to;
  request.wr.rdma.rkey = peer_key_;
}

/// Posts a chain whose last request is signalled when it is time.
inline void Wire::send(ibv_send_wr& chain, ibv_send_wr& last, std::uint32_t count) noexcept {
  last.wr_id = work_id(pair_->posted() + count - 1);
  unsignalled_ += count;
  if (unsignalled_ >= signal_every_) {
    last.send_flags |= IBV_SEND_SIGNALED;
    unsignalled_ = 0;
    ++carrier_.counters_[kSignalled];
  }
  ++carrier_.counters_[kPosts];
  carrier_.counters_[kChained] += count - 1;
  if (!pair_->post(chain, count)) [[unlikely]]
    carrier_.note_failure(*this, IBV_WC_LOC_QP_OP_ERR);
}

bool Wire::post(std::span<const Piece> pieces, std::uint32_t note, bool tell) noexcept {
  if (!open_) [[unlikely]]
    return failed_;  // what a failed wire is given is lost with it
  const auto count = static_cast<std::uint32_t>(pieces.size());
  if (!pair_->has_room(count + kSpare)) [[unlikely]] {
    carrier_.reap_sends();
    if (!pair_->has_room(count + kSpare)) return failed_;
  }
  ibv_send_wr requests[kMaxPieces];
  ibv_sge segments[kMaxPieces];
  for (std::uint32_t i = 0; i < count; ++i) {
    const Piece& piece = pieces[i];
    fill(requests[i], segments[i], block_ + piece.offset, piece.bytes,
         peer_block_ + half_bytes_ + piece.offset);
    requests[i].wr_id = work_id(pair_->posted() + i);
    if (i != 0) requests[i - 1].next = &requests[i];
  }
  ibv_send_wr& last = requests[count - 1];
  if (tell) {
    last.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    last.imm_data = htonl(note);
  }
  send(requests[0], last, count);
  return true;
}

bool Wire::post_line(std::uint32_t offset, std::uint32_t note) noexcept {
  QueuePair& pair = *pair_;
  if (!open_ || !pair.has_room(1 + kSpare)) [[unlikely]]
    return post_line_slow(offset, note);
  line_segment_.addr = reinterpret_cast<std::uint64_t>(block_) + offset;
  line_.wr.rdma.remote_addr = line_there_ + offset;
  line_.imm_data = htonl(note);
  line_.wr_id = work_id(pair.posted());
  ++carrier_.counters_[kPosts];
  const bool signalled = ++unsignalled_ >= signal_every_;
  if (signalled) {
    line_.send_flags |= IBV_SEND_SIGNALED;
    unsignalled_ = 0;
    ++carrier_.counters_[kSignalled];
  }
  if (!pair.post_into_room(line_, 1)) [[unlikely]]
    carrier_.note_failure(*this, IBV_WC_LOC_QP_OP_ERR);
  if (signalled) line_.send_flags &= ~unsigned{IBV_SEND_SIGNALED};
  return true;
}

bool Wire::post_line_slow(std::uint32_t offset, std::uint32_t note) noexcept {
  const Piece piece{offset, kLineBytes};
  return post(std::span(&piece, 1), note, true);
}

bool Wire::post_back(Piece piece, std::uint32_t note, bool tell) noexcept {
  if (!open_) return failed_;
  if (!pair_->has_room(1)) {
    carrier_.reap_sends();
    if (!pair_->has_room(1)) return failed_;
  }
  ibv_send_wr request;
  ibv_sge segment;
  fill(request, segment, block_ + half_bytes_ + piece.offset, piece.bytes,
       peer_block_ + piece.offset);
  if (piece.bytes == 0) request.num_sge = 0;
  if (tell) {
    request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request.imm_data = htonl(note);
  }
  send(request, request, 1);
  return true;
}

// Copies.

template <typename Done>
bool Wire::reap_until(Done done) noexcept {
  constexpr std::uint32_t kLooks = 100;  // before others get the core
  std::uint32_t looks = 0;
  while (!failed_ && !done()) {
    carrier_.reap_sends();
    if (++looks <= kLooks) continue;
    sched_yield();
    // A device may be told to repeat for ever.
    if (looks % kLooks == 0 && carrier_.job_.is_lost(peer_))
      carrier_.note_failure(*this, IBV_WC_RETRY_EXC_ERR);
  }
  return !failed_;
}

bool Wire::wait_for(std::uint64_t number) noexcept {
  return reap_until([&] { return pair_->posted() - pair_->outstanding() > number; });
}

bool Wire::wait_for_room() noexcept {
  return reap_until([&] { return pair_->has_room(1); });
}

bool Wire::copy(std::byte* own, std::size_t bytes, std::uint64_t there, std::uint32_t key,
                bool out) noexcept {
  if (const BulkMemory::Place place = carrier_.memory_->find(own, bytes, out); place.found) {
    const bool done = copy_direct(own, place.key, bytes, there, key, out);
    carrier_.note_cache();
    if (!done) return false;
    if (carrier_.memory_->confirm(place)) return true;
    ++carrier_.counters_[kRepeated];
  }
  return copy_staged(own, bytes, there, key, out);
}

/// In requests as long as the device should have them. Waits for room; the last one is signalled.
/// False: the wire has failed.
bool Wire::post_copy(const ibv_sge& own, std::uint64_t there, std::uint32_t key,
                     bool out) noexcept {
  const std::size_t most = carrier_.device_.most_request_bytes();
  for (std::uint32_t at = 0; at != own.length;) {
    if (!wait_for_room()) return false;
    const auto bytes = static_cast<std::uint32_t>(std::min<std::size_t>(own.length - at, most));
    ibv_sge segment{own.addr + at, bytes, own.lkey};
    ibv_send_wr request;
    request.next = nullptr;
    request.sg_list = &segment;
    request.num_sge = 1;
    request.opcode = out ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
    request.send_flags = 0;
    request.wr.rdma.remote_addr = there + at;
    request.wr.rdma.rkey = key;
    at += bytes;
    if (at == own.length) unsignalled_ = signal_every_;
    send(request, request, 1);
  }
  return true;
}

/// From or to where the bytes are, two pieces at a time: enough for any link, and a device made of
/// software loses packets of more.
bool Wire::copy_direct(std::byte* own, std::uint32_t own_key, std::size_t bytes,
                       std::uint64_t there, std::uint32_t key, bool out) noexcept {
  constexpr std::size_t kPiece = Carrier::kStageBytes;
  static_assert(Carrier::kStages == 2);
  std::uint64_t last = 0, before = 0;  // numbers of the last posts
  carrier_.counters_[kDirect] += bytes;
  for (std::uint32_t i = 0; bytes != 0; ++i) {
    if (i >= Carrier::kStages && !wait_for(before)) return false;
    const std::size_t piece = std::min(bytes, kPiece);
    if (!post_copy(
            {reinterpret_cast<std::uint64_t>(own), static_cast<std::uint32_t>(piece), own_key},
            there, key, out))
      return false;
    before = std::exchange(last, pair_->posted() - 1);
    own += piece;
    there += piece;
    bytes -= piece;
  }
  return wait_for(last);
}

/// Through the staging buffer, two pieces at a time: for what is short, or cannot be registered.
bool Wire::copy_staged(std::byte* own, std::size_t bytes, std::uint64_t there, std::uint32_t key,
                       bool out) noexcept {
  constexpr std::size_t kPiece = Carrier::kStageBytes;
  struct Slot {
    std::byte* own = nullptr;
    std::size_t bytes = 0;
    std::uint64_t number = 0;
  };
  Slot slots[Carrier::kStages];
  const auto finish = [&](std::uint32_t i) {
    Slot& slot = slots[i];
    if (slot.bytes == 0) return true;
    if (!wait_for(slot.number)) return false;
    if (!out) copy_bytes(slot.own, carrier_.stage_.get() + i * kPiece, slot.bytes);
    slot.bytes = 0;
    return true;
  };
  for (std::uint32_t i = 0; bytes != 0; i = (i + 1) % Carrier::kStages) {
    if (!finish(i)) return false;
    Slot& slot = slots[i];
    slot = {own, std::min(bytes, kPiece), 0};
    std::byte* stage = carrier_.stage_.get() + i * kPiece;
    if (out) copy_bytes(stage, own, slot.bytes);
    if (!post_copy({reinterpret_cast<std::uint64_t>(stage), static_cast<std::uint32_t>(slot.bytes),
                    carrier_.stage_region_->lkey},
                   there, key, out))
      return false;
    slot.number = pair_->posted() - 1;
    carrier_.counters_[kCopied] += slot.bytes;
    own += slot.bytes;
    there += slot.bytes;
    bytes -= slot.bytes;
  }
  for (std::uint32_t i = 0; i < Carrier::kStages; ++i)
    if (!finish(i)) return false;
  return true;
}

bool Wire::write(const std::byte* from, std::size_t bytes, std::uint64_t to,
                 std::uint32_t key) noexcept {
  return copy(const_cast<std::byte*>(from), bytes, to, key, true);
}

bool Wire::read(std::byte* to, std::size_t bytes, std::uint64_t from, std::uint32_t key) noexcept {
  return copy(to, bytes, from, key, false);
}

/// The last requests may be unsignalled: an empty one behind them tells.
bool Wire::drained() noexcept {
  carrier_.reap_sends();
  if (failed_ || (ready_ && pair_->outstanding() == 0)) return true;
  if (!ready_ || marked() || !pair_->has_room(1)) return false;
  unsignalled_ = signal_every_;
  post_empty();
  return false;
}

/// An empty write, which the peer's device answers, whatever the peer does. When the send queue is
/// full, what is under way does the same. A peer that has handled all letters has taken up the
/// connection, or has ended it since.
void Wire::keep_alive() noexcept {
  const bool connected = peer_block_ != 0;
  if (connected && !ready_ && carrier_.mail_->all_delivered(peer_)) set_ready();
  if (open_ && pair_->has_room(1 + kSpare)) post_empty();
}

void Wire::post_empty() noexcept {
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma.remote_addr = peer_block_;
  request.wr.rdma.rkey = peer_key_;
  send(request, request, 1);
}

void Wire::fail() noexcept {
  set_failed();
  pair_->fail();
}

}  // namespace viaduct::via::verbs
