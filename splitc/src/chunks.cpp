#include "splitc/src/chunks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace viaduct::splitc::detail {

const Chunk* ChunkTable::find(std::uint64_t address) noexcept {
  if (last_ < chunks_.size() && chunks_[last_].holds(address)) return &chunks_[last_];
  const auto after =
      std::upper_bound(chunks_.begin(), chunks_.end(), address,
                       [](std::uint64_t at, const Chunk& chunk) { return at < chunk.begin; });
  if (after == chunks_.begin() || !std::prev(after)->holds(address)) return nullptr;
  last_ = static_cast<std::size_t>(std::prev(after) - chunks_.begin());
  return &chunks_[last_];
}

void ChunkTable::add(const Chunk& chunk) {
  const auto at =
      std::lower_bound(chunks_.begin(), chunks_.end(), chunk.begin,
                       [](const Chunk& other, std::uint64_t begin) { return other.begin < begin; });
  if (at != chunks_.end() && at->begin == chunk.begin)
    *at = chunk;
  else
    chunks_.insert(at, chunk);
}

std::uint32_t UseOfChunks::count(std::uint64_t address) noexcept {
  const std::uint64_t chunk = address / Memory::kChunkBytes;
  Use& use = used_[chunk % kRemembered];
  if (use.chunk != chunk) use = {chunk, 0};
  return ++use.times;
}

}  // namespace viaduct::splitc::detail
