/// Carrying out the descriptors that the fast path of a send does not take: larger sends, gather
/// and scatter, immediates, RDMA, atomics, and descriptors that have to wait their turn.

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "via/copy.hpp"
#include "via/descriptor_rules.hpp"
#include "via/shm/nic.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via::shm {

using rules::cause_for_peer;
using rules::cause_of;
using rules::completed_as;
using rules::first_data;
using rules::operation_of;
using rules::status_of;
using rules::well_formed;

bool Vi::local_ok(const LocalSegment& s, RegionCache& cache) noexcept {
  if (s.length == 0 || cache.covers(s)) return true;
  RegionEntry* const region = nic_.local_region(s.handle);
  if (region == nullptr || region->tag != static_cast<std::uint32_t>(attributes_.tag)) return false;
  const std::byte* window = nic_.job_.segment().base();
  const RegionCache found{reinterpret_cast<const std::byte*>(region->address), region->bytes,
                          s.handle, &region->handle, region->in_window != 0 ? window : nullptr};
  if (!found.covers(s) || (&cache == &receive_region_ && !Nic::may_write(*region))) return false;
  cache = found;
  return true;
}

bool Vi::locals_ok(const Descriptor& d, std::uint32_t first) noexcept {
  for (std::uint32_t i = first; i < d.control.segment_count; ++i)
    if (!local_ok(d.segments()[i].local, send_region_)) return false;
  return true;
}

/// Of an operation that brings data. Precondition: locals_ok().
bool Vi::locals_writable(const Descriptor& d, std::uint32_t first) noexcept {
  for (std::uint32_t i = first; i < d.control.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    if (s.length != 0 && !Nic::may_write(*nic_.local_region(s.handle))) return false;
  }
  return true;
}

void Vi::gather(const Descriptor& d, std::uint32_t first, std::byte* to) noexcept {
  for (std::uint32_t i = first; i < d.control.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    if (s.length != 0) copy_bytes(to, s.address, s.length);
    to += s.length;
  }
}

void Vi::scatter(const Descriptor& d, std::uint32_t first, const std::byte* from,
                 std::uint32_t n) noexcept {
  for (std::uint32_t i = first; i < d.control.segment_count && n != 0; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    const std::uint32_t part = std::min(n, s.length);
    if (part != 0) copy_bytes(s.address, from, part);
    from += part;
    n -= part;
  }
}

Status Vi::finish_short(Short what) noexcept {
  if (what == Short::wake_peer) ring_peer();
  if ((tx_seq_ & tx_mask_ / 2) == 0) take_room(tx_->receiver.posted.load(kAcquire));
  return Status::ok;
}

Status Vi::post_send_slow(Descriptor& d) noexcept {
  if (state_ == ViState::idle || state_ == ViState::connecting) return Status::bad_state;
  if (tx_outstanding_ >= attributes_.send_depth) return Status::retry;
  ++tx_outstanding_;
  d.control.status = 0;
  if (state_ == ViState::error) {
    push_send(d, status_of(completed_as(operation_of(d))) | descriptor_status::flushed);
    return Status::ok;
  }
  if (pending_.empty() && execute(d) != Outcome::later) return Status::ok;
  if (state_ == ViState::connected) {
    if (pending_.empty()) nic_.keep(nic_.waiting_vis_, this);
    pending_.push_back({&d, 0});
    tx_ready_ = false;
  }
  return Status::ok;
}

/// Tries the sends that wait: for the peer to attach, for room in the ring, for staging memory, or
/// (reception level) for the peer to take a staged block.
void Vi::run_pending() noexcept {
  while (!pending_.empty() && state_ == ViState::connected) {
    Pending& oldest = pending_.front();
    Descriptor& d = *oldest.descriptor;
    if (oldest.staged == 0) {
      if (execute(d) == Outcome::later) return;
      if (!pending_.empty() && pending_.front().descriptor == &d) pending_.pop_front();
    } else {
      auto* block = reinterpret_cast<StagedBlock*>(nic_.job_.segment().base() + oldest.staged);
      if (block->taken.load(kAcquire) == 0) return;
      nic_.job_.segment().release(oldest.staged);
      push_send(d, status_of(CompletedOperation::send));
      pending_.pop_front();
    }
  }
  if (state_ == ViState::connected) tx_ready_ = fast_path_allowed();
}

