/// Carrying out the descriptors that the fast path of a send does not take: larger sends, gather
/// and scatter, immediates, RDMA and atomics.

#include "via/shm/transfer.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "via/copy.hpp"
#include "via/descriptor_rules.hpp"
#include "via/shm/nic.hpp"
#include "via/shm/segments.hpp"
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

namespace {
/// Calls copy(place, segment) for the data segments of @p d from @p first on, which lie at @p place
/// one behind the other; false: a copy has answered false.
template <class Copy>
bool copy_each(const Descriptor& d, std::uint32_t first, std::uint64_t place, Copy copy) {
  for (std::uint32_t i = first; i < d.control.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    if (!copy(place, s)) return false;
    place += s.length;
  }
  return true;
}
}  // namespace

bool Vi::SendQueue::Transfer::locals_ok(std::uint32_t first) noexcept {
  for (std::uint32_t i = first; i < d_.control.segment_count; ++i)
    if (!queue_.region_.find(nic_, vi_.attributes_.tag, d_.segments()[i].local,
                             RegionCache::Use::read))
      return false;
  return true;
}

/// Of an operation that brings data. Precondition: locals_ok().
bool Vi::SendQueue::Transfer::locals_writable(std::uint32_t first) noexcept {
  for (std::uint32_t i = first; i < d_.control.segment_count; ++i) {
    const LocalSegment& s = d_.segments()[i].local;
    if (s.length != 0 && !Nic::may_write(*nic_.local_region(s.handle))) return false;
  }
  return true;
}

Fate Vi::SendQueue::Transfer::run() noexcept {
  if (!well_formed(d_, kMaxSegments))
    return refuse(descriptor_status::format_error, ErrorCause::format);
  const Operation operation = operation_of(d_);
  if (d_.control.length > nic_.attributes_.max_transfer_bytes)
    return refuse(descriptor_status::length_error, ErrorCause::length);
  const bool brings_data = operation != Operation::send && operation != Operation::rdma_write;
  if (!locals_ok(first_data(operation)) || (brings_data && !locals_writable(first_data(operation))))
    return refuse(descriptor_status::protection_error, ErrorCause::protection);
  switch (operation) {
    case Operation::send:
      return send();
    case Operation::rdma_write:
    case Operation::rdma_read:
      return rdma();
    default:
      return atomic();
  }
}

Fate Vi::SendQueue::Transfer::finish(CompletedOperation operation) noexcept {
  queue_.complete(vi_, d_, status_of(operation));
  return Fate::done;
}

Fate Vi::SendQueue::Transfer::refuse(std::uint32_t status, ErrorCause cause) noexcept {
  return refuse(status, cause, cause_for_peer(cause, operation_of(d_), status));
}

Fate Vi::SendQueue::Transfer::refuse(std::uint32_t status, ErrorCause cause,
                                     ErrorCause for_peer) noexcept {
  queue_.drop(d_);
  queue_.complete(vi_, d_, status_of(completed_as(operation_of(d_))) | status);
  if (vi_.attributes_.reliability != Reliability::unreliable) vi_.fail(cause, for_peer, false);
  return Fate::failed;
}

/// Claims the slot of the peer's next posted receive. failed: there is none, and the descriptor has
/// been completed.
Fate Vi::SendQueue::Transfer::claim_receive(Slot*& slot) noexcept {
  if (vi_.tx_->notify.attached.load(kAcquire) == 0) return Fate::later;
  const bool was_waiting = queue_.is_oldest(d_);
  if (vi_.tx_seq_ == vi_.tx_limit_) vi_.take_room(vi_.tx_->receiver.posted.load(kAcquire));
  if (vi_.state_ != ViState::connected || vi_.tx_seq_ == vi_.tx_limit_) {
    if (vi_.state_ != ViState::connected) {  // the peer's count was nonsense; all is flushed
      if (!was_waiting)
        queue_.complete(vi_, d_,
                        status_of(completed_as(operation_of(d_))) | descriptor_status::flushed);
      return Fate::failed;
    }
    const bool posted = vi_.tx_->receiver.client_counter[0].load(kAcquire) > vi_.tx_seq_;
    if (posted) return Fate::later;  // more receives are posted than the ring shows
    if (vi_.attributes_.reliability == Reliability::unreliable) {
      finish(completed_as(operation_of(d_)));  // lost, as the level allows
      return Fate::failed;
    }
    return refuse(descriptor_status::remote_descriptor_error, ErrorCause::receive_queue_empty);
  }
  slot = &vi_.claimed();
  return Fate::done;
}

Fate Vi::SendQueue::Transfer::send() noexcept {
  Slot* slot = nullptr;
  if (const Fate fate = claim_receive(slot); fate != Fate::done) return fate;
  const bool immediate = is_immediate();
  const std::uint64_t flags = immediate ? header::immediate_bit : 0;
  if (immediate) put_immediate(*slot);
  // At the reception level a message must be in its receive when the send completes: a message that
  // is only in its slot does not do.
  if (d_.control.length > kInlineBytes - (immediate ? 8U : 0U) ||
      vi_.attributes_.reliability == Reliability::reception)
    return deliver_large(*slot, flags);
  gather(d_, 0, reinterpret_cast<std::byte*>(slot->words));
  publish(*slot, header::make(MessageKind::inline_data, d_.control.length, 0) | flags);
  return finish(CompletedOperation::send);
}

