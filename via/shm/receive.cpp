/// Receives that the fast path does not take: what a posted receive tells the sender, and messages
/// that are not in one line.

#include <algorithm>

#include "via/descriptor_rules.hpp"
#include "via/shm/nic.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/parts.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via::shm {

using rules::cause_of;
using rules::status_of;

Status Vi::post_receive_slow(Descriptor& d) noexcept {
  if (rx_outstanding_ >= attributes_.receive_depth) return Status::retry;
  if (state_ == ViState::error) {
    ++rx_outstanding_;
    d.control.status = kReceived | descriptor_status::flushed;
    receive_cq_->push({this, &d, Queue::receive});
    return Status::ok;
  }
  d.control.status = 0;
  if (const std::uint32_t refused = check_receive(d); refused != 0) {
    refusals_.push_back({rx_posted_, refused});
    rx_plain_ = 0;
  }
  const std::uint64_t number = rx_posted_++;
  ++rx_outstanding_;
  rx_ring_[number & rx_ring_mask_] = &d;
  if (rx_ != nullptr) publish_receive(number);
  return Status::ok;
}

/// 0, or the error bits because of which no message may go into @p d.
std::uint32_t Vi::check_receive(const Descriptor& d) noexcept {
  if (d.control.segment_count > kMaxSegments || (d.control.control & control_bits::known) != 0)
    return descriptor_status::format_error;
  for (std::uint32_t i = 0; i < d.control.segment_count; ++i)
    if (!local_ok(d.segments()[i].local, receive_region_))
      return descriptor_status::protection_error;
  return 0;
}

std::uint32_t Vi::refusal_of(std::uint64_t number) const noexcept {
  for (const Refusal& r : refusals_)
    if (r.number == number) return r.status;
  return 0;
}

void Vi::forget_refusals() noexcept {
  refusals_.clear();
  rx_plain_ = rx_slot_count_;
}

/// Writes down where the segments of receive @p number lie; false: one of them is in no region any
/// more.
bool Vi::publish_list(const Descriptor& d, std::uint64_t number) noexcept {
  SegmentList& list = segment_lists(*rx_, rx_slot_count_)[number & rx_mask_];
  for (std::uint32_t i = 0; i < d.control.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    if (!local_ok(s, receive_region_)) return false;
    list[i] = place_of(s, receive_region_);
  }
  return true;
}

/// Tells the sender where receive @p number wants its data, as soon as the ring has a line for it.
void Vi::publish_receive(std::uint64_t number) noexcept {
  rx_->receiver.client_counter[0].store(rx_posted_, kRelease);
  if (number - rx_seq_ > rx_mask_) return;
  const Descriptor& d = *rx_ring_[number & rx_ring_mask_];
  PostedInfo info{0, 0, PostedInfo::Kind::indirect};
  if (const std::uint32_t refused = refusal_of(number); refused != 0) {
    info = {refused, 0, PostedInfo::Kind::refused};
  } else if (d.control.segment_count == 1 && local_ok(d.segment[0].local, receive_region_)) {
    info = place_of(d.segment[0].local, receive_region_);
  } else {
    std::uint64_t capacity = 0;
    for (std::uint32_t i = 0; i < d.control.segment_count; ++i)
      capacity += d.segments()[i].local.length;
    info.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(capacity, 0xffffffffU));
    if (attributes_.reliability == Reliability::reception && publish_list(d, number)) {
      info.kind = PostedInfo::Kind::list;
      info.place = d.control.segment_count;
    }
  }
  posted_info(*rx_, rx_slot_count_)[number & rx_mask_] = info;
  rx_->receiver.posted.store(number + 1, kRelease);
}

/// Whether a message of @p n bytes has a kind that senders write, and a block within their window.
bool Vi::is_sensible(const Slot& slot, std::uint64_t h, std::uint64_t n) const noexcept {
  switch (header::kind(h)) {
    case MessageKind::inline_data:
      return n <= kInlineBytes;
    case MessageKind::delivered:
    case MessageKind::too_long:
      return true;
    case MessageKind::staged: {
      const std::size_t window = nic_.job_.segment().window_bytes();
      const std::uint64_t at = slot.words[1];
      return at % alignof(StagedBlock) == 0 && at <= window - sizeof(StagedBlock) &&
             n <= window - sizeof(StagedBlock) - at;
    }
    default:
      return false;
  }
}

Descriptor* Vi::take_receive_slow(Slot& slot, std::uint64_t h) noexcept {
  VIADUCT_PART(recv_done);
  Descriptor& d = *rx_ring_[rx_seq_ & rx_ring_mask_];
  const std::uint32_t refused = refusal_of(rx_seq_);
  std::uint64_t capacity = 0;
  for (std::uint32_t i = 0; refused == 0 && i < d.control.segment_count; ++i)
    capacity += d.segments()[i].local.length;
  const MessageKind kind = header::kind(h);
  const auto n =
      kind == MessageKind::inline_data ? std::uint64_t{header::length(h)} : slot.words[0];
  std::uint32_t status = kReceived;
  if (refused != 0)
    status |= refused;
  else if (!is_sensible(slot, h, n))
    status |= descriptor_status::transport_error;
  else if ((h & header::rdma_bit) != 0)
    status = status_of(CompletedOperation::remote_rdma_write) |
             (kind == MessageKind::too_long ? descriptor_status::rdma_protection_error : 0);
  else if (kind == MessageKind::too_long || n > capacity)
    status |= descriptor_status::length_error;
  else if (kind == MessageKind::inline_data)
    scatter(d, 0, reinterpret_cast<const std::byte*>(slot.words), static_cast<std::uint32_t>(n));
  if (kind == MessageKind::staged && is_sensible(slot, h, n)) {
    auto* block = reinterpret_cast<StagedBlock*>(theirs_.window + slot.words[1]);
    if ((status & descriptor_status::error_mask) == 0)
      scatter(d, 0, reinterpret_cast<const std::byte*>(block + 1), static_cast<std::uint32_t>(n));
    block->taken.store(1, kRelease);
  }
  if ((h & header::immediate_bit) != 0) {
    status |= descriptor_status::immediate_present;
    d.control.immediate_low = static_cast<std::uint32_t>(slot.words[6]);
    d.control.immediate_high = static_cast<std::uint32_t>(slot.words[6] >> 32);
  }
  d.control.length = static_cast<std::uint32_t>(n);
  d.control.status = status;
  if (refused != 0) {
    std::erase_if(refusals_, [this](const Refusal& r) { return r.number == rx_seq_; });
    if (refusals_.empty()) forget_refusals();
  }
  const std::uint64_t next_shown = rx_seq_ + rx_mask_ + 1;
  ++rx_seq_;
  --rx_outstanding_;
  if (rx_posted_ > next_shown) publish_receive(next_shown);
  if ((status & descriptor_status::error_mask) != 0 && state_ == ViState::connected) {
    if (attributes_.reliability != Reliability::unreliable) {
      ++rx_outstanding_;  // it completes through the ring, before those that are flushed
      receive_cq_->push({this, &d, Queue::receive});
      fail(cause_of(status), true);
      return nullptr;
    }
  }
  return &d;
}

}  // namespace viaduct::via::shm
