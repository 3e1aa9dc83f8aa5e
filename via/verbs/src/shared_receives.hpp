#pragma once
/// @file
/// The receives that the links of a transport share.

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>

#include "via/verbs/src/owned.hpp"

namespace viaduct::via::verbs {

class Device;

/// A shared receive queue, and how much of it each link may use: its share.
class SharedReceives {
 public:
  /// Makes the queue where the device has such queues and the settings want one.
  void open(const Device& device, ibv_pd* domain) noexcept;
  /// @return null: each link has a receive queue of its own.
  [[nodiscard]] ibv_srq* queue() const noexcept { return queue_.get(); }
  /// @return whether there is a queue with room for a share of @p receives.
  [[nodiscard]] bool has_room(std::uint32_t receives) const noexcept {
    return queue_ != nullptr && shares_ + receives + kBatch <= most_;
  }
  void add_share(std::uint32_t receives) noexcept;
  /// The share stays in the queue. The number of its receives that are left there is unknown, since
  /// a device may drop the completions of a queue pair that is destroyed. So the next link brings
  /// its own share.
  void drop_share(std::uint32_t receives) noexcept { shares_ -= receives; }
  /// A link has consumed @p count.
  void consume(std::uint32_t count) noexcept { to_post_ += count; }
  /// A link that has ended had consumed one.
  void lose_one() noexcept {
    if (held_ != to_post_) --held_;
  }
  /// Posts the consumed receives again where they are a batch.
  void post_batches() noexcept {
    if (to_post_ >= kBatch) [[unlikely]]
      post();
  }
  /// Posts as many consumed receives as the queue is known to have room for. The queue is
  /// full only with receives that ended links have left, besides the shares of all existing links.
  [[gnu::noinline]] void post() noexcept;
  /// The device tells once when fewer receives are left than a quarter of all links' shares.
  void watch() noexcept;

 private:
  static constexpr std::uint32_t kBatch = 16;

  OwnedSharedReceives queue_;
  std::uint32_t most_ = 0;     // that it can hold
  std::uint32_t shares_ = 0;   // of all links
  std::uint32_t held_ = 0;     // that it holds at most, with to_post_
  std::uint32_t to_post_ = 0;  // consumed, to be posted again
  std::array<ibv_recv_wr, kBatch> chain_{};
};

}  // namespace viaduct::via::verbs
