#pragma once
/// @file
/// What the control messages of provider verbs bring beside what via/control_message.hpp describes.

#include <cstdint>

#include "via/verbs/src/queue_pair.hpp"

namespace viaduct::via::verbs {

/// Of a request and an accept.
struct PairOffer {
  QueuePairName pair;
  std::uint64_t flush_address = 0;  // 8 bytes that the reader may read (reliable reception)
  std::uint32_t flush_key = 0;
  std::uint32_t reserved = 0;
};

/// Of a final.
struct LastWord {
  std::uint32_t arrived = 0;  // of the reader's messages, modulo 2^32
  std::uint32_t refused = 0;  // 1: the message behind those has been refused
};

}  // namespace viaduct::via::verbs
