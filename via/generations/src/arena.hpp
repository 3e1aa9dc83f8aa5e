#pragma once
/// @file
/// Memory of a NIC, registered as a whole: the buffers of MAPs.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "viaduct/via/nic.hpp"

namespace viaduct::via::generations {

class ArenaStore;

/// Registered memory, zeroed at first. Goes back to its store at its end; the VIs that use it end
/// before.
class Arena {
 public:
  Arena() = default;
  Arena(ArenaStore& store, MemoryRegion region) noexcept
      : store_(&store), region_(std::move(region)) {}
  ~Arena();
  Arena(Arena&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)), region_(std::move(other.region_)) {}
  Arena& operator=(Arena&&) = delete;

  [[nodiscard]] std::byte* memory() const noexcept { return region_.address(); }
  [[nodiscard]] MemoryHandle handle() const noexcept { return region_.handle(); }

 private:
  ArenaStore* store_ = nullptr;
  MemoryRegion region_;
};

/// Makes arenas, and keeps the memory of those that have ended for a while: a peer that has not
/// heard of the end of a connection may be about to write there.
class ArenaStore {
 public:
  ArenaStore(Nic& nic, ProtectionTag tag) noexcept : nic_(nic), tag_(tag) {}
  ~ArenaStore() { drop(0); }
  ArenaStore(const ArenaStore&) = delete;
  ArenaStore& operator=(const ArenaStore&) = delete;

  /// Throws Error: there is no memory, or it cannot be registered.
  [[nodiscard]] Arena make(std::size_t bytes);

 private:
  friend class Arena;
  struct Ended {
    std::byte* memory;
    std::uint64_t at_ns;
  };
  void keep(MemoryRegion ended) noexcept;
  void drop(std::uint64_t older_ns) noexcept;

  Nic& nic_;
  ProtectionTag tag_;
  std::deque<Ended> ended_;
};

}  // namespace viaduct::via::generations
