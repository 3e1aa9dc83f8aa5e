#pragma once
/// @file
/// Provider verbs' NIC: device, regions, connections, and the work between polls.

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "via/closed_peers.hpp"
#include "via/connections.hpp"
#include "via/error_reports.hpp"
#include "via/protection_tags.hpp"
#include "via/verbs/src/completion_queue.hpp"
#include "via/verbs/src/control_path.hpp"
#include "via/verbs/src/device.hpp"
#include "via/verbs/src/events.hpp"
#include "via/verbs/src/vi.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/mapped_memory.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::via::verbs {

/// Counters of the provider (VIADUCT_STATS=1).
enum Counter : std::uint32_t {
  kSends,        // descriptors given to the device
  kInlineSends,  // of those, copied when posted
  kRdma,         // RDMA and atomic operations
  kSleeps,       // times this rank blocked in the kernel
  kConnections,
  kControlRepeated,
  kReceiverNotReady,  // messages without a receive: of the whole device, since the NIC was opened
  kCounterCount,
};

class Nic final : public via::Nic, private Connections::Provider {
 public:
  Nic(Job& job, const Settings& settings, std::string_view device);
  ~Nic() override;

  [[nodiscard]] const NicAttributes& attributes() const noexcept override { return attributes_; }
  [[nodiscard]] ProtectionTag create_tag() override;
  void destroy_tag(ProtectionTag tag) override;
  [[nodiscard]] MemoryRegion register_memory(ProtectionTag tag, std::byte* address,
                                             std::size_t bytes, Rights rights) override;
  void deregister(MemoryHandle handle) noexcept override;
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* address) noexcept override;
  [[nodiscard]] std::unique_ptr<via::CompletionQueue> create_completion_queue(
      std::size_t capacity) override;
  [[nodiscard]] std::unique_ptr<via::Vi> create_vi(const ViAttributes& attributes) override;
  Status listen(std::uint64_t discriminator, ConnectionRequest& out,
                std::int64_t timeout_ns) override;
  Status accept(const ConnectionRequest& request, via::Vi& vi) override;
  void reject(const ConnectionRequest& request) override;
  void on_incoming_peer(IncomingPeer callback) override { incoming_peer_ = std::move(callback); }
  void reject_peer(Rank from, std::uint64_t discriminator) override;
  void on_error(std::function<void(const AsyncError&)> callback) override {
    errors_.set(std::move(callback));
  }
  void progress() noexcept override;

 private:
  void progress_connections() noexcept;
  void probe();

  friend class Vi;
  friend class CompletionQueue;

  /// The device's objects for a protection tag.
  struct Domain {
    OwnedDomain domain;
    OwnedRegion flush;  // 8 bytes that peers may read
  };
  /// Memory that allocate() has returned: a piece of the heap, or pages of its own.
  struct Block {
    struct Delete {
      void operator()(std::byte* piece) const noexcept;
    };
    std::size_t bytes = 0;
    std::unique_ptr<std::byte, Delete> piece;
    MappedMemory pages;
  };
  struct Region {
    OwnedRegion region;
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    ProtectionTag tag{};
    [[nodiscard]] bool covers(const LocalSegment& s, ProtectionTag wanted) const noexcept {
      const std::uint64_t at = reinterpret_cast<std::uint64_t>(s.address) - begin;
      return tag == wanted && at <= bytes && s.length <= bytes - at;
    }
  };

  [[nodiscard]] const Region* region_of(MemoryHandle handle) const noexcept {
    const auto found = regions_.find(static_cast<std::uint32_t>(handle));
    return found == regions_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] ibv_pd* domain_of(ProtectionTag tag) const noexcept {
    return domains_.at(tag).domain.get();
  }
  [[nodiscard]] const ibv_mr& flush_region(ProtectionTag tag);
  void check_attributes(const ViAttributes& attributes) const;
  std::uint32_t find_inline_limit();
  void deliver(const ibv_wc& wc) noexcept;

  // control.cpp
  void handle(Rank from, std::span<const std::byte> bytes);
  void post(Rank to, const ControlMessage& message) override;
  void attach(Connectable& to, const ControlMessage& message) override;
  void refused(Connectable& end, const ControlMessage& message) override;
  void ended(Connectable& end, const ControlMessage& message) override;
  void parted(std::uint64_t /*half*/) override {}  // a queue pair ends with its VI
  void asked() override {}                         // progress() comes before each sleep
  [[nodiscard]] Vi* find_vi(std::uint32_t id) noexcept;
  std::uint32_t add_vi(Vi& vi);
  void renumber_vi(Vi& vi);
  void remove_vi(Vi& vi) noexcept;
  void look_for_lost_peers();
  void part_from(Rank rank, ErrorCause cause);
  template <typename Meant>
  void fail_vis(ErrorCause cause, Meant meant);
  void handle_device_events();
  void keep_alive();
  void report(const AsyncError& error) noexcept;
  /// Calls the callback for what was reported, which may destroy any VI.
  void tell_errors() noexcept;
  /// Whether this is called from a callback, within a poll or a wait.
  [[nodiscard]] bool runs_callback() const noexcept {
    return errors_.is_telling() || in_progress_.load();
  }
  void leave(std::unique_ptr<CompletionQueue>& queue) noexcept;
  void sleep(std::int64_t timeout_ns, CompletionQueue* queue) noexcept;
  bool progress_until(const std::function<bool()>& done, std::int64_t timeout_ns);
  void count(Counter counter) noexcept { ++counters_[counter]; }

  Job& job_;
  std::string bootstrap_key_;
  Settings settings_;
  Device device_;
  NicAttributes attributes_;
  Events events_;
  std::unique_ptr<ControlPath> control_path_;
  ProtectionTags tags_;
  std::unordered_map<ProtectionTag, Domain> domains_;
  alignas(8) std::uint64_t flush_word_ = 0;
  std::unordered_map<std::uint32_t, Region> regions_;  // by handle
  std::unordered_map<std::byte*, Block> blocks_;
  std::vector<CompletionQueue*> queues_;
  std::vector<Vi*> vis_;  // by id & kIdMask
  std::vector<std::uint32_t> free_vis_;
  std::uint32_t vi_generation_ = 0;
  Connections connections_;
  std::uint32_t life_epoch_ = 0;
  bool device_failed_ = false;  // it completes nothing more
  std::atomic<bool> in_progress_{false};
  IncomingPeer incoming_peer_;
  ErrorReports errors_;
  /// The own queues of VIs that a callback has destroyed: a wait may be in them.
  std::vector<std::unique_ptr<CompletionQueue>> left_queues_;
  std::uint64_t not_ready_before_ = 0;
  ClosedPeers closed_peers_;
  std::uint64_t looks_ = 0;  // for control messages
  std::array<std::uint64_t, kCounterCount> counters_{};

  static constexpr std::uint32_t kIdMask = 0xffff;
};

}  // namespace viaduct::via::verbs
