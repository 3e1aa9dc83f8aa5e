/// The sending side of a reliable connection: packets, answers, and what is sent again.

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/soft-verbs/queue_pair.hpp"

namespace soft_verbs {

namespace {

constexpr std::uint32_t kMaxMessage = 1U << 30;
constexpr std::int32_t kWindow = 256;  // packets under way, beyond which no request begins
constexpr std::uint32_t kForEver = 7;  // repetitions to a receiver that is not ready

bool reads(const SendRequest& request) noexcept { return request.operation > Operation::write; }
bool is_atomic(const SendRequest& request) noexcept { return request.operation > Operation::read; }

std::uint64_t rnr_wait_ns(std::uint32_t code) noexcept {
  constexpr std::uint32_t kHundredths[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                             16,    24,   32,   48,    64,    96,    128,   192,
                                             256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                             4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return kHundredths[code & 31] * std::uint64_t{10'000};
}

}  // namespace

ibv_wc_status QueuePair::check_memory(const SendRequest& request) const {
  if (request.length > kMaxMessage || (is_atomic(request) && request.length != 8))
    return IBV_WC_LOC_LEN_ERR;
  for (const ibv_sge& segment : request.segments)
    if (find_region(owner(), pd, segment.lkey, segment.addr, segment.length,
                    reads(request) ? IBV_ACCESS_LOCAL_WRITE : 0) == nullptr)
      return IBV_WC_LOC_PROT_ERR;
  return IBV_WC_SUCCESS;
}

bool QueuePair::may_begin(const SendRequest& request) const {
  if (&request == &sends_.front()) return true;
  return distance(next_, oldest_) < kWindow && !(request.fenced && reads_ != 0) &&
         !(reads(request) && reads_ >= std::max<std::uint32_t>(set_.max_rd_atomic, 1));
}

/// Gives the request's packets their numbers.  False: not now, or the pair has failed with it.
bool QueuePair::begin(SendRequest& request) {
  if (!may_begin(request)) return false;
  const ibv_wc_status status =
      reads(request) && set_.max_rd_atomic == 0 ? IBV_WC_LOC_QP_OP_ERR : check_memory(request);
  if (status != IBV_WC_SUCCESS) {
    if (&request == &sends_.front()) come_to_error(status);  // else in its turn
    return false;
  }
  request.begun = true;
  request.first = next_;
  const auto path = static_cast<std::uint32_t>(path_bytes_);
  request.packets = std::max(1U, (request.length + path - 1) / path);
  next_ = following(next_, request.packets);
  if (reads(request)) ++reads_;
  return true;
}

Packet QueuePair::make_packet(const SendRequest& request) const {
  Packet packet;
  packet.kind = Kind::request;
  packet.operation = request.operation;
  packet.from_pair = qp_num;
  packet.to_pair = set_.dest_qp_num;
  packet.from_device = owner().device->index;
  packet.from_port = set_.port_num;
  packet.to_port = peer_.port;
  packet.immediate = request.value;
  packet.key = request.key;
  packet.length = request.length;
  packet.address = request.address;
  packet.operand = request.operand;
  packet.compare = request.compare;
  return packet;
}

void QueuePair::gather(const SendRequest& request, std::size_t at, std::size_t bytes,
                       std::vector<iovec>& out) const {
  if (request.inlined) {
    out.push_back({const_cast<std::byte*>(request.bytes.data() + at), bytes});
    return;
  }
  std::size_t found = 0;
  for (const ibv_sge& segment : request.segments) {
    if (at >= segment.length) {
      at -= segment.length;
      continue;
    }
    const std::size_t piece = std::min<std::size_t>(segment.length - at, bytes - found);
    if (piece == 0) break;
    out.push_back({reinterpret_cast<void*>(segment.addr + at), piece});
    found += piece;
    at = 0;
  }
}

/// All packets of the request that are to go.  False: there is no room for the next one.
bool QueuePair::send_packet(SendRequest& request) {
  Packet packet = make_packet(request);
  if (reads(request)) {  // what is missing of the answer
    const std::size_t at = request.received * path_bytes_;
    packet.flags = Packet::kFirst | Packet::kLast;
    packet.number = following(request.first, request.received);
    packet.address += at;
    packet.length -= static_cast<std::uint32_t>(at);
    if (try_send(owner(), peer_, packet, {}) == Sent::full) return false;
    request.sent = request.packets;
    return true;
  }
  if (distance(oldest_, request.first) > static_cast<std::int32_t>(request.sent))
    request.sent = static_cast<std::uint32_t>(distance(oldest_, request.first));
  std::vector<iovec> pieces;
  for (; request.sent < request.packets; ++request.sent) {
    const std::size_t at = request.sent * path_bytes_;
    const bool last = request.sent + 1 == request.packets;
    pieces.clear();
    if (request.length != 0)
      gather(request, at, std::min(path_bytes_, request.length - at), pieces);
    packet.number = following(request.first, request.sent);
    packet.flags = request.sent == 0 ? Packet::kFirst : std::uint8_t{0};
    if (last) packet.flags |= Packet::kLast;
    if (last && request.immediate) packet.flags |= Packet::kImmediate;
    if (last && request.solicited) packet.flags |= Packet::kSolicited;
    if (try_send(owner(), peer_, packet, {pieces.data(), pieces.size()}) == Sent::full)
      return false;
  }
  return true;
}

void QueuePair::advance() {
  if (state != IBV_QPS_RTS || rnr_until_ns_ != 0 || hold_until_ns_ != 0) return;
  if (qp_type == IBV_QPT_UD) {
    while (!sends_.empty() && state == IBV_QPS_RTS) send_datagram(sends_.front());
    return;
  }
  while (cursor_ < sends_.size()) {
    SendRequest& request = sends_[cursor_];
    if (!request.begun && !begin(request)) break;
    if (!send_packet(request)) break;
    ++cursor_;
  }
  keep_time();
}

/// The oldest request fails with the pair.
void QueuePair::come_to_error(ibv_wc_status status) {
  finish_send(status);
  fail();
}

bool QueuePair::talks_to(std::uint32_t link) const {
  return qp_type == IBV_QPT_RC && takes_packets() &&
         link == (static_cast<std::uint32_t>(peer_.device) << 16 | set_.dest_qp_num >> kIndexBits);
}

// Answers.

/// All packets up to @p number have been executed.  False: an answer of theirs has been lost, and
/// is asked for again.
bool QueuePair::complete_through(std::uint32_t number) {
  bool moved = false;
  while (!sends_.empty() && sends_.front().begun && distance(number, sends_.front().first) >= 0) {
    const SendRequest& request = sends_.front();
    const std::uint32_t last = following(request.first, request.packets - 1);
    if (reads(request)) {
      if (moved) progressed();
      if (!std::exchange(asked_again_, true)) retry();  // not for each packet that was under way
      return false;
    }
    const bool whole = distance(number, last) >= 0;
    moved = moved || distance(number, oldest_) >= 0;
    oldest_ = following(whole ? last : number, 1);
    if (!whole) break;
    finish_send(IBV_WC_SUCCESS);
  }
  if (moved) progressed();
  return true;
}

void QueuePair::take_answer(const Packet& packet, const std::byte* payload, std::size_t bytes) {
  if (state != IBV_QPS_RTS || !is_from_peer(packet)) return;
  if (distance(packet.number, oldest_) < 0 || distance(packet.number, next_) >= 0) return;
  if (packet.kind == Kind::answer && packet.verdict == Verdict::acknowledged) {
    if (complete_through(packet.number)) advance();
    return;
  }
  if (packet.number != oldest_ && !complete_through(following(packet.number, kNumberMask))) return;
  if (sends_.empty() || !sends_.front().begun || packet.number != oldest_) return;
  if (packet.kind == Kind::answer)
    refused(packet);
  else
    take_data(packet, payload, bytes);
}

void QueuePair::refused(const Packet& packet) {
  switch (packet.verdict) {
    case Verdict::not_ready:
      return wait_for_receiver(packet.length);
    case Verdict::sequence:
      return retry();
    case Verdict::access:
      return come_to_error(IBV_WC_REM_ACCESS_ERR);
    case Verdict::operation:
      return come_to_error(IBV_WC_REM_OP_ERR);
    default:
      return come_to_error(IBV_WC_REM_INV_REQ_ERR);
  }
}

void QueuePair::wait_for_receiver(std::uint32_t code) {
  if (rnr_left_ == 0 && set_.rnr_retry != kForEver) return come_to_error(IBV_WC_RNR_RETRY_EXC_ERR);
  if (set_.rnr_retry != kForEver) --rnr_left_;
  rewind();
  deadline_ns_ = 0;
  awaits_pong_ = false;
  rnr_until_ns_ = now_ns() + rnr_wait_ns(code);
  set_timer(owner(), rnr_until_ns_);
}

/// The next packet of the answer to the oldest request.
void QueuePair::take_data(const Packet& packet, const std::byte* payload, std::size_t bytes) {
  SendRequest& request = sends_.front();
  const bool is_value = packet.kind == Kind::old_value;
  if (!reads(request) || is_atomic(request) != is_value) return;
  const auto* const from = is_value ? reinterpret_cast<const std::byte*>(&packet.operand) : payload;
  const std::size_t at = request.received * path_bytes_;
  const std::size_t wanted = std::min<std::size_t>(request.length - at, path_bytes_);
  if (!is_value && bytes != wanted) return come_to_error(IBV_WC_BAD_RESP_ERR);
  if (!scatter(request.segments, at, from, wanted)) return come_to_error(IBV_WC_LOC_PROT_ERR);
  oldest_ = following(oldest_, 1);
  if (++request.received == request.packets) {
    --reads_;
    finish_send(IBV_WC_SUCCESS);
  }
  progressed();
  advance();
}

/// Nothing is written unless all may be.
bool QueuePair::scatter(const std::vector<ibv_sge>& segments, std::size_t at, const std::byte* from,
                        std::size_t bytes) {
  for (const bool writes : {false, true}) {
    std::size_t skip = at;
    std::size_t done = 0;
    for (const ibv_sge& segment : segments) {
      if (skip >= segment.length) {
        skip -= segment.length;
        continue;
      }
      const std::size_t piece = std::min<std::size_t>(segment.length - skip, bytes - done);
      if (piece == 0) break;
      const std::uint64_t to = segment.addr + skip;
      if (writes)
        write_memory(owner(), to, from + done, piece);
      else if (find_region(owner(), pd, segment.lkey, to, piece, IBV_ACCESS_LOCAL_WRITE) == nullptr)
        return false;
      done += piece;
      skip = 0;
    }
  }
  return true;
}

// Time.

/// The peer answers: all repetitions are to be had again.
void QueuePair::progressed() {
  retries_left_ = set_.retry_cnt;
  rnr_left_ = set_.rnr_retry;
  awaits_pong_ = asked_again_ = false;
  deadline_ns_ = 0;
  keep_time();
}

void QueuePair::keep_time() {
  const bool waits = state == IBV_QPS_RTS && oldest_ != next_ && !sends_.empty();
  if (!waits || set_.timeout == 0 || deadline_ns_ != 0 || awaits_pong_ || rnr_until_ns_ != 0)
    return;
  deadline_ns_ = now_ns() + (std::uint64_t{4096} << set_.timeout);
  set_timer(owner(), deadline_ns_);
}

/// A packet without an answer is lost only if the peer has had the time to answer, which its pong
/// says: a process that does not run, or a machine that is busy, loses nothing.
void QueuePair::run_timer(std::uint64_t now) {
  for (std::uint64_t* until : {&rnr_until_ns_, &hold_until_ns_}) {
    if (*until == 0) continue;
    if (now < *until) {
      set_timer(owner(), *until);
      continue;
    }
    *until = 0;
    advance();
  }
  if (deadline_ns_ == 0) return;
  if (oldest_ == next_) {
    deadline_ns_ = 0;
    return;
  }
  if (now < deadline_ns_) return set_timer(owner(), deadline_ns_);
  deadline_ns_ = 0;
  if (!is_reachable(owner(), peer_, set_.dest_qp_num)) return retry();
  Packet ping;
  ping.kind = Kind::ping;
  ping.from_pair = qp_num;
  ping.to_pair = set_.dest_qp_num;
  ping.from_device = owner().device->index;
  ping.from_port = set_.port_num;
  ping.number = ++pings_;
  awaits_pong_ = true;
  send(owner(), peer_, ping, {});
}

void QueuePair::take_pong(const Packet& packet) {
  if (!awaits_pong_ || packet.number != pings_) return;
  awaits_pong_ = asked_again_ = false;
  retry();
}

void QueuePair::peer_gone() {
  if (!awaits_pong_) return;
  awaits_pong_ = false;
  keep_time();
}

void QueuePair::rewind() {
  cursor_ = 0;
  for (SendRequest& request : sends_) request.sent = 0;
}

void QueuePair::retry() {
  if (sends_.empty() || !sends_.front().begun) return;
  control().count(kRetries);
  if (retries_left_ == 0) return come_to_error(IBV_WC_RETRY_EXC_ERR);
  --retries_left_;
  deadline_ns_ = 0;
  rewind();
  advance();
}

}  // namespace soft_verbs
