/// The receiving side of a reliable connection: requests are executed in the order of their
/// numbers.

#include <algorithm>

#include "tests/soft-verbs/queue_pair.hpp"

namespace soft_verbs {

bool QueuePair::is_from_peer(const Packet& packet) const {
  return qp_type == IBV_QPT_RC && packet.from_pair == set_.dest_qp_num &&
         packet.from_device == peer_.device && packet.from_port == peer_.port;
}

void QueuePair::answer(Kind kind, Verdict verdict, std::uint32_t number, std::uint32_t length,
                       std::uint64_t operand) {
  Packet packet;
  packet.kind = kind;
  packet.verdict = verdict;
  packet.from_pair = qp_num;
  packet.to_pair = set_.dest_qp_num;
  packet.from_device = owner().device->index;
  packet.from_port = set_.port_num;
  packet.number = number;
  packet.length = length;
  packet.operand = operand;
  send(owner(), peer_, packet, {});
}

/// One for all packets of a batch.
void QueuePair::acknowledge() {
  if (!owes_) return;
  owes_ = false;
  if (takes_packets())
    answer(Kind::answer, Verdict::acknowledged, following(expected_, kNumberMask));
}

void QueuePair::take_ping(const Packet& packet) {
  acknowledge();
  Packet pong = packet;
  std::swap(pong.from_pair, pong.to_pair);
  pong.kind = Kind::pong;
  pong.from_device = owner().device->index;
  pong.from_port = set_.port_num;
  send(owner(), Place{packet.from_device, packet.from_port}, pong, {});
}

void QueuePair::take_request(const Packet& packet, const std::byte* payload, std::size_t bytes) {
  if (!takes_packets() || !is_from_peer(packet)) return;
  if (state == IBV_QPS_RTR && !established_) {
    established_ = true;
    ibv_async_event event{};
    event.event_type = IBV_EVENT_COMM_EST;
    event.element.qp = this;
    tell(owner(), event);
  }
  const std::int32_t ahead = distance(packet.number, expected_);
  if (ahead < 0) return take_duplicate(packet);
  if (ahead > 0) {
    if (refused_) return;
    refused_ = true;
    control().count(kSequenceErrors);
    return answer(Kind::answer, Verdict::sequence, expected_);
  }
  refused_ = false;
  if (!execute(packet, payload, bytes) || owes_) return;
  owes_ = true;
  owner().owes.push_back(this);
}

/// Its answer may have been lost: reads are executed again, all else is answered as it was.
void QueuePair::take_duplicate(const Packet& packet) {
  if (packet.operation == Operation::read) {
    const bool granted =
        packet.length == 0 || find_region(owner(), pd, packet.key, packet.address, packet.length,
                                          IBV_ACCESS_REMOTE_READ) != nullptr;
    if (granted) send_data(packet);
    return;
  }
  if (packet.operation > Operation::read) {
    for (const Atomic& done : atomics_)
      if (done.number == packet.number)
        return answer(Kind::old_value, Verdict::acknowledged, done.number, 0, done.value);
    return;
  }
  if (owes_) return;
  owes_ = true;
  owner().owes.push_back(this);
}

/// Says why the request is not executed. A receiver that is only not ready stays as it is.
bool QueuePair::refuse(const Packet& packet, Verdict verdict) {
  const bool not_ready = verdict == Verdict::not_ready;
  owes_ = false;  // the refusal says that all before it has been executed
  if (not_ready) control().count(kReceiverNotReady);  // before the sender knows
  answer(Kind::answer, verdict, packet.number, not_ready ? set_.min_rnr_timer : 0U);
  if (!not_ready) return false;
  refused_ = true;
  return false;
}

/// False: refused.
bool QueuePair::execute(const Packet& packet, const std::byte* payload, std::size_t bytes) {
  bool done = false;
  switch (packet.operation) {
    case Operation::send:
      done = execute_send(packet, payload, bytes);
      break;
    case Operation::write:
      done = execute_write(packet, payload, bytes);
      break;
    case Operation::read:
      return execute_read(packet);
    default:
      return execute_atomic(packet);
  }
  if (done) expected_ = following(expected_, 1);
  return done;
}

bool QueuePair::execute_send(const Packet& packet, const std::byte* payload, std::size_t bytes) {
  if ((packet.flags & Packet::kFirst) != 0) {
    if (!take_receive()) return refuse(packet, Verdict::not_ready);
    taken_ = 0;
  }
  if (!current_) return refuse(packet, Verdict::invalid_request);
  std::size_t room = 0;
  for (const ibv_sge& segment : current_->segments) room += segment.length;
  ibv_wc completion{};
  completion.opcode = IBV_WC_RECV;
  completion.src_qp = packet.from_pair;
  const bool fits = taken_ + bytes <= room;
  if (!fits || !scatter(current_->segments, taken_, payload, bytes)) {
    completion.status = fits ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_LEN_ERR;
    finish_receive(completion, true);
    (void)refuse(packet, fits ? Verdict::operation : Verdict::invalid_request);
    fail();
    return false;
  }
  taken_ += bytes;
  if ((packet.flags & Packet::kLast) == 0) return true;
  completion.byte_len = static_cast<std::uint32_t>(taken_);
  if ((packet.flags & Packet::kImmediate) != 0) {
    completion.wc_flags = IBV_WC_WITH_IMM;
    completion.imm_data = packet.immediate;
  }
  finish_receive(completion, (packet.flags & Packet::kSolicited) != 0);
  return true;
}

bool QueuePair::execute_write(const Packet& packet, const std::byte* payload, std::size_t bytes) {
  if ((packet.flags & Packet::kFirst) != 0) {
    write_to_ = packet.address;
    write_key_ = packet.key;
    write_left_ = packet.length;
  }
  const bool enabled = (set_.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) != 0;
  const bool granted =
      write_left_ == 0 || find_region(owner(), pd, write_key_, write_to_, write_left_,
                                      IBV_ACCESS_REMOTE_WRITE) != nullptr;
  if (!enabled || !granted || bytes > write_left_) {
    (void)refuse(packet, granted ? Verdict::invalid_request : Verdict::access);
    fail(granted ? IBV_EVENT_QP_REQ_ERR : IBV_EVENT_QP_ACCESS_ERR);
    return false;
  }
  const bool tells = (packet.flags & Packet::kImmediate) != 0;
  if (tells && !take_receive()) return refuse(packet, Verdict::not_ready);
  write_memory(owner(), write_to_, payload, bytes);
  write_to_ += bytes;
  write_left_ -= static_cast<std::uint32_t>(bytes);
  if (!tells) return true;
  ibv_wc completion{};
  completion.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  completion.wc_flags = IBV_WC_WITH_IMM;
  completion.imm_data = packet.immediate;
  completion.byte_len = packet.length;
  completion.src_qp = packet.from_pair;
  finish_receive(completion, (packet.flags & Packet::kSolicited) != 0);
  return true;
}

bool QueuePair::execute_read(const Packet& packet) {
  const bool enabled =
      (set_.qp_access_flags & IBV_ACCESS_REMOTE_READ) != 0 && set_.max_dest_rd_atomic != 0;
  const bool granted =
      packet.length == 0 || find_region(owner(), pd, packet.key, packet.address, packet.length,
                                        IBV_ACCESS_REMOTE_READ) != nullptr;
  if (!enabled || !granted) {
    (void)refuse(packet, enabled ? Verdict::access : Verdict::invalid_request);
    fail(enabled ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
    return false;
  }
  const auto path = static_cast<std::uint32_t>(path_bytes_);
  expected_ = following(expected_, std::max(1U, (packet.length + path - 1) / path));
  send_data(packet);
  return false;  // the data acknowledge the request
}

void QueuePair::send_data(const Packet& request) {
  Packet packet;
  packet.kind = Kind::data;
  packet.from_pair = qp_num;
  packet.to_pair = set_.dest_qp_num;
  packet.from_device = owner().device->index;
  packet.from_port = set_.port_num;
  std::uint32_t sent = 0;
  std::uint32_t number = request.number;
  do {
    const auto bytes =
        std::min<std::uint32_t>(request.length - sent, static_cast<std::uint32_t>(path_bytes_));
    iovec piece{reinterpret_cast<void*>(request.address + sent), bytes};
    packet.number = number;
    send(owner(), peer_, packet, {&piece, bytes == 0 ? std::size_t{0} : std::size_t{1}});
    sent += bytes;
    number = following(number, 1);
  } while (sent != request.length);
}

bool QueuePair::execute_atomic(const Packet& packet) {
  constexpr std::uint64_t kWord = 8;
  const bool good = (set_.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) != 0 &&
                    set_.max_dest_rd_atomic != 0 && packet.address % kWord == 0;
  if (!good || find_region(owner(), pd, packet.key, packet.address, kWord,
                           IBV_ACCESS_REMOTE_ATOMIC) == nullptr) {
    (void)refuse(packet, good ? Verdict::access : Verdict::invalid_request);
    fail(good ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
    return false;
  }
  const std::uint64_t old = packet.operation == Operation::fetch_add
                                ? add_memory(packet.address, packet.operand)
                                : swap_memory(packet.address, packet.compare, packet.operand);
  atomics_.push_back({packet.number, old});
  if (atomics_.size() > kMostReads) atomics_.pop_front();
  expected_ = following(expected_, 1);
  answer(Kind::old_value, Verdict::acknowledged, packet.number, 0, old);
  return false;
}

}  // namespace soft_verbs