/// Copies into the @p count segments of the posted receive; false: this process does not reach all
/// of them. The peer may write anything into the list: a place outside its window is not reached.
bool Vi::SendQueue::Transfer::deliver_list(std::uint64_t count) noexcept {
  const SegmentList list = segment_lists(*vi_.tx_, vi_.tx_slot_count_)[vi_.tx_seq_ & vi_.tx_mask_];
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
  for (std::uint32_t i = 0; i < d_.control.segment_count; ++i) {
    const LocalSegment& s = d_.segments()[i].local;
    for (std::uint32_t done = 0; done < s.length;) {
      while (at < count && within == list[at].length) {
        ++at;
        within = 0;
      }
      if (at == count) return false;
      const PostedInfo& to = list[at];
      const std::uint32_t part = std::min(to.length - within, s.length - done);
      if (to.kind == PostedInfo::Kind::window)
        copy_bytes(vi_.theirs_.window + to.place + within, s.address + done, part);
      else if (!nic_.cross_copy(nic_.peer(vi_.peer_), to.place + within, s.address + done, part,
                                true))
        return false;
      within += part;
      done += part;
    }
  }
  return true;
}

/// Copies into the posted receive; false: this process does not reach it.
bool Vi::SendQueue::Transfer::copy_to_receive(const PostedInfo& info) noexcept {
  if (info.kind == PostedInfo::Kind::window) {
    gather(d_, 0, vi_.theirs_.window + info.place);
    nic_.count(kDelivered);
    return true;
  }
  if (info.kind == PostedInfo::Kind::list &&
      vi_.attributes_.reliability == Reliability::reception) {
    if (!deliver_list(info.place)) return false;
    nic_.count(kDelivered);
    return true;
  }
  if (info.kind != PostedInfo::Kind::owner_private || !nic_.cross_memory_works_) return false;
  return copy_each(d_, 0, info.place, [this](std::uint64_t to, const LocalSegment& s) {
    return nic_.cross_copy(nic_.peer(vi_.peer_), to, s.address, s.length, true);
  });
}

/// Copies into the posted receive where this process can reach it, else into a staged block.
Fate Vi::SendQueue::Transfer::deliver_large(Slot& slot, std::uint64_t flags) noexcept {
  const PostedInfo info = posted_info(*vi_.tx_, vi_.tx_slot_count_)[vi_.tx_seq_ & vi_.tx_mask_];
  const std::uint32_t n = d_.control.length;
  slot.words[0] = n;
  if (info.length < n || info.kind == PostedInfo::Kind::refused) {
    publish(slot, header::make(MessageKind::too_long, 8, 0) | flags);
    if (vi_.attributes_.reliability == Reliability::unreliable)
      return finish(CompletedOperation::send);  // lost
    const bool refused = info.kind == PostedInfo::Kind::refused;
    return refuse(descriptor_status::remote_descriptor_error,
                  cause_of(refused ? static_cast<std::uint32_t>(info.place)
                                   : descriptor_status::length_error));
  }
  // The peer may write anything into its memory: a place outside its window is no receive.
  const std::size_t window = nic_.job_.segment().window_bytes();
  if (info.kind == PostedInfo::Kind::window && (info.place > window || n > window - info.place))
    return refuse(descriptor_status::remote_descriptor_error, ErrorCause::format);
  bool delivered = false;
  {
    const Nic::Copying copying(nic_);
    // The receive has gone back to its program. The message that says so comes, and ends this send.
    if (is_closed()) return Fate::later;
    delivered = copy_to_receive(info);
  }
  if (!delivered) return stage(slot, flags);
  publish(slot, header::make(MessageKind::delivered, 8, 0) | flags);
  return finish(CompletedOperation::send);
}

Fate Vi::SendQueue::Transfer::stage(Slot& slot, std::uint64_t flags) noexcept {
  Segment& segment = nic_.job_.segment();
  std::uint64_t offset = 0;
  try {
    offset = segment.allocate(sizeof(StagedBlock) + d_.control.length);
  } catch (const std::exception&) {
    if (nic_.staged_.empty())
      return refuse(descriptor_status::transport_error, ErrorCause::transport);
    return Fate::later;  // the receivers of earlier blocks will make room
  }
  nic_.count(kStaged);
  auto* block = new (segment.base() + offset) StagedBlock{};
  gather(d_, 0, reinterpret_cast<std::byte*>(block + 1));
  slot.words[0] = d_.control.length;
  slot.words[1] = offset;
  publish(slot, header::make(MessageKind::staged, 16, 0) | flags);
  if (vi_.attributes_.reliability != Reliability::reception) {
    nic_.keep(nic_.staged_, Nic::Staged{offset, vi_.end_});
    return finish(CompletedOperation::send);
  }
  // The send completes when the peer has taken the block; later descriptors wait behind it.
  if (queue_.has_waiting()) {
    queue_.waiting_.front().staged = offset;
    return Fate::later;
  }
  queue_.add(d_, offset);
  return Fate::done;
}

