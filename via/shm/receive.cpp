/// Receives that the fast path does not take: what a posted receive tells the sender, and messages
/// that are not in one line.

#include <algorithm>
#include <bit>
#include <memory>

#include "via/descriptor_rules.hpp"
#include "via/shm/nic.hpp"
#include "via/shm/segments.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/parts.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/shm/receive_queue.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via::shm {

using rules::cause_of;
using rules::status_of;

ReceiveQueue::ReceiveQueue(Nic& nic, const ViAttributes& attributes)
    : descriptor_mask_(std::bit_ceil<std::uint64_t>(attributes.receive_depth) - 1),
      nic_(nic),
      tag_(attributes.tag),
      reliability_(attributes.reliability) {
  descriptors_ = std::make_unique<Descriptor*[]>(descriptor_mask_ + 1);
}

void ReceiveQueue::attach(ChannelHead& ring, std::uint32_t slots, std::byte* window) noexcept {
  ring_ = &ring;
  entries_ = posted_info(ring, slots);
  entry_mask_ = slots - 1;
  sender_window_ = window;
  plain_ = refusals_.empty() ? slots : 0;
  for (std::uint64_t number = 0; number < posted_; ++number) show(number, 0);
}

void ReceiveQueue::post(Descriptor& d, std::uint64_t taken) noexcept {
  d.control.status = 0;
  if (const std::uint32_t refused = check(d); refused != 0) {
    refusals_.push_back({posted_, refused});
    plain_ = 0;
  }
  const std::uint64_t number = posted_++;
  descriptors_[number & descriptor_mask_] = &d;
  if (ring_ != nullptr) show(number, taken);
}

/// 0, or the error bits because of which no message may go into @p d.
std::uint32_t ReceiveQueue::check(const Descriptor& d) noexcept {
  if (d.control.segment_count > kMaxSegments || (d.control.control & control_bits::known) != 0)
    return descriptor_status::format_error;
  for (std::uint32_t i = 0; i < d.control.segment_count; ++i)
    if (!is_local(d.segments()[i].local)) return descriptor_status::protection_error;
  return 0;
}

std::uint32_t ReceiveQueue::refusal_of(std::uint64_t number) const noexcept {
  for (const Refusal& r : refusals_)
    if (r.number == number) return r.status;
  return 0;
}

void ReceiveQueue::forget_refusals() noexcept {
  refusals_.clear();
  plain_ = entry_mask_ + 1;
}

/// Writes down where the segments of receive @p number lie; false: one of them is in no region any
/// more.
bool ReceiveQueue::show_list(const Descriptor& d, std::uint64_t number) noexcept {
  const auto slots = static_cast<std::uint32_t>(entry_mask_ + 1);
  SegmentList& list = segment_lists(*ring_, slots)[number & entry_mask_];
  for (std::uint32_t i = 0; i < d.control.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    if (!is_local(s)) return false;
    list[i] = place_of(s);
  }
  return true;
}

/// Tells the sender where receive @p number wants its data, as soon as the ring has a line for it.
void ReceiveQueue::show(std::uint64_t number, std::uint64_t taken) noexcept {
  ring_->receiver.client_counter[0].store(posted_, kRelease);
  if (number - taken > entry_mask_) return;
  const Descriptor& d = at(number);
  PostedInfo info{0, 0, PostedInfo::Kind::indirect};
  if (const std::uint32_t refused = refusal_of(number); refused != 0) {
    info = {refused, 0, PostedInfo::Kind::refused};
  } else if (d.control.segment_count == 1 && is_local(d.segment[0].local)) {
    info = place_of(d.segment[0].local);
  } else {
    std::uint64_t capacity = 0;
    for (std::uint32_t i = 0; i < d.control.segment_count; ++i)
      capacity += d.segments()[i].local.length;
    info.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(capacity, 0xffffffffU));
    if (reliability_ == Reliability::reception && show_list(d, number)) {
      info.kind = PostedInfo::Kind::list;
      info.place = d.control.segment_count;
    }
  }
  entries_[number & entry_mask_] = info;
  ring_->receiver.posted.store(number + 1, kRelease);
}

