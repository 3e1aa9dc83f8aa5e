#pragma once
/// @file
/// The yardsticks' data in the block that both ranks map. For yardsticks' own sources only.

#include "benchmarks/common/yardsticks.hpp"

namespace viaduct::bench {

struct Yardsticks::Block {
  PairPage page;
  alignas(4096) Line slots[kSlots];
  alignas(4096) std::byte payloads[kSlots][kMediumBytes];
  alignas(4096) std::byte bulk[kBulkBytes];
};

}  // namespace viaduct::bench
