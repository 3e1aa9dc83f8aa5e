/// Queue pairs for unreliable datagrams.

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/soft-verbs/queue_pair.hpp"

namespace soft_verbs {

namespace {

constexpr std::size_t kHeaderBytes = 40;  // the global header in front of each datagram

/// As IPv6's: version, payload, next header, hops, and both addresses.
std::array<std::byte, kHeaderBytes> make_header(const Packet& packet, Place to, std::size_t bytes) {
  std::array<std::byte, kHeaderBytes> header{};
  header[0] = std::byte{0x60};
  header[4] = static_cast<std::byte>(bytes >> 8);
  header[5] = static_cast<std::byte>(bytes);
  header[6] = std::byte{0x1b};
  header[7] = std::byte{64};
  ibv_gid_entry entry;
  if (gid_entry({packet.from_device, packet.from_port}, 0, entry))
    std::memcpy(&header[8], entry.gid.raw, sizeof entry.gid.raw);
  if (gid_entry(to, 0, entry)) std::memcpy(&header[24], entry.gid.raw, sizeof entry.gid.raw);
  return header;
}

}  // namespace

/// The oldest request. An error of the sender's stops only the send queue.
void QueuePair::send_datagram(SendRequest& request) {
  ibv_wc_status status = check_memory(request);
  if (request.length > kMaxPayload) status = IBV_WC_LOC_LEN_ERR;
  if (status != IBV_WC_SUCCESS) {
    finish_send(status);
    state = IBV_QPS_SQE;
    return flush_sends();
  }
  Packet packet = make_packet(request);
  packet.kind = Kind::datagram;
  packet.flags = Packet::kFirst | Packet::kLast;
  if (request.immediate) packet.flags |= Packet::kImmediate;
  if (request.solicited) packet.flags |= Packet::kSolicited;
  packet.to_pair = request.to_pair;
  packet.to_port = request.to.port;
  std::vector<iovec> pieces;
  if (request.length != 0) gather(request, 0, request.length, pieces);
  send(owner(), request.to, packet, {pieces.data(), pieces.size()});
  finish_send(IBV_WC_SUCCESS);
}

void QueuePair::take_datagram(const Packet& packet, const std::byte* payload, std::size_t bytes) {
  const bool takes = qp_type == IBV_QPT_UD && (takes_packets() || state == IBV_QPS_SQE);
  if (!takes || packet.key != set_.qkey || packet.to_port != set_.port_num || !take_receive())
    return control().count(kUnheardDatagrams);
  const auto header = make_header(packet, {owner().device->index, set_.port_num}, bytes);
  std::size_t room = 0;
  for (const ibv_sge& segment : current_->segments) room += segment.length;
  ibv_wc completion{};
  completion.opcode = IBV_WC_RECV;
  completion.byte_len = static_cast<std::uint32_t>(kHeaderBytes + bytes);
  completion.src_qp = packet.from_pair;
  completion.wc_flags = IBV_WC_GRH;
  completion.slid = lid_of({packet.from_device, packet.from_port});
  if ((packet.flags & Packet::kImmediate) != 0) {
    completion.wc_flags |= IBV_WC_WITH_IMM;
    completion.imm_data = packet.immediate;
  }
  if (room < kHeaderBytes + bytes)
    completion.status = IBV_WC_LOC_LEN_ERR;
  else if (!scatter(current_->segments, 0, header.data(), kHeaderBytes) ||
           !scatter(current_->segments, kHeaderBytes, payload, bytes))
    completion.status = IBV_WC_LOC_PROT_ERR;
  finish_receive(completion, (packet.flags & Packet::kSolicited) != 0);
  if (completion.status != IBV_WC_SUCCESS) fail();
}

}  // namespace soft_verbs
