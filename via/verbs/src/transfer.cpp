/// Data path of provider verbs: from a descriptor to work requests, and from the device's
/// completion back to the descriptor.

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <utility>

#include "via/descriptor_rules.hpp"
#include "via/verbs/src/nic.hpp"
#include "via/verbs/src/vi.hpp"

namespace viaduct::via::verbs {

namespace status = descriptor_status;
using rules::cause_for_peer;
using rules::cause_of;
using rules::completed_as;
using rules::first_data;
using rules::operation_of;
using rules::status_of;
using rules::well_formed;

namespace {

ibv_wr_opcode opcode_of(Operation operation, bool immediate) noexcept {
  switch (operation) {
    case Operation::send:
      return immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
    case Operation::rdma_write:
      return immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    case Operation::rdma_read:
      return IBV_WR_RDMA_READ;
    case Operation::compare_swap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    case Operation::fetch_add:
      break;
  }
  return IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/// Whether the descriptor uses up a receive of the peer's.
bool is_message(const Descriptor& d) noexcept {
  const Operation operation = operation_of(d);
  return operation == Operation::send ||
         (operation == Operation::rdma_write && (d.control.control & control_bits::immediate) != 0);
}

/// The meaning of a failed completion of a send, RDMA or atomic request, for the descriptor and for
/// the connection.
struct Meaning {
  std::uint32_t bits;
  ErrorCause cause;
};
Meaning meaning_of_send(ibv_wc_status code, Operation operation) noexcept {
  const bool is_send = operation == Operation::send;
  switch (code) {
    case IBV_WC_WR_FLUSH_ERR:
      return {status::flushed, ErrorCause::none};
    case IBV_WC_LOC_LEN_ERR:
      return {status::length_error, ErrorCause::length};
    case IBV_WC_LOC_QP_OP_ERR:
      return {status::format_error, ErrorCause::format};
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
      return {status::protection_error, ErrorCause::protection};
    case IBV_WC_REM_ACCESS_ERR:
      return {status::rdma_protection_error, ErrorCause::protection};
    case IBV_WC_REM_INV_REQ_ERR:  // the receive was too short; RDMA: an invalid request
      return is_send ? Meaning{status::remote_descriptor_error, ErrorCause::length}
                     : Meaning{status::rdma_protection_error, ErrorCause::protection};
    case IBV_WC_REM_OP_ERR:  // Soft-RoCE's word for a receive that is too short
      return {status::remote_descriptor_error, ErrorCause::length};
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return {status::remote_descriptor_error, ErrorCause::receive_queue_empty};
    case IBV_WC_RETRY_EXC_ERR:  // no answer: the peer's host, its process or the route is gone
      return {status::transport_error, ErrorCause::connection_lost};
    default:
      return {status::transport_error, ErrorCause::transport};
  }
}

/// The same for receives.
Meaning meaning_of_receive(ibv_wc_status code) noexcept {
  switch (code) {
    case IBV_WC_WR_FLUSH_ERR:
    case IBV_WC_REM_ACCESS_ERR:  // an RDMA write with immediate that was refused
      return {status::flushed, ErrorCause::none};
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_LOC_QP_OP_ERR:  // the lists that the device gets are good: it is the length
      return {status::length_error, ErrorCause::length};
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
      return {status::protection_error, ErrorCause::protection};
    default:
      return {status::transport_error, ErrorCause::transport};
  }
}

}  // namespace

Vi::Row::Row(std::uint32_t depth)
    : entries_(std::make_unique<Posted[]>(std::bit_ceil(depth))), mask_(std::bit_ceil(depth) - 1) {}

std::uint64_t Vi::work_id(bool receive, std::uint64_t number) const noexcept {
  return std::uint64_t{id_} << 33 | std::uint64_t{receive ? 1U : 0U} << 32 |
         static_cast<std::uint32_t>(number);
}

// Posting.

/// 0, or the error bits that the descriptor gets in its turn.
std::uint32_t Vi::check_send(const Descriptor& d) const noexcept {
  if (!well_formed(d, nic_.attributes_.max_segments)) return status::format_error;
  if (d.control.length > nic_.attributes_.max_transfer_bytes) return status::length_error;
  const Operation operation = operation_of(d);
  if (operation == Operation::send && goes_inline(d)) return 0;
  const std::uint32_t first = first_data(operation);
  if (first == 2 && d.segments()[0].remote.address % 8 != 0) return status::rdma_protection_error;
  for (std::uint32_t i = first; i < d.control.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    if (s.length == 0) continue;
    const Nic::Region* region = nic_.region_of(s.handle);
    if (region == nullptr || !region->covers(s, attributes_.tag)) return status::protection_error;
  }
  return 0;
}

std::uint32_t Vi::check_receive(const Descriptor& d) const noexcept {
  const ControlSegment& c = d.control;
  if (c.segment_count > nic_.attributes_.max_segments || c.control != 0)
    return status::format_error;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < c.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    total += s.length;
    if (s.length == 0) continue;
    const Nic::Region* region = nic_.region_of(s.handle);
    if (region == nullptr || !region->covers(s, attributes_.tag)) return status::protection_error;
  }
  return total == c.length ? 0 : status::format_error;
}

Status Vi::post_send(Descriptor& d) noexcept {
  if (state_ == ViState::idle || state_ == ViState::connecting) return Status::bad_state;
  if (send_outstanding_ >= attributes_.send_depth) return Status::retry;
  ++send_outstanding_;
  d.control.status = 0;
  Posted posted{&d, 0, 0};
  if (state_ == ViState::error) {
    finish_send(posted, status::flushed);
    return Status::ok;
  }
  posted.refusal = check_send(d);
  if (posted.refusal != 0) {
    refused_ = true;
    if (sends_.empty()) {
      finish_send(posted, posted.refusal);
      fail(cause_of(posted.refusal));
      nic_.tell_errors();
      return Status::ok;
    }
  }
  if (refused_ || !peer_ready_) {
    if (hold(posted)) return Status::ok;
    --send_outstanding_;
    return Status::retry;
  }
  const bool taken = hand_over(posted);
  sends_.push(posted);
  if (!taken) {
    fail(ErrorCause::transport);
    nic_.tell_errors();
  }
  return Status::ok;
}

/// A descriptor that waits for earlier RDMA reads does not: they may bring its data.
bool Vi::goes_inline(const Descriptor& d) const noexcept {
  const Operation operation = operation_of(d);
  if ((d.control.control & control_bits::queue_fence) != 0) return false;
  return (operation == Operation::send || operation == Operation::rdma_write) &&
         d.control.length <= nic_.attributes_.inline_bytes;
}

/// Keeps a send until the peer takes packets. Inline data are copied here, since the program may
/// change them after the post. False: no memory.
bool Vi::hold(const Posted& posted) noexcept {
  try {
    auto& copy = held_data_.emplace_back();
    const Descriptor& d = *posted.descriptor;
    if (posted.refusal == 0 && goes_inline(d)) {
      copy.reserve(d.control.length);
      for (std::uint32_t i = first_data(operation_of(d)); i < d.control.segment_count; ++i) {
        const LocalSegment& s = d.segments()[i].local;
        copy.insert(copy.end(), s.address, s.address + s.length);
      }
    }
  } catch (const std::bad_alloc&) {
    if (held_data_.size() > held_) held_data_.pop_back();
    return false;
  }
  ++held_;
  sends_.push(posted);
  return true;
}

/// Gives the device a descriptor: one work request, or at reliable reception two, of which the
/// second reads from the peer and so completes when what was sent is in the peer's memory.
bool Vi::hand_over(Posted& posted, std::span<const std::byte> copy) noexcept {
  const Descriptor& d = *posted.descriptor;
  const Operation operation = operation_of(d);
  const std::uint32_t first = first_data(operation);
  std::array<ibv_sge, kMaxSegments> segments;
  int count = 0;
  if (!copy.empty())
    segments[static_cast<std::size_t>(count++)] = {reinterpret_cast<std::uint64_t>(copy.data()),
                                                   static_cast<std::uint32_t>(copy.size()), 0};
  for (std::uint32_t i = first; copy.empty() && i < d.control.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    if (s.length == 0) continue;
    segments[static_cast<std::size_t>(count++)] = {reinterpret_cast<std::uint64_t>(s.address),
                                                   s.length, static_cast<std::uint32_t>(s.handle)};
  }
  const bool immediate = (d.control.control & control_bits::immediate) != 0;
  const bool copied = goes_inline(d);
  const std::uint32_t requests = requests_each();
  posted.last_request = pair_->posted() + requests - 1;
  ibv_send_wr request{};
  request.wr_id = work_id(false, pair_->posted());
  request.sg_list = segments.data();
  request.num_sge = count;
  request.opcode = opcode_of(operation, immediate);
  const auto flag = [&](bool on, unsigned bit) { request.send_flags |= on ? bit : 0U; };
  flag(requests == 1, IBV_SEND_SIGNALED);
  flag(copied, IBV_SEND_INLINE);
  flag((d.control.control & control_bits::queue_fence) != 0, IBV_SEND_FENCE);
  if (immediate) request.imm_data = htonl(d.control.immediate_low);
  nic_.count(kSends);
  if (copied) nic_.count(kInlineSends);
  if (first == 1) {
    request.wr.rdma.remote_addr = d.segments()[0].remote.address;
    request.wr.rdma.rkey = static_cast<std::uint32_t>(d.segments()[0].remote.handle);
    nic_.count(kRdma);
  } else if (first == 2) {
    request.wr.atomic.remote_addr = d.segments()[0].remote.address;
    request.wr.atomic.rkey = static_cast<std::uint32_t>(d.segments()[0].remote.handle);
    request.wr.atomic.compare_add = d.segments()[1].operands.operand;
    request.wr.atomic.swap = d.segments()[1].operands.desired;
    nic_.count(kRdma);
  }
  if (requests == 1) return pair_->post(request, 1);
  const ibv_mr& local = nic_.flush_region(attributes_.tag);
  ibv_sge word{reinterpret_cast<std::uint64_t>(local.addr), sizeof(std::uint64_t), local.lkey};
  ibv_send_wr arrival{};
  arrival.wr_id = work_id(false, posted.last_request);
  arrival.sg_list = &word;
  arrival.num_sge = 1;
  arrival.opcode = IBV_WR_RDMA_READ;
  arrival.send_flags = IBV_SEND_SIGNALED;
  arrival.wr.rdma.remote_addr = flush_address_;
  arrival.wr.rdma.rkey = flush_key_;
  request.next = &arrival;
  return pair_->post(request, 2);
}

/// The peer takes packets now: gives the device the sends that were kept.
void Vi::send_held() noexcept {
  while (held_ != 0 && state_ == ViState::connected) {
    Posted& posted = sends_.at(sends_.size() - held_);
    if (posted.refusal != 0) break;
    --held_;
    const std::vector<std::byte> copy = std::move(held_data_.front());
    held_data_.pop_front();
    if (!hand_over(posted, copy)) return fail(ErrorCause::transport);
  }
}

Status Vi::post_receive(Descriptor& d) noexcept {
  if (receive_outstanding_ >= attributes_.receive_depth) return Status::retry;
  ++receive_outstanding_;
  d.control.status = 0;
  Posted posted{&d, 0, 0};
  if (state_ == ViState::error) {
    finish_receive(posted, status::flushed);
    return Status::ok;
  }
  posted.refusal = check_receive(d);
  receives_.push(posted);
  if (pair_ != nullptr && !hand_over_receive(posted)) {
    fail(ErrorCause::transport);
    nic_.tell_errors();
  }
  return Status::ok;
}

/// A receive that must not be used gets no bytes: the message for it fails in its turn.
bool Vi::hand_over_receive(const Posted& posted) noexcept {
  const Descriptor& d = *posted.descriptor;
  std::array<ibv_sge, kMaxSegments> segments;
  ibv_recv_wr request{};
  request.wr_id = work_id(true, receives_posted_++);
  request.sg_list = segments.data();
  for (std::uint32_t i = 0; posted.refusal == 0 && i < d.control.segment_count; ++i) {
    const LocalSegment& s = d.segments()[i].local;
    if (s.length == 0) continue;
    segments[static_cast<std::size_t>(request.num_sge++)] = {
        reinterpret_cast<std::uint64_t>(s.address), s.length, static_cast<std::uint32_t>(s.handle)};
  }
  return pair_->post_receive(request);
}

// Completing.

void Vi::completed(const ibv_wc& wc) noexcept {
  if ((wc.wr_id >> 32 & 1) != 0)
    completed_receive(wc);
  else
    completed_send(wc);
}

void Vi::completed_send(const ibv_wc& wc) noexcept {
  if (pair_ == nullptr) return;
  const std::uint64_t number = pair_->reap(static_cast<std::uint32_t>(wc.wr_id));
  if (tried_ && number == tried_as_) {
    tried_ = false;
    if (wc.status != IBV_WC_SUCCESS && wc.status != IBV_WC_WR_FLUSH_ERR)
      fail(meaning_of_send(wc.status, Operation::rdma_write).cause);
    return;
  }
  if (sends_.size() == held_) return;  // the second request of a descriptor that has failed
  const Posted posted = sends_.front();
  if (number + requests_each() <= posted.last_request) return;  // of an earlier one that failed
  if (wc.status == IBV_WC_SUCCESS) {
    if (number != posted.last_request) return;
    sends_.pop();
    if (is_message(*posted.descriptor)) ++sent_;
    finish_send(posted, 0);
  } else {
    const Operation operation = operation_of(*posted.descriptor);
    const Meaning meaning = meaning_of_send(wc.status, operation);
    sends_.pop();
    finish_send(posted, meaning.bits);
    if (meaning.cause != ErrorCause::none)
      return fail(meaning.cause, cause_for_peer(meaning.cause, operation, meaning.bits), false);
  }
  if (refused_ && sends_.size() == held_ && !sends_.empty() && sends_.front().refusal != 0 &&
      state_ == ViState::connected) {
    const Posted bad = sends_.front();
    sends_.pop();
    --held_;
    held_data_.pop_front();
    finish_send(bad, bad.refusal);
    fail(cause_of(bad.refusal));
  }
}

void Vi::completed_receive(const ibv_wc& wc) noexcept {
  if (receives_.empty() ||
      static_cast<std::uint32_t>(wc.wr_id) != static_cast<std::uint32_t>(receives_taken_))
    return;
  ++receives_taken_;
  const Posted posted = receives_.front();
  receives_.pop();
  Descriptor& d = *posted.descriptor;
  if (wc.status == IBV_WC_SUCCESS && posted.refusal == 0) {
    d.control.length = wc.byte_len;
    std::uint32_t bits = 0;
    if ((wc.wc_flags & IBV_WC_WITH_IMM) != 0) {
      d.control.immediate_low = ntohl(wc.imm_data);
      d.control.immediate_high = 0;
      bits = status::immediate_present;
    }
    const bool written = wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM;
    d.control.status = bits | status_of(written ? CompletedOperation::remote_rdma_write
                                                : CompletedOperation::receive);
    ++arrived_;
    receive_cq_->push({this, &d, Queue::receive});
    return;
  }
  Meaning meaning = wc.status == IBV_WC_SUCCESS ? Meaning{status::flushed, ErrorCause::transport}
                                                : meaning_of_receive(wc.status);
  if (posted.refusal != 0 && meaning.cause != ErrorCause::none)
    meaning = {posted.refusal, cause_of(posted.refusal)};
  finish_receive(posted, meaning.bits);
  if (meaning.cause != ErrorCause::none) return fail(meaning.cause, true);
  // The reason for the flush is in the other queue.
  if (state_ == ViState::connected && send_cq_ != receive_cq_) send_cq_->reap_for_owner();
}

void Vi::finish_send(Posted posted, std::uint32_t bits) noexcept {
  Descriptor& d = *posted.descriptor;
  d.control.status = bits | status_of(completed_as(operation_of(d)));
  send_cq_->push({this, &d, Queue::send});
}

void Vi::finish_receive(Posted posted, std::uint32_t bits) noexcept {
  Descriptor& d = *posted.descriptor;
  d.control.length = 0;
  d.control.status = bits | status_of(CompletedOperation::receive);
  receive_cq_->push({this, &d, Queue::receive});
}

/// The peer has told which messages it got; its acknowledgements may have been lost with its queue
/// pair. Requests are executed in order: those that were posted before a message that has come
/// there have been executed, too, except that the answers of reads and atomics must have come here.
void Vi::apply(const LastWord& last) noexcept {
  while (sends_.size() != held_) {
    const Posted posted = sends_.front();
    const bool is_send = is_message(*posted.descriptor);
    const auto came = static_cast<std::int32_t>(last.arrived - sent_);
    if (came < 0 || (came == 0 && last.refused == 0)) return;
    if (!is_send && operation_of(*posted.descriptor) != Operation::rdma_write) return;
    sends_.pop();
    if (is_send && came == 0) return finish_send(posted, status::remote_descriptor_error);
    if (is_send) ++sent_;
    finish_send(posted, 0);
  }
}

/// With nothing under way, posts an empty write, which the peer's device answers even when its
/// process does nothing. Not while another thread waits for the queues, and may use this VI at any
/// time.
void Vi::keep_alive() noexcept {
  if (state_ != ViState::connected || !peer_ready_ || tried_ || sends_.size() != held_) return;
  if (send_cq_->has_notifier() || receive_cq_->has_notifier()) return;
  tried_ = true;
  tried_as_ = pair_->posted();
  ibv_send_wr request{};
  request.wr_id = work_id(false, tried_as_);
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  if (!pair_->post(request, 1)) fail(ErrorCause::transport);
}

/// Completes all descriptors that the device has not completed, as flushed.
void Vi::flush() noexcept {
  for (; !sends_.empty(); sends_.pop()) finish_send(sends_.front(), status::flushed);
  for (; !receives_.empty(); receives_.pop()) finish_receive(receives_.front(), status::flushed);
  held_ = 0;
  held_data_.clear();
  refused_ = false;
}

}  // namespace viaduct::via::verbs
