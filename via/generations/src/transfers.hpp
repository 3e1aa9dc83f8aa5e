#pragma once
/// @file
/// RDMA transfers of a MAP: Link::put(), get(), write() and read().
///
/// Transfers complete in the order in which they were posted, so those under way are a row. A put
/// has taken effect when a read that was posted behind it has been answered.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "via/generations/src/arena.hpp"
#include "via/generations/src/policy.hpp"
#include "viaduct/via/descriptor.hpp"
#include "viaduct/via/transport.hpp"
#include "viaduct/via/vi.hpp"

namespace viaduct::via::generations {

/// Registered buffers for bytes that lie in memory which is not registered. All MAPs of a transport
/// share them.
class Staging {
 public:
  static constexpr std::size_t kBufferBytes = Link::kMostTransferBytes;
  explicit Staging(ArenaStore& arenas) noexcept : arenas_(arenas) {}

  /// @return a buffer; null: all are in use, or there is no memory.
  [[nodiscard]] const Arena* take() noexcept;
  void give(const Arena* buffer) noexcept;

 private:
  static constexpr std::size_t kMost = 8;
  ArenaStore& arenas_;
  std::vector<std::unique_ptr<Arena>> all_;
  std::vector<const Arena*> free_;
};

/// The memory that this rank has registered for its peers. Transfers use it without a copy.
class Regions {
 public:
  Regions(Nic& nic, ProtectionTag tag) noexcept : nic_(nic), tag_(tag) {}
  /// @return the key.  Throws Error.
  [[nodiscard]] std::uint32_t add(std::byte* address, std::size_t bytes);
  void remove(std::uint32_t key) noexcept;
  /// @return the handle of a region that has all of the range; MemoryHandle::none: there is none.
  [[nodiscard]] MemoryHandle find(const std::byte* address, std::size_t bytes) const noexcept;
  /// @return the memory at @p address of the region with @p key; null: the region does not have all
  /// of the range.
  [[nodiscard]] std::byte* at(std::uint32_t key, std::uint64_t address,
                              std::size_t bytes) const noexcept;

 private:
  Nic& nic_;
  ProtectionTag tag_;
  std::vector<MemoryRegion> all_;
};

class Transfers {
 public:
  using Number = Link::Transfer;

  Transfers(Staging& staging, const Regions& regions) noexcept
      : staging_(staging), regions_(regions) {}
  ~Transfers();
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  /// A piece of this rank's memory, and the peer's memory that goes with it.
  struct Range {
    std::byte* own;
    std::size_t bytes;
    std::uint64_t there;
    std::uint32_t key;
  };
  /// Posts a write to the peer; @p copied: the bytes are copied where they are not to be read
  /// later.  @return its number; 0: no room now.  Never blocks.
  [[nodiscard]] Number put(Vi& vi, const Range& range, bool copied) noexcept;
  /// Posts a read of the peer's memory.  @return as put().
  [[nodiscard]] Number get(Vi& vi, const Range& range) noexcept;
  /// @return whether @p descriptor is one of a transfer.
  [[nodiscard]] bool owns(const Descriptor& descriptor) const noexcept {
    return &descriptor >= descriptors_.data() &&
           &descriptor < descriptors_.data() + descriptors_.size();
  }
  /// The oldest transfer has completed.
  void completed() noexcept;
  [[nodiscard]] bool is_sent(Number number) const noexcept { return done_ >= number; }
  /// @return whether @p number has taken effect; begins the read that tells, where that is needed.
  [[nodiscard]] bool is_done(Vi& vi, Number number) noexcept;
  [[nodiscard]] bool quiet() const noexcept { return done_ == begun_; }

 private:
  struct Record {
    const Arena* stage = nullptr;
    std::byte* own = nullptr;  // where the bytes of a staged get go
    std::size_t bytes = 0;
    bool reads = false;
  };
  [[nodiscard]] bool may_begin() const noexcept { return begun_ - done_ < kTransferDepth; }
  [[nodiscard]] Number post(Vi& vi, const Range& range, Record&& record, MemoryHandle handle,
                            std::byte* own) noexcept;

  Staging& staging_;
  const Regions& regions_;
  std::array<Descriptor, kTransferDepth> descriptors_{};
  std::array<Record, kTransferDepth> records_;
  // Transfers up to done_ have completed, those up to settled_ have taken effect.
  Number begun_ = 0, done_ = 0, settled_ = 0, last_read_ = 0;
  Range last_put_{};
};

}  // namespace viaduct::via::generations