bool Vi::SendQueue::Transfer::is_immediate() const noexcept {
  return (d_.control.control & control_bits::immediate) != 0;
}

void Vi::SendQueue::Transfer::put_immediate(Slot& slot) const noexcept {
  slot.words[6] = (std::uint64_t{d_.control.immediate_high} << 32) | d_.control.immediate_low;
}

void Vi::SendQueue::Transfer::publish(Slot& slot, std::uint64_t header) noexcept {
  if (vi_.store_slot(slot, header)) [[unlikely]]
    vi_.ring_peer();
}

/// Whether the peer's end of the connection is over, and its memory not to be touched any more.
bool Vi::SendQueue::Transfer::is_closed() const noexcept {
  return vi_.tx_->receiver.closed.load(kAcquire) != 0;
}

/// False: the kernel refuses.
bool Vi::SendQueue::Transfer::copy_rdma(const RemotePlace& place, bool write) noexcept {
  if (place.mapped != nullptr) {
    if (write)
      gather(d_, 1, place.mapped);
    else
      scatter(d_, 1, place.mapped, d_.control.length);
    return true;
  }
  return copy_each(d_, 1, place.owner_address, [&](std::uint64_t at, const LocalSegment& s) {
    return nic_.cross_copy(nic_.peer(vi_.peer_), at, s.address, s.length, write);
  });
}

/// A protection check has refused the descriptor. A write with immediate data fails the peer's
/// receive, too, where one is posted: then that receive tells the peer.
Fate Vi::SendQueue::Transfer::refuse_rdma(std::uint32_t status) noexcept {
  if (!is_immediate() || (vi_.tx_->notify.attached.load(kAcquire) != 0 &&
                          vi_.tx_->receiver.posted.load(kAcquire) <= vi_.tx_seq_))
    return refuse(status, ErrorCause::protection);
  Slot* slot = nullptr;
  if (const Fate fate = claim_receive(slot); fate != Fate::done) return fate;
  slot->words[0] = 0;
  put_immediate(*slot);
  publish(*slot,
          header::make(MessageKind::too_long, 8, 0) | header::immediate_bit | header::rdma_bit);
  return refuse(status, ErrorCause::protection, ErrorCause::protection);
}

Fate Vi::SendQueue::Transfer::rdma() noexcept {
  const bool write = operation_of(d_) == Operation::rdma_write;
  const AddressSegment& target = d_.segments()[0].remote;
  const std::uint32_t n = d_.control.length;
  const auto find_place = [&] {
    return nic_.remote_place(vi_.peer_, static_cast<ProtectionTag>(vi_.theirs_.tag), target.address,
                             target.handle, n, write ? Rights::rdma_write : Rights::rdma_read);
  };
  auto place = find_place();
  if (place.status != 0 && !is_closed()) return refuse_rdma(place.status);
  Slot* slot = nullptr;
  const bool immediate = is_immediate();
  if (immediate)
    if (const Fate fate = claim_receive(slot); fate != Fate::done) return fate;
  nic_.count(kRdma);
  bool copied = true;
  {
    const Nic::Copying copying(nic_);
    if (is_closed()) return Fate::later;  // the message that says so comes, and ends this one
    place = find_place();
    if (place.status == 0) copied = copy_rdma(place, write);
  }
  if (place.status != 0) return refuse_rdma(place.status);
  if (!copied && nic_.cross_error() == EFAULT)  // the peer's pages do not allow it
    return refuse_rdma(descriptor_status::rdma_protection_error);
  if (!copied) return refuse(descriptor_status::transport_error, ErrorCause::transport);
  if (immediate) {
    slot->words[0] = n;
    put_immediate(*slot);
    publish(*slot,
            header::make(MessageKind::delivered, 8, 0) | header::immediate_bit | header::rdma_bit);
  }
  return finish(completed_as(operation_of(d_)));
}

Fate Vi::SendQueue::Transfer::atomic() noexcept {
  const AddressSegment& target = d_.segments()[0].remote;
  const OperandSegment operands = d_.segments()[1].operands;
  if (is_closed()) return Fate::later;
  const auto place = nic_.remote_place(vi_.peer_, static_cast<ProtectionTag>(vi_.theirs_.tag),
                                       target.address, target.handle, 8, Rights::atomic);
  if (place.status != 0) return refuse(place.status, ErrorCause::protection);
  if (target.address % 8 != 0 || place.mapped == nullptr)
    return refuse(descriptor_status::rdma_protection_error, ErrorCause::protection);
  nic_.count(kRdma);
  std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(place.mapped));
  std::uint64_t old = operands.operand;
  if (operation_of(d_) == Operation::fetch_add)
    old = word.fetch_add(operands.operand);
  else
    word.compare_exchange_strong(old, operands.desired);
  std::memcpy(d_.segments()[2].local.address, &old, 8);
  return finish(CompletedOperation::atomic);
}

}  // namespace viaduct::via::shm