Vi::Outcome Vi::execute(Descriptor& d) noexcept {
  if (!well_formed(d, kMaxSegments))
    return refuse(d, descriptor_status::format_error, ErrorCause::format);
  const Operation operation = operation_of(d);
  if (d.control.length > nic_.attributes_.max_transfer_bytes)
    return refuse(d, descriptor_status::length_error, ErrorCause::length);
  const bool brings_data = operation != Operation::send && operation != Operation::rdma_write;
  if (!locals_ok(d, first_data(operation)) ||
      (brings_data && !locals_writable(d, first_data(operation))))
    return refuse(d, descriptor_status::protection_error, ErrorCause::protection);
  switch (operation) {
    case Operation::send:
      return execute_send(d);
    case Operation::rdma_write:
    case Operation::rdma_read:
      return execute_rdma(d);
    default:
      return execute_atomic(d);
  }
}

Vi::Outcome Vi::finish(Descriptor& d, CompletedOperation operation) noexcept {
  push_send(d, status_of(operation));
  return Outcome::done;
}

Vi::Outcome Vi::refuse(Descriptor& d, std::uint32_t status, ErrorCause cause) noexcept {
  return refuse(d, status, cause, cause_for_peer(cause, operation_of(d), status));
}

Vi::Outcome Vi::refuse(Descriptor& d, std::uint32_t status, ErrorCause cause,
                       ErrorCause for_peer) noexcept {
  if (!pending_.empty() && pending_.front().descriptor == &d) pending_.pop_front();
  push_send(d, status_of(completed_as(operation_of(d))) | status);
  if (attributes_.reliability != Reliability::unreliable) fail(cause, for_peer, false);
  return Outcome::failed;
}

/// Claims the slot of the peer's next posted receive. failed: there is none, and the descriptor has
/// been completed.
Vi::Outcome Vi::claim_receive(Descriptor& d, Slot*& slot) noexcept {
  if (tx_->notify.attached.load(kAcquire) == 0) return Outcome::later;
  const bool was_pending = !pending_.empty() && pending_.front().descriptor == &d;
  if (tx_seq_ == tx_limit_) take_room(tx_->receiver.posted.load(kAcquire));
  if (state_ != ViState::connected || tx_seq_ == tx_limit_) {
    if (state_ != ViState::connected) {  // the peer's count was nonsense; all is flushed
      if (!was_pending)
        push_send(d, status_of(completed_as(operation_of(d))) | descriptor_status::flushed);
      return Outcome::failed;
    }
    const bool posted = tx_->receiver.client_counter[0].load(kAcquire) > tx_seq_;
    if (posted) return Outcome::later;  // more receives are posted than the ring shows
    if (attributes_.reliability == Reliability::unreliable) {
      finish(d, completed_as(operation_of(d)));  // lost, as the level allows
      return Outcome::failed;
    }
    return refuse(d, descriptor_status::remote_descriptor_error, ErrorCause::receive_queue_empty);
  }
  slot = &claimed();
  return Outcome::done;
}

Vi::Outcome Vi::execute_send(Descriptor& d) noexcept {
  Slot* slot = nullptr;
  if (const Outcome outcome = claim_receive(d, slot); outcome != Outcome::done) return outcome;
  const bool immediate = (d.control.control & control_bits::immediate) != 0;
  const std::uint64_t flags = immediate ? header::immediate_bit : 0;
  if (immediate)
    slot->words[6] = (std::uint64_t{d.control.immediate_high} << 32) | d.control.immediate_low;
  // At the reception level a message must be in its receive when the send completes: a message that
  // is only in its slot does not do.
  if (d.control.length > kInlineBytes - (immediate ? 8U : 0U) ||
      attributes_.reliability == Reliability::reception)
    return deliver_large(d, *slot, flags);
  gather(d, 0, reinterpret_cast<std::byte*>(slot->words));
  publish(*slot, header::make(MessageKind::inline_data, d.control.length, 0) | flags);
  return finish(d, CompletedOperation::send);
}

/// Copies into the @p count segments of the posted receive; false: this process does not reach all
/// of them. The peer may write anything into the list: a place outside its window is not reached.
bool Vi::deliver_list(const Descriptor& d, std::uint64_t count) noexcept {
  const SegmentList list = segment_lists(*tx_, tx_slot_count_)[tx_seq_ & tx_mask_];
  if (count > list.size()) return false;
  const std::size_t window = nic_.job_.segment().window_bytes();
  for (std::size_t i = 0; i < count; ++i) {
    const PostedInfo& to = list[i];
    const bool reached = to.kind == PostedInfo::Kind::window
                             ? to.place <= window && to.length <= window - to.place
                             : nic_.cross_memory_works_;
    if (to.length != 0 && !reached) return false;
  }
  std::size_t at = 0;
  std::uint32_t within = 0;
  for (std::uint32_t i = 0; i < d.control.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    for (std::uint32_t done = 0; done < s.length;) {
      while (at < count && within == list[at].length) {
        ++at;
        within = 0;
      }
      if (at == count) return false;
      const PostedInfo& to = list[at];
      const std::uint32_t part = std::min(to.length - within, s.length - done);
      if (to.kind == PostedInfo::Kind::window)
        copy_bytes(theirs_.window + to.place + within, s.address + done, part);
      else if (!nic_.cross_copy(nic_.peer(peer_), to.place + within, s.address + done, part, true))
        return false;
      within += part;
      done += part;
    }
  }
  return true;
}

