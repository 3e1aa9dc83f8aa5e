#pragma once
/// @file
/// Two ranks joined by one VI, through the public interface: the yardstick of Active Messages.

#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/common/pair.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::bench {

class ViLink {
 public:
  /// Both construct, at the same time.  Throws Error when they do not connect.
  ViLink(via::Nic& nic, Pair& pair, Rank peer);

  /// Send and receive of @p bytes (up to 56) to and fro: post_send, the posted receive consumed,
  /// the completion queue polled, the receive posted again. RTT/2, the same at both.
  [[nodiscard]] double rtt_half_ns(std::uint64_t round_trips, std::uint32_t bytes = 16);

 private:
  void exchange(std::uint64_t round_trips, bool first);
  via::Descriptor& await_receive();
  void reap();
  void send(std::uint64_t value);
  void settle(via::Descriptor& received, std::uint64_t value);

  static constexpr std::uint32_t kDepth =
      32;  // all memory that a message touches stays in the first-level cache
  Pair& pair_;
  via::ProtectionTag tag_;
  std::byte* memory_;
  via::MemoryRegion region_;
  std::unique_ptr<via::CompletionQueue> sends_, receives_;
  std::vector<via::Descriptor> receive_descriptors_;
  via::Descriptor send_;
  std::unique_ptr<via::Vi> vi_;  // ends first: outstanding work still completes into its descriptor
  std::uint32_t bytes_ = 16;
  std::uint64_t posted_ = 0, sent_ = 0;
};

}  // namespace viaduct::bench
