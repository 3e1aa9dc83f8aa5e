#pragma once
/// @file
/// Provider verbs as a transport of channels (via/transport.hpp).

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "via/verbs/src/bulk_memory.hpp"
#include "via/verbs/src/control_path.hpp"
#include "via/verbs/src/device.hpp"
#include "via/verbs/src/events.hpp"
#include "via/verbs/src/rdma_link.hpp"
#include "via/verbs/src/shared_receives.hpp"
#include "via/verbs/src/staging_pool.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/transport.hpp"

namespace viaduct::via::verbs {

/// Counters (VIADUCT_STATS=1), layer "transport".
enum TransportCounter : std::uint32_t {
  kPosts,          // chains given to the device
  kChained,        // work requests behind the first of each
  kSignalled,      // of those, signalled
  kNotifications,  // taken
  kCopied,         // bytes of bulk data, through the staging buffer
  kDirect,         // bytes of bulk data, from and to where they are
  kUnsure,         // transfers that were copied, since memory was being unmapped meanwhile
  kHits,           // of the registration cache
  kRegistrations,
  kDropped,          // of them, since their memory was unmapped, moved or discarded
  kEvicted,          // of them, for want of room
  kNotCached,        // memory that cannot be
  kMostPinned,       // bytes of the cache, at once
  kChunks,           // bytes registered for peers, on demand
  kRepeatedControl,  // repeated
  kNotReady,         // messages without a receive: of the whole device, since the start
  kReceivesLow,      // times that the shared receive queue ran low
  kPortsDown,        // times that the port went down
  kTransportCounterCount,
};

class RdmaTransport final : public via::Transport {
 public:
  /// Collective.  Throws Error.
  RdmaTransport(Job& job, const Settings& settings, std::string_view device);
  ~RdmaTransport() override;

  [[nodiscard]] std::unique_ptr<via::Link> make_link(std::byte* block, std::size_t half_bytes,
                                                     std::uint32_t notifications,
                                                     void* owner) override;
  [[nodiscard]] std::size_t bytes_per_link(std::uint32_t notifications) const noexcept override;
  [[nodiscard]] std::size_t poll(LinkEvents& out) noexcept override;
  void arm() noexcept override;
  [[nodiscard]] std::uint32_t register_memory(std::byte* address, std::size_t bytes) override {
    return memory_->add_segment(address, bytes, job_.segment().contains(address, bytes));
  }
  void deregister(std::uint32_t key) noexcept override { memory_->remove_segment(key); }
  [[nodiscard]] std::optional<std::uint32_t> register_chunk(std::byte* address,
                                                            std::size_t bytes) noexcept override;
  void reserve_control(std::size_t messages) override { control_path_->reserve(2 * messages); }
  void send_control(Rank to, std::span<const std::byte> message) override;
  void progress(const ControlHandler& handler) override;
  [[nodiscard]] bool all_delivered() const noexcept override {
    return control_path_->all_delivered();
  }
  [[nodiscard]] std::vector<Rank> silent_for(std::uint64_t ns) const override {
    return control_path_->silent_for(ns);
  }
  [[nodiscard]] std::vector<Rank> out_of_reach(std::uint64_t ns) override {
    return control_path_->out_of_reach(ns);
  }
  void probe(Rank rank) override { control_path_->probe(rank); }
  void forget(Rank rank) noexcept override { control_path_->forget(rank); }

 private:
  friend class RdmaLink;

  static constexpr std::uint64_t kLookAtSends = 8;  // polls
  static constexpr std::uint32_t kRecent = 16;      // a power of two

  void add(RdmaLink& link);
  void remove(RdmaLink& link) noexcept;
  void make_room(OwnedQueue& queue, std::size_t entries);
  [[nodiscard]] RdmaLink* link_of(std::uint32_t number) noexcept;
  [[nodiscard, gnu::cold, gnu::noinline]] RdmaLink* find_link(std::uint32_t number) noexcept;
  [[gnu::noinline]] void look_at_sends() noexcept;
  void reap_sends() noexcept;
  void record_cache() noexcept;
  [[nodiscard]] bool take(const ibv_wc& wc, LinkEvent& out) noexcept;
  [[nodiscard]] std::size_t tell_failures(std::span<LinkEvent> out, bool empty,
                                          std::size_t polled) noexcept;
  void record_failure(RdmaLink& link, ibv_wc_status status) noexcept;
  [[gnu::noinline]] void give_receive(RdmaLink& link) noexcept;
  // rdma_transport_events.cpp
  void handle_device_events() noexcept;
  void handle(const Events::DeviceEvent& event);
  void tell_ready(Rank to, std::uint32_t pair);

  Job& job_;
  Device device_;
  Events events_;
  // Destroyed in the reverse order.
  std::unique_ptr<ControlPath> control_path_;
  OwnedDomain domain_;
  std::unique_ptr<StagingPool> staging_;
  std::unique_ptr<BulkMemory> memory_;
  OwnedQueue send_queue_;
  OwnedQueue receive_queue_;
  SharedReceives receives_;
  std::size_t send_entries_ = 0, receive_entries_ = 0;  // of the completion queues, in use
  std::size_t left_entries_ = 0;                        // of ended links, not polled yet
  std::unordered_map<std::uint32_t, RdmaLink*> links_;  // by number of the queue pair
  struct Recent {
    std::uint32_t number = 0;
    RdmaLink* link = nullptr;
  };
  std::array<Recent, kRecent> recent_;  // of links_, by the number's lower bits
  std::vector<RdmaLink*> by_id_;
  std::vector<RdmaLink*> failed_;  // to be told of
  std::size_t polled_since_failure_ = 0;
  std::uint64_t polls_ = 0;
  std::uint64_t not_ready_before_ = 0;
  std::array<std::uint64_t, kTransportCounterCount> counters_{};
};

/// The number of messages without a receive that @p device has counted, as receiver or as sender.
[[nodiscard]] std::uint64_t receivers_not_ready(const Device& device);

/// The NIC addresses of all ranks, this one's being @p mine. Collective.  Throws Error: they cannot
/// reach each other, or open another provider.
[[nodiscard]] std::vector<Address> exchange_addresses(Job& job, const std::string& key,
                                                      const Address& mine);

}  // namespace viaduct::via::verbs