/// Calls copy(place, segment) for the data segments of @p d from @p first on, which lie at @p place
/// one behind the other; false: a copy has answered false.
template <class Copy>
static bool copy_each(const Descriptor& d, std::uint32_t first, std::uint64_t place, Copy copy) {
  for (std::uint32_t i = first; i < d.control.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    if (!copy(place, s)) return false;
    place += s.length;
  }
  return true;
}

/// Copies into the posted receive; false: this process does not reach it.
bool Vi::copy_to_receive(const Descriptor& d, const PostedInfo& info) noexcept {
  if (info.kind == PostedInfo::Kind::window) {
    gather(d, 0, theirs_.window + info.place);
    nic_.count(kDelivered);
    return true;
  }
  if (info.kind == PostedInfo::Kind::list && attributes_.reliability == Reliability::reception) {
    if (!deliver_list(d, info.place)) return false;
    nic_.count(kDelivered);
    return true;
  }
  if (info.kind != PostedInfo::Kind::owner_private || !nic_.cross_memory_works_) return false;
  return copy_each(d, 0, info.place, [this](std::uint64_t to, const LocalSegment& s) {
    return nic_.cross_copy(nic_.peer(peer_), to, s.address, s.length, true);
  });
}

/// Copies into the posted receive where this process can reach it, else into a staged block.
Vi::Outcome Vi::deliver_large(Descriptor& d, Slot& slot, std::uint64_t flags) noexcept {
  const PostedInfo info = posted_info(*tx_, tx_slot_count_)[tx_seq_ & tx_mask_];
  const std::uint32_t n = d.control.length;
  slot.words[0] = n;
  if (info.length < n || info.kind == PostedInfo::Kind::refused) {
    publish(slot, header::make(MessageKind::too_long, 8, 0) | flags);
    if (attributes_.reliability == Reliability::unreliable)
      return finish(d, CompletedOperation::send);  // lost
    const bool refused = info.kind == PostedInfo::Kind::refused;
    return refuse(d, descriptor_status::remote_descriptor_error,
                  cause_of(refused ? static_cast<std::uint32_t>(info.place)
                                   : descriptor_status::length_error));
  }
  // The peer may write anything into its memory: a place outside its window is no receive.
  const std::size_t window = nic_.job_.segment().window_bytes();
  if (info.kind == PostedInfo::Kind::window && (info.place > window || n > window - info.place))
    return refuse(d, descriptor_status::remote_descriptor_error, ErrorCause::format);
  bool delivered = false;
  {
    const Nic::Copying copying(nic_);
    // The receive has gone back to its program. The message that says so comes, and ends this send.
    if (is_closed()) return Outcome::later;
    delivered = copy_to_receive(d, info);
  }
  if (!delivered) return stage(d, slot, flags);
  publish(slot, header::make(MessageKind::delivered, 8, 0) | flags);
  return finish(d, CompletedOperation::send);
}

Vi::Outcome Vi::stage(Descriptor& d, Slot& slot, std::uint64_t flags) noexcept {
  Segment& segment = nic_.job_.segment();
  std::uint64_t offset = 0;
  try {
    offset = segment.allocate(sizeof(StagedBlock) + d.control.length);
  } catch (const std::exception&) {
    if (nic_.staged_.empty())
      return refuse(d, descriptor_status::transport_error, ErrorCause::transport);
    return Outcome::later;  // the receivers of earlier blocks will make room
  }
  nic_.count(kStaged);
  auto* block = new (segment.base() + offset) StagedBlock{};
  gather(d, 0, reinterpret_cast<std::byte*>(block + 1));
  slot.words[0] = d.control.length;
  slot.words[1] = offset;
  publish(slot, header::make(MessageKind::staged, 16, 0) | flags);
  if (attributes_.reliability != Reliability::reception) {
    nic_.keep(nic_.staged_, offset);
    return finish(d, CompletedOperation::send);
  }
  // The send completes when the peer has taken the block; later descriptors wait behind it.
  if (!pending_.empty()) {
    pending_.front().staged = offset;
    return Outcome::later;
  }
  pending_.push_back({&d, offset});
  nic_.keep(nic_.waiting_vis_, this);
  tx_ready_ = false;
  return Outcome::done;
}

