#pragma once
/// @file
/// The data of provider verbs in control messages, beside the fields of via/control_message.hpp.

#include <cstdint>

#include "via/verbs/src/queue_pair.hpp"

namespace viaduct::via::verbs {

/// The data of a request and an accept.
struct PairOffer {
  QueuePairName pair;
  std::uint64_t flush_address = 0;  // 8 bytes that the reader may read (reliable reception)
  std::uint32_t flush_key = 0;
  std::uint32_t reserved = 0;
};

/// The data of a final message.
struct LastWord {
  std::uint32_t arrived = 0;  // of the reader's messages, modulo 2^32
  std::uint32_t refused = 0;  // 1: the message behind those has been refused
};

}  // namespace viaduct::via::verbs
