#pragma once
// Blocks of this process through which larger data go by message: the requester fills or empties
// them, the owner copies. The blocks lie in the job's window. A process that cannot see the window
// copies by RDMA.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "viaduct/runtime/atomic.hpp"

namespace viaduct::splitc::detail {

struct Channel;

/// Most bytes of one staged block.
inline constexpr std::size_t kBlockBytes = 4096;
/// Most bytes of a message to another host, in as many blocks: RDMA takes long to begin.
inline constexpr std::size_t kMostFarBytes = 64 * 1024;

/// A process offers a block to the target of a `bulk_store`, which copies the block straight from
/// its source. A target that does not come soon finds the offer withdrawn: then the block follows
/// in staged pieces, and so does the block of a target that cannot map the source. A process has
/// one offer, in its window.
///
///     none --sender--> open --target--> taken or refused --sender--> none
///                       '----sender--> withdrawn --target--> none
struct alignas(64) Offer {
  enum State : std::uint32_t { none, open, taken, refused, withdrawn };
  AtomicWord<State> state;
};
/// How a process of another host reaches the blocks by RDMA: the extra bytes of a remote channel.
struct StageName {
  std::uint64_t address = 0;  // of the first block, in its owner's address space
  std::uint64_t offset = 0;   // of that block in the window: messages name blocks by it
  std::uint64_t bytes = 0;    // of all blocks
  std::uint32_t key = 0;
  std::uint32_t unused = 0;

  [[nodiscard]] bool holds(std::uint64_t place, std::size_t length) const noexcept {
    return length <= bytes && place - offset <= bytes - length;
  }
};

class Stage {
 public:
  struct Block {
    Channel* channel = nullptr;  // in use by a request over this channel
    std::uint64_t ticket = 0;    // of that request
    void* to = nullptr;          // of a get: where the data go; null: a put
    std::size_t bytes = 0;       // of that request
    std::uint32_t first = 0;     // of its blocks
  };

  /// @p blocks of them at @p offset from @p base.
  Stage(std::byte* base, std::size_t offset, std::size_t blocks)
      : base_(base), offset_(offset), blocks_(blocks) {}
  ~Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  [[nodiscard]] std::size_t bytes() const noexcept { return blocks_.size() * kBlockBytes; }
  [[nodiscard]] std::uint32_t next() const noexcept { return next_; }
  void advance() noexcept { next_ = next_ + 1 == blocks_.size() ? 0 : next_ + 1; }
  [[nodiscard]] Block& operator[](std::uint32_t i) noexcept { return blocks_[i]; }
  /// Notes in all blocks of a request, from @p i on, what uses them.
  void use(std::uint32_t i, const Block& by) noexcept {
    const std::uint32_t first = i;
    for (std::size_t at = 0; at < by.bytes; at += kBlockBytes) {
      blocks_[i] = by;
      blocks_[i++].first = first;
    }
  }
  [[nodiscard]] std::uint64_t offset(std::uint32_t i) const noexcept {
    return offset_ + i * kBlockBytes;
  }
  [[nodiscard]] std::byte* data(std::uint32_t i) const noexcept { return base_ + offset(i); }
  /// The Offer behind the blocks, which only the stage in the job's window has.
  [[nodiscard]] std::uint64_t offer_offset() const noexcept { return offset_ + bytes(); }
  [[nodiscard]] Offer& offer() const noexcept {
    return *reinterpret_cast<Offer*>(base_ + offer_offset());
  }

 private:
  std::byte* base_;
  std::size_t offset_;
  std::vector<Block> blocks_;
  std::uint32_t next_ = 0;
};

}  // namespace viaduct::splitc::detail