/// Whether the peer's end of the connection is over, and its memory not to be touched any more.
bool Vi::is_closed() const noexcept { return tx_->receiver.closed.load(kAcquire) != 0; }

/// False: the kernel refuses.
bool Vi::copy_rdma(const Descriptor& d, const RemotePlace& place, bool write) noexcept {
  if (place.mapped != nullptr) {
    if (write)
      gather(d, 1, place.mapped);
    else
      scatter(d, 1, place.mapped, d.control.length);
    return true;
  }
  return copy_each(d, 1, place.owner_address, [&](std::uint64_t at, const LocalSegment& s) {
    return nic_.cross_copy(nic_.peer(peer_), at, s.address, s.length, write);
  });
}

/// A protection check has refused @p d. A write with immediate data fails the peer's receive, too,
/// where one is posted: then that receive tells the peer.
Vi::Outcome Vi::refuse_rdma(Descriptor& d, std::uint32_t status) noexcept {
  const bool immediate = (d.control.control & control_bits::immediate) != 0;
  if (!immediate ||
      (tx_->notify.attached.load(kAcquire) != 0 && tx_->receiver.posted.load(kAcquire) <= tx_seq_))
    return refuse(d, status, ErrorCause::protection);
  Slot* slot = nullptr;
  if (const Outcome outcome = claim_receive(d, slot); outcome != Outcome::done) return outcome;
  slot->words[0] = 0;
  slot->words[6] = (std::uint64_t{d.control.immediate_high} << 32) | d.control.immediate_low;
  publish(*slot,
          header::make(MessageKind::too_long, 8, 0) | header::immediate_bit | header::rdma_bit);
  return refuse(d, status, ErrorCause::protection, ErrorCause::protection);
}

Vi::Outcome Vi::execute_rdma(Descriptor& d) noexcept {
  const bool write = operation_of(d) == Operation::rdma_write;
  const AddressSegment& target = d.segments()[0].remote;
  const std::uint32_t n = d.control.length;
  const auto find_place = [&] {
    return nic_.remote_place(peer_, static_cast<ProtectionTag>(theirs_.tag), target.address,
                             target.handle, n, write ? Rights::rdma_write : Rights::rdma_read);
  };
  auto place = find_place();
  if (place.status != 0 && !is_closed()) return refuse_rdma(d, place.status);
  Slot* slot = nullptr;
  const bool immediate = (d.control.control & control_bits::immediate) != 0;
  if (immediate)
    if (const Outcome outcome = claim_receive(d, slot); outcome != Outcome::done) return outcome;
  nic_.count(kRdma);
  bool copied = true;
  {
    const Nic::Copying copying(nic_);
    if (is_closed()) return Outcome::later;  // the message that says so comes, and ends this one
    place = find_place();
    if (place.status == 0) copied = copy_rdma(d, place, write);
  }
  if (place.status != 0) return refuse_rdma(d, place.status);
  if (!copied && nic_.cross_error() == EFAULT)  // the peer's pages do not allow it
    return refuse_rdma(d, descriptor_status::rdma_protection_error);
  if (!copied) return refuse(d, descriptor_status::transport_error, ErrorCause::transport);
  if (immediate) {
    slot->words[0] = n;
    slot->words[6] = (std::uint64_t{d.control.immediate_high} << 32) | d.control.immediate_low;
    publish(*slot,
            header::make(MessageKind::delivered, 8, 0) | header::immediate_bit | header::rdma_bit);
  }
  return finish(d, completed_as(operation_of(d)));
}

Vi::Outcome Vi::execute_atomic(Descriptor& d) noexcept {
  const AddressSegment& target = d.segments()[0].remote;
  const OperandSegment operands = d.segments()[1].operands;
  if (is_closed()) return Outcome::later;
  const auto place = nic_.remote_place(peer_, static_cast<ProtectionTag>(theirs_.tag),
                                       target.address, target.handle, 8, Rights::atomic);
  if (place.status != 0) return refuse(d, place.status, ErrorCause::protection);
  if (target.address % 8 != 0 || place.mapped == nullptr)
    return refuse(d, descriptor_status::rdma_protection_error, ErrorCause::protection);
  nic_.count(kRdma);
  std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(place.mapped));
  std::uint64_t old = operands.operand;
  if (operation_of(d) == Operation::fetch_add)
    old = word.fetch_add(operands.operand);
  else
    word.compare_exchange_strong(old, operands.desired);
  std::memcpy(d.segments()[2].local.address, &old, 8);
  return finish(d, CompletedOperation::atomic);
}

}  // namespace viaduct::via::shm