void ReceiveQueue::show_next(std::uint64_t taken) noexcept {
  const std::uint64_t next_shown = taken + entry_mask_;
  if (posted_ > next_shown) show(next_shown, taken);
}

/// Whether a message of @p n bytes has a kind that senders write, and a block within their window.
bool ReceiveQueue::is_sensible(MessageKind kind, std::uint64_t n,
                               std::uint64_t staged_at) const noexcept {
  switch (kind) {
    case MessageKind::inline_data:
      return n <= kInlineBytes;
    case MessageKind::delivered:
    case MessageKind::too_long:
      return true;
    case MessageKind::staged: {
      const std::size_t window = nic_.job().segment().window_bytes();
      return staged_at % alignof(StagedBlock) == 0 && staged_at <= window - sizeof(StagedBlock) &&
             n <= window - sizeof(StagedBlock) - staged_at;
    }
    default:
      return false;
  }
}

Descriptor& ReceiveQueue::take(const Slot& slot, std::uint64_t h, std::uint64_t taken) noexcept {
  Descriptor& d = at(taken);
  const std::uint32_t refused = refusal_of(taken);
  std::uint64_t capacity = 0;
  for (std::uint32_t i = 0; refused == 0 && i < d.control.segment_count; ++i)
    capacity += d.segments()[i].local.length;
  const MessageKind kind = header::kind(h);
  // Each word once: a sender that does not keep to the protocol may change them meanwhile.
  const std::uint64_t n = kind == MessageKind::inline_data ? std::uint64_t{header::length(h)}
                                                           : load_word(slot.words[0], kRelaxed);
  const std::uint64_t staged_at = load_word(slot.words[1], kRelaxed);
  const bool sensible = is_sensible(kind, n, staged_at);
  std::uint32_t status = kReceived;
  if (refused != 0)
    status |= refused;
  else if (!sensible)
    status |= descriptor_status::transport_error;
  else if ((h & header::rdma_bit) != 0)
    status = status_of(CompletedOperation::remote_rdma_write) |
             (kind == MessageKind::too_long ? descriptor_status::rdma_protection_error : 0);
  else if (kind == MessageKind::too_long || n > capacity)
    status |= descriptor_status::length_error;
  else if (kind == MessageKind::inline_data)
    scatter(d, 0, reinterpret_cast<const std::byte*>(slot.words), static_cast<std::uint32_t>(n));
  if (kind == MessageKind::staged && sensible) {
    auto* block = reinterpret_cast<StagedBlock*>(sender_window_ + staged_at);
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
    std::erase_if(refusals_, [taken](const Refusal& r) { return r.number == taken; });
    if (refusals_.empty()) forget_refusals();
  }
  return d;
}

// A VI's part: completions, and the end of a connection over a receive that has failed.

Status Vi::post_receive_slow(Descriptor& d) noexcept {
  if (rx_outstanding_ >= attributes_.receive_depth) return Status::retry;
  ++rx_outstanding_;
  if (state_ == ViState::error) {
    d.control.status = ReceiveQueue::kReceived | descriptor_status::flushed;
    receive_cq_->push({this, &d, Queue::receive});
  } else {
    receives_.post(d, rx_seq_);
  }
  return Status::ok;
}

Descriptor* Vi::take_receive_slow(const Slot& slot, std::uint64_t h) noexcept {
  VIADUCT_PART(recv_done);
  if (rx_seq_ == receives_.posted()) {
    refuse("a message for which no receive is posted");
    return nullptr;
  }
  Descriptor& d = receives_.take(slot, h, rx_seq_);
  ++rx_seq_;
  --rx_outstanding_;
  receives_.show_next(rx_seq_);
  if (!d.failed() || state_ != ViState::connected ||
      attributes_.reliability == Reliability::unreliable)
    return &d;
  ++rx_outstanding_;  // it completes through the ring, before those that are flushed
  receive_cq_->push({this, &d, Queue::receive});
  const ErrorCause cause = cause_of(d.control.status);
  fail(cause, cause, true);
  return nullptr;
}

}  // namespace viaduct::via::shm
