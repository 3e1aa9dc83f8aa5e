#pragma once
/// @file
/// The transport whose links are MAPs (generations.hpp).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "via/generations/generations.hpp"
#include "via/generations/src/control_path.hpp"
#include "via/generations/src/map.hpp"
#include "viaduct/job.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::via::generations {

class MapTransport final : public via::Transport {
 public:
  MapTransport(Job& job, std::string_view provider, Generation generation);
  ~MapTransport() override;

  [[nodiscard]] std::unique_ptr<Link> make_link(std::byte* block, std::size_t half_bytes,
                                                std::uint32_t notifications, void* owner) override;
  [[nodiscard]] std::size_t bytes_per_link(std::uint32_t notifications) const noexcept override;
  [[nodiscard]] std::size_t poll(LinkEvents& out) noexcept override;
  void arm() noexcept override { reap_sends(); }
  [[nodiscard]] bool rings_doorbell() const noexcept override { return false; }
  [[nodiscard]] bool limits_replies() const noexcept override { return is_strict(); }
  [[nodiscard]] std::uint32_t register_memory(std::byte* address, std::size_t bytes) override {
    return regions_.add(address, bytes);
  }
  void deregister(std::uint32_t key) noexcept override { regions_.remove(key); }
  [[nodiscard]] std::optional<std::uint32_t> register_chunk(std::byte* address,
                                                            std::size_t bytes) noexcept override;
  void send_control(Rank to, std::span<const std::byte> message) override {
    control_.send(to, message);
  }
  void progress(const ControlHandler& handler) override;
  [[nodiscard]] bool all_delivered() const noexcept override { return control_.all_delivered(); }
  [[nodiscard]] std::vector<Rank> silent_for(std::uint64_t ns) const override {
    return control_.silent_for(ns);
  }
  [[nodiscard]] std::vector<Rank> out_of_reach(std::uint64_t ns) override {
    return control_.broken_for(ns);
  }
  void probe(Rank rank) override { control_.probe(rank); }
  void forget(Rank rank) noexcept override { control_.forget(rank); }

  // For MAPs.

  /// @return whether the generation is v1 as published.
  [[nodiscard]] bool is_strict() const noexcept { return generation_ == Generation::v1_strict; }
  [[nodiscard]] Job& job() noexcept { return job_; }
  [[nodiscard]] Staging& staging() noexcept { return staging_; }
  [[nodiscard]] const Regions& regions() const noexcept { return regions_; }
  [[nodiscard]] std::uint32_t next_number() noexcept { return next_number_++ & kNumberMask; }
  /// @return the discriminator of the first VI of two MAPs, by the number of the lower rank's and
  /// of the higher rank's.
  [[nodiscard]] static std::uint64_t name_of_vi(std::uint32_t lower,
                                                std::uint32_t higher) noexcept {
    return std::uint64_t{lower & kNumberMask} << 32 | std::uint64_t{higher & kNumberMask} << 4;
  }
  /// The block of a MAP, for the peer to write to.  Throws Error.
  [[nodiscard]] MemoryRegion register_block(std::byte* block, std::size_t bytes) {
    return nic_->register_memory(tag_, block, bytes, Rights::rdma_write);
  }
  void connecting(MapBase& map) { connecting_.push_back(&map); }
  /// The peer of @p map is to be told of credits, and there was no room.
  void owes(MapBase& map) noexcept;
  void tell(const LinkEvent& event) noexcept;
  void remove(MapBase& map, const Depths& depths) noexcept;
  void reap_sends() noexcept;
  /// Takes completions; their events wait for poll().
  void take_completions() noexcept;

 private:
  static constexpr std::uint32_t kNumberMask = (1U << 28) - 1;
  static constexpr std::uint64_t kLookAtSends = 8;    // polls
  static constexpr std::uint64_t kLookAtEnds = 1024;  // polls

  void take_arrivals(std::size_t most) noexcept;
  void look_at_connections() noexcept;
  void look_at_debts() noexcept;
  void look_at_ends() noexcept;
  void take_error(const AsyncError& error) noexcept;
  void make_room(const Depths& depths);
  template <class Policy>
  [[nodiscard]] std::unique_ptr<Link> make(const Room& room, std::byte* block,
                                           std::size_t half_bytes, void* owner);
  [[nodiscard]] Room room_for(std::uint32_t notifications) const noexcept;

  Job& job_;
  Generation generation_;
  std::uint32_t next_number_ = 0;
  // Destroyed in the reverse order.
  std::unique_ptr<Nic> nic_;
  ProtectionTag tag_;
  ArenaStore arenas_;
  Regions regions_;
  std::unique_ptr<CompletionQueue> send_queue_;
  std::unique_ptr<CompletionQueue> receive_queue_;
  Staging staging_;
  ControlPath control_;
  std::size_t sends_ = 0, receives_ = 0;  // entries of the queues that MAPs may need
  std::vector<MapBase*> maps_;
  std::vector<MapBase*> connecting_;
  std::vector<MapBase*> owing_;
  std::vector<LinkEvent> events_;  // to be told of
  std::uint64_t polls_ = 0;
};

}  // namespace viaduct::via::generations
