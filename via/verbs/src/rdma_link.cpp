#include "via/verbs/src/rdma_link.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "via/verbs/src/errors.hpp"
#include "via/verbs/src/rdma_transport.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::verbs {

RdmaLink::RdmaLink(RdmaTransport& transport, std::byte* block, std::size_t half_bytes,
                   std::uint32_t notifications, void* owner)
    : block_(block),
      half_bytes_(half_bytes),
      depth_(static_cast<std::uint32_t>(transport.device_.settings().link_depth)),
      transport_(transport),
      notifications_(notifications),
      owner_(owner) {
  signal_every_ = until_signal_ = std::max(1U, depth_ / 4);
  region_.reset(library().reg_mr(transport.domain_.get(), block, 2 * half_bytes,
                                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
  if (region_ == nullptr) throw_registration(errno, "the rings of a peer", 2 * half_bytes);
  key_ = region_->rkey;
  transport.add(*this);
}

RdmaLink::~RdmaLink() {
  transport_.remove(*this);
  pair_.reset();  // before the region that it writes to
}

via::Link::Name RdmaLink::name() const noexcept {
  const Plain plain{reinterpret_cast<std::uint64_t>(block_), key_, pair_->name(), {}};
  Name name;
  std::memcpy(name.data(), &plain, sizeof plain);
  return name;
}

void RdmaLink::connect(Rank peer, const Name& theirs) {
  Plain plain;
  std::memcpy(&plain, theirs.data(), sizeof plain);
  peer_ = peer;
  peer_block_ = plain.block;
  peer_key_ = plain.key;
  fill(line_, line_segment_, block_, kLineBytes, peer_block_ + half_bytes_);
  line_.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  line_.wr_id = work_id(0);
  line_there_ = peer_block_ + half_bytes_;
  pair_->connect(transport_.control_path_->address_of(peer), plain.pair);
  transport_.tell_ready(peer, plain.pair.number);
}

void RdmaLink::fill(ibv_send_wr& request, ibv_sge& segment, const std::byte* from,
                    std::uint32_t bytes, std::uint64_t to) noexcept {
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
void RdmaLink::send(ibv_send_wr& chain, ibv_send_wr& last, std::uint32_t count) noexcept {
  last.wr_id = work_id(pair_->posted() + count - 1);
  until_signal_ -= std::min(count, until_signal_);
  if (until_signal_ == 0) {
    last.send_flags |= IBV_SEND_SIGNALED;
    until_signal_ = signal_every_;
    ++transport_.counters_[kSignalled];
  }
  ++transport_.counters_[kPosts];
  transport_.counters_[kChained] += count - 1;
  if (!pair_->post(chain, count)) [[unlikely]]
    transport_.record_failure(*this, IBV_WC_LOC_QP_OP_ERR);
}

bool RdmaLink::post(std::span<const Piece> pieces, std::uint32_t notification, bool tell) noexcept {
  if (closed_) [[unlikely]]
    return failed_;  // a post to a failed link is lost with the link
  const auto count = static_cast<std::uint32_t>(pieces.size());
  if (!pair_->has_room(count + kSpare)) [[unlikely]] {
    transport_.reap_sends();
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
    last.imm_data = htonl(notification);
  }
  send(requests[0], last, count);
  return true;
}

bool RdmaLink::post_line(std::uint32_t offset, std::uint32_t notification) noexcept {
  QueuePair& pair = *pair_;
  if (closed_ || !pair.has_room(1 + kSpare)) [[unlikely]]
    return post_line_slow(offset, notification);
  line_segment_.addr = reinterpret_cast<std::uint64_t>(block_) + offset;
  line_.wr.rdma.remote_addr = line_there_ + offset;
  line_.imm_data = htonl(notification);
  // The lower half of the identifier: the upper one is the link's, and stays. x86 has it first.
  const auto number = static_cast<std::uint32_t>(pair.posted());
  std::memcpy(&line_.wr_id, &number, sizeof number);
  ++transport_.counters_[kPosts];
  const bool signalled = --until_signal_ == 0;
  if (signalled) {
    line_.send_flags |= IBV_SEND_SIGNALED;
    until_signal_ = signal_every_;
    ++transport_.counters_[kSignalled];
  }
  if (!pair.post_into_room(line_, 1)) [[unlikely]]
    transport_.record_failure(*this, IBV_WC_LOC_QP_OP_ERR);
  if (signalled) line_.send_flags &= ~unsigned{IBV_SEND_SIGNALED};
  return true;
}

bool RdmaLink::post_line_slow(std::uint32_t offset, std::uint32_t notification) noexcept {
  const Piece piece{offset, kLineBytes};
  return post(std::span(&piece, 1), notification, true);
}

bool RdmaLink::post_back(Piece piece, std::uint32_t notification, bool tell) noexcept {
  if (closed_) return failed_;
  if (!pair_->has_room(1)) {
    transport_.reap_sends();
    if (!pair_->has_room(1)) return failed_;
  }
  ibv_send_wr request;
  ibv_sge segment;
  fill(request, segment, block_ + half_bytes_ + piece.offset, piece.bytes,
       peer_block_ + piece.offset);
  if (piece.bytes == 0) request.num_sge = 0;
  if (tell) {
    request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request.imm_data = htonl(notification);
  }
  send(request, request, 1);
  return true;
}

/// The last requests may be unsignalled: an empty request behind them shows that they are complete.
bool RdmaLink::drained() noexcept {
  transport_.reap_sends();
  if (failed_ || (ready_ && pair_->outstanding() == 0)) return true;
  if (!ready_ || marked() || !pair_->has_room(1)) return false;
  until_signal_ = 1;
  post_empty();
  return false;
}

/// Posts an empty write, which the peer's device answers even when its process does nothing. When
/// the send queue is full, the requests under way do the same. A peer that has handled all control
/// messages has taken up the connection, or has ended it since.
void RdmaLink::keep_alive() noexcept {
  const bool connected = peer_block_ != 0;
  if (connected && !ready_ && transport_.control_path_->all_delivered(peer_)) set_ready();
  if (!closed_ && pair_->has_room(1 + kSpare)) post_empty();
}

void RdmaLink::post_empty() noexcept {
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma.remote_addr = peer_block_;
  request.wr.rdma.rkey = peer_key_;
  send(request, request, 1);
}

void RdmaLink::fail() noexcept {
  set_failed();
  pair_->fail();
}

}  // namespace viaduct::via::verbs
