#include "via/generations/src/map.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "runtime/mappings.hpp"
#include "via/copy.hpp"
#include "via/generations/src/transport.hpp"
#include "via/generations/src/v1.hpp"
#include "via/generations/src/v2.hpp"
#include "via/generations/src/v3.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/memory_file.hpp"
#include "viaduct/runtime/parts.hpp"

namespace viaduct::via::generations {

MapBase::MapBase(MapTransport& transport, std::byte* block, std::size_t half_bytes, void* owner)
    : block_(block),
      half_bytes_(half_bytes),
      transport_(transport),
      owner_(owner),
      transfers_(transport.staging(), transport.regions()),
      region_(transport.register_block(block, 2 * half_bytes)),
      number_(transport.next_number()) {}

// Set-up.

Link::Name MapBase::name() const noexcept {
  const RingName its = ring();
  const Plain plain{its.address, reinterpret_cast<std::uint64_t>(block_),
                    its.handle,  static_cast<std::uint32_t>(region_.handle()),
                    number_,     0};
  Name name{};
  std::memcpy(name.data(), &plain, sizeof plain);
  return name;
}

void MapBase::connect(Rank peer, const Name& theirs) {
  Plain plain;
  std::memcpy(&plain, theirs.data(), sizeof plain);
  peer_ = peer;
  peer_block_ = plain.block;
  peer_handle_ = static_cast<MemoryHandle>(plain.block_handle);
  const bool first = index(transport_.job().rank()) < index(peer);
  const std::uint64_t name =
      MapTransport::name_of_vi(first ? number_ : plain.number, first ? plain.number : number_);
  if (const Status status = start(peer, name, {plain.ring, plain.ring_handle});
      status != Status::ok) {
    if (status == Status::peer_lost) return break_off(ErrorCause::connection_lost);
    throw Error(errors::bad_attributes, std::errc::connection_refused,
                "rank " + std::to_string(index(peer)) +
                    " cannot be reached: the provider's VI does not start to connect");
  }
  transport_.connecting(*this);
}

bool MapBase::look_at_connection() noexcept {
  if (failed_) return true;
  const Status status = connected();
  if (status == Status::retry) return false;
  if (status == Status::ok) {
    open_ = ready_ = true;
    if (!pay_credits()) transport_.owes(*this);
  } else {
    end(ErrorCause::connection_lost);
  }
  return true;
}

// Sending.

void MapBase::reap_sends() noexcept { transport_.reap_sends(); }

void MapBase::leave(const Depths& depths) noexcept {
  fail();
  transport_.remove(*this, depths);
}

template <class Policy>
Map<Policy>::Map(MapTransport& transport, const Common& common, const Room& room, std::byte* block,
                 std::size_t half_bytes, void* owner)
    : MapBase(transport, block, half_bytes, owner),
      depths_(Policy::depths(room)),
      policy_(common, room, static_cast<MapBase*>(this)) {}

template <class Policy>
Map<Policy>::~Map() {
  leave(depths_);
}

template <class Policy>
bool Map<Policy>::send_one(const Outgoing& out) noexcept {
  if (policy_.send(out)) [[likely]]
    return true;
  reap_sends();
  return policy_.send(out);
}

template <class Policy>
bool Map<Policy>::send(std::span<const Piece> pieces, std::uint32_t notification,
                       std::uint8_t flags) noexcept {
  if (!open_) [[unlikely]]
    return failed_;  // a post to a failed link is lost with the link
  const bool back = (flags & flag::back) != 0;
  // A message is taken when the peer polls, and a write takes effect before: bytes that change
  // again before the peer has taken them always go by writes. They are counters, and small data.
  constexpr std::uint32_t kSmallData = 512;
  const bool tell = (flags & flag::tell) != 0;
  if (back || !tell) {
    if (!write_pieces(pieces, back)) return false;
    return !tell || send_one({{}, block_, 0, notification, flags});
  }
  std::uint32_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  const bool split = pieces.size() > 1;
  const bool small = split && pieces[0].bytes <= kSmallData;
  if (!small && bytes <= Policy::kLargest && send_one({pieces, block_, bytes, notification, flags}))
      [[likely]]
    return true;
  // Data that are too long for a message, or have no credit now, go ahead of it, too.
  if (!split || !write_pieces(pieces.first(1), false)) return false;
  return send(pieces.subspan(1), notification, flags);
}

bool MapBase::write_pieces(std::span<const Piece> pieces, bool back) noexcept {
  const auto count = static_cast<std::uint32_t>(pieces.size());
  if (writes_begun_ - writes_done_ + count > kWriteDepth) {
    reap_sends();
    if (writes_begun_ - writes_done_ + count > kWriteDepth) return failed_;
  }
  for (const Piece& piece : pieces) {  // one that is written again writes the same bytes
    if (piece.bytes == 0) continue;
    const std::size_t from = piece.offset + (back ? half_bytes_ : 0);
    const std::size_t to = piece.offset + (back ? 0 : half_bytes_);
    Descriptor& write = writes_[writes_begun_ % kWriteDepth];
    make_rdma_write(write, block_ + from, piece.bytes, region_.handle(), peer_block_ + to,
                    peer_handle_);
    if (rdma_vi().post_send(write) != Status::ok) return false;
    ++writes_begun_;
    written();
  }
  return true;
}

bool MapBase::drained() noexcept {
  transport_.reap_sends();
  return failed_ || (ready_ && quiet() && transfers_.quiet() && writes_begun_ == writes_done_);
}

// Receiving.

namespace {

/// Asked for each message: the program may have made the memory read-only since it gave it.
bool may_write(const std::byte* at, std::size_t bytes) noexcept {
  for (const std::byte* const end = at + bytes; at < end;) {
    if (!is_page_writable(at)) return false;
    at += kPageBytes - reinterpret_cast<std::uintptr_t>(at) % kPageBytes;
  }
  return true;
}

}  // namespace

bool MapBase::apply(const Incoming& message) noexcept {
  if ((message.head.flags & flag::memory) != 0) {
    const MemoryPlace& place = message.memory;
    std::byte* const to = transport_.regions().at(place.key, place.address, place.bytes);
    if (to == nullptr) return false;
    if (!may_write(to, place.bytes)) {
      break_off(ErrorCause::rdma_write_refused);
      return false;
    }
    copy_bytes(to, message.bytes, place.bytes);
    return true;
  }
  VIADUCT_PART(read_data);
  std::byte* const half = (message.head.flags & flag::back) != 0 ? block_ : block_ + half_bytes_;
  const std::byte* from = message.bytes;
  for (std::uint32_t i = 0; i < message.head.pieces; ++i) {
    const Piece& piece = message.pieces[i];
    if (piece.bytes != 0) copy_bytes(half + piece.offset, from, piece.bytes);
    from += piece.bytes;
  }
  VIADUCT_NEXT_PART(processing);
  if ((message.head.flags & flag::tell) != 0)
    transport_.tell({owner_, message.head.notification, ErrorCause::none});
  return true;
}

void MapBase::take_received(const Completion& done) noexcept {
  VIADUCT_PART(recv_done);
  if (done.descriptor->failed()) return end(ErrorCause::connection_lost);
  // Messages that a peer sent before it ended its VIs are still taken.
  if (failed_ && ended_ns_ == 0) return;
  if (!policy_received(done)) return break_off(ErrorCause::format);
  VIADUCT_NEXT_PART(bookkeeping);
  if (!pay_credits()) transport_.owes(*this);
}

void MapBase::take_sent(const Completion& done) noexcept {
  VIADUCT_PART(send_done);
  const std::uint32_t status = done.descriptor->control.status;
  const bool is_write =
      done.descriptor >= writes_.data() && done.descriptor < writes_.data() + writes_.size();
  if (is_write)
    ++writes_done_;
  else if (transfers_.owns(*done.descriptor))
    transfers_.completed();
  else
    policy_sent(done);
  if ((status & descriptor_status::error_mask) != 0) end(ErrorCause::connection_lost);
}

void MapBase::end(ErrorCause cause) noexcept {
  if (failed_) return;
  failed_ = true;
  open_ = false;
  ended_ns_ = monotonic_ns();
  cause_ = cause;
}

void MapBase::look_at_end(std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t kPatienceNs = 1'000'000'000;
  if (ended_ns_ != 0 && now_ns - ended_ns_ > kPatienceNs) break_off(cause_);
}

void MapBase::break_off(ErrorCause cause) noexcept {
  ended_ns_ = 0;
  failed_ = true;
  open_ = false;
  if (!std::exchange(told_, true)) transport_.tell({owner_, 0, cause});
}

void MapBase::fail() noexcept {
  failed_ = true;
  open_ = false;
}

// Transfers.

Link::Transfer MapBase::put(const std::byte* from, std::size_t bytes, std::uint64_t to,
                            std::uint32_t key, Source source) noexcept {
  if (!open_) return 0;
  auto* const own = const_cast<std::byte*>(from);
  const bool copied = source == Source::changes;
  Transfer number = transfers_.put(rdma_vi(), {own, bytes, to, key}, copied);
  if (number == 0) {
    transport_.reap_sends();
    if (open_) number = transfers_.put(rdma_vi(), {own, bytes, to, key}, copied);
  }
  if (number != 0) written();
  return number;
}

Link::Transfer MapBase::get(std::byte* to, std::size_t bytes, std::uint64_t from,
                            std::uint32_t key) noexcept {
  if (!open_) return 0;
  const Transfer number = transfers_.get(rdma_vi(), {to, bytes, from, key});
  if (number != 0) return number;
  transport_.reap_sends();
  return open_ ? transfers_.get(rdma_vi(), {to, bytes, from, key}) : 0;
}

bool MapBase::is_sent(Transfer transfer) noexcept {
  if (!transfers_.is_sent(transfer) && !failed_) transport_.reap_sends();
  return failed_ || transfers_.is_sent(transfer);
}

bool MapBase::is_done(Transfer transfer) noexcept {
  transport_.reap_sends();
  return failed_ || transfers_.is_done(rdma_vi(), transfer);
}

/// Takes completions until @p done; messages that come wait for the next poll. False: the link has
/// failed.
template <class Done>
bool MapBase::wait_for(Done done) noexcept {
  constexpr std::uint32_t kLooks = 100;  // before others get the core
  for (std::uint32_t looks = 1; !failed_ && !done(); ++looks) {
    transport_.take_completions();
    if (looks % kLooks != 0) continue;
    sched_yield();
    if (transport_.job().is_lost(peer_)) break_off(ErrorCause::connection_lost);
  }
  return !failed_;
}

bool MapBase::copy(const Transfers::Range& range, bool out) noexcept {
  Transfer last = 0;
  for (std::size_t at = 0; at != range.bytes;) {
    const std::size_t piece = std::min(range.bytes - at, kMostTransferBytes);
    const auto begun = [&] {
      last = out ? put(range.own + at, piece, range.there + at, range.key, Source::stays)
                 : get(range.own + at, piece, range.there + at, range.key);
      return last != 0;
    };
    if (!wait_for(begun)) return false;
    at += piece;
  }
  return wait_for([&] { return transfers_.is_sent(last); });
}

/// AMVIAv1 had no RDMA for long data: such data go by bulk messages, which have credits.
bool MapBase::write_by_messages(const std::byte* from, std::size_t bytes, std::uint64_t to,
                                std::uint32_t key) noexcept {
  constexpr std::size_t kMost = 16'000;  // in a bulk message of V1, beside its head
  for (std::size_t at = 0; at != bytes;) {
    const auto piece = static_cast<std::uint32_t>(std::min(bytes - at, kMost));
    const Outgoing out{{}, from + at, piece, 0, flag::memory, {to + at, key, piece}};
    if (!wait_for([&] { return open_ && send_one(out); })) return false;
    at += piece;
  }
  return true;
}

bool MapBase::write(const std::byte* from, std::size_t bytes, std::uint64_t to,
                    std::uint32_t key) noexcept {
  if (transport_.is_strict()) return write_by_messages(from, bytes, to, key);
  return copy({const_cast<std::byte*>(from), bytes, to, key}, true);
}

bool MapBase::read(std::byte* to, std::size_t bytes, std::uint64_t from,
                   std::uint32_t key) noexcept {
  return copy({to, bytes, from, key}, false);
}

template class Map<V1>;
template class Map<V2>;
template class Map<V3>;

}  // namespace viaduct::via::generations
