#pragma once
/// @file
/// Control messages of provider verbs' NIC.

#include <cstdint>

#include "via/verbs/src/queue_pair.hpp"

namespace viaduct::via::verbs {

enum class ControlKind : std::uint32_t {
  none,
  request,  // client asks the listener
  accept,   // the listener takes packets
  reject,
  peer_request,  // peer-to-peer form
  ready,         // the writer has met the reader's queue pair and takes packets
  cancel,        // the requester gave up
  disconnect,
  error,    // the writer has put its VI into the error state
  refusal,  // the same, for the message behind those that have arrived
};

struct ControlMessage {
  ControlKind kind = ControlKind::none;
  std::uint32_t source_vi = 0;
  std::uint32_t target_vi = 0;
  std::uint32_t detail = 0;  // Reliability; reject: ConnectResult; error, refusal: ErrorCause
  std::uint64_t discriminator = 0;
  QueuePairName pair;
  std::uint64_t flush_address = 0;  // 8 bytes that the reader may read (reliable reception)
  std::uint32_t flush_key = 0;
  std::uint32_t arrived = 0;  // of the reader's messages, modulo 2^32
};

}  // namespace viaduct::via::verbs
