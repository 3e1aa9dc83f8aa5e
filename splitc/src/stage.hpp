#pragma once
// Blocks of this process' window through which larger data go by message: the requester fills or
// empties them, the owner copies.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/job.hpp"
#include "splitc/src/channel.hpp"

namespace viaduct::splitc::detail {

class Stage {
 public:
  struct Block {
    Channel* channel = nullptr;  // in use by a request over it
    std::uint64_t ticket = 0;    // of that request
    void* to = nullptr;          // of a get: where the data go; null: a put
    std::uint32_t bytes = 0;
  };

  Stage(Job& job, std::size_t bytes)
      : job_(job),
        blocks_(bytes / kBlockBytes),
        offset_(job.segment().allocate(blocks_.size() * kBlockBytes)) {}
  ~Stage() = default;  // until the job ends: peers may still copy from it
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  [[nodiscard]] std::uint32_t next() const noexcept { return next_; }
  void advance() noexcept { next_ = next_ + 1 == blocks_.size() ? 0 : next_ + 1; }
  [[nodiscard]] Block& operator[](std::uint32_t i) noexcept { return blocks_[i]; }
  [[nodiscard]] std::uint64_t offset(std::uint32_t i) const noexcept {
    return offset_ + i * kBlockBytes;
  }
  [[nodiscard]] std::byte* data(std::uint32_t i) const noexcept {
    return job_.segment().base() + offset(i);
  }

 private:
  Job& job_;
  std::vector<Block> blocks_;
  std::size_t offset_;
  std::uint32_t next_ = 0;
};

}  // namespace viaduct::splitc::detail
