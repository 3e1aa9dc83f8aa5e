#pragma once
/// @file
/// One rank's RDMA writes into the other one's memory, over one VI, through the public interface:
/// the bandwidth that the layers above are compared with.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "benchmarks/common/pair.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::bench {

class ViWriter {
 public:
  /// Both construct, at the same time. @p memory: the sender's source, or the peer's target, which
  /// comes from Job's segment. Both outlive this.  Throws Error when they do not connect.
  ViWriter(via::Nic& nic, Pair& pair, Rank peer, std::span<std::byte> memory);

  /// The sender's: @p total bytes from @p from, which lies in its memory, to the start of the
  /// target, one RDMA write for each @p piece; returns when all have completed.
  void write(std::byte* from, std::size_t total, std::size_t piece);

 private:
  void reap();

  static constexpr std::uint32_t kDepth = 64;
  via::ProtectionTag tag_;
  via::MemoryRegion region_;
  std::uint64_t remote_address_ = 0;
  via::MemoryHandle remote_handle_ = via::MemoryHandle::none;
  std::unique_ptr<via::CompletionQueue> sends_, receives_;
  std::vector<via::Descriptor> descriptors_;  // used in turn
  std::unique_ptr<via::Vi> vi_;               // ends first
  std::uint64_t posted_ = 0, reaped_ = 0;
};

}  // namespace viaduct::bench
