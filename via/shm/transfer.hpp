#pragma once
/// @file
/// Carrying out a descriptor of a send queue of provider shm. transfer.cpp.

#include <cstdint>

#include "via/shm/nic.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via::shm {

/// What has become of a descriptor.
enum class Fate : std::uint8_t {
  done,    ///< it has completed, or will when its data have been taken out of a block
  failed,  ///< it has completed with an error, or as flushed
  later,   ///< it waits: nothing is done, or its data are in a block
};

/// One descriptor of a VI's send queue, while it is carried out: checked, put into the peer's
/// memory or a slot, and completed, with an error where it is refused.
class Vi::SendQueue::Transfer {
 public:
  Transfer(SendQueue& queue, Descriptor& d) noexcept
      : queue_(queue), vi_(queue.vi_), nic_(queue.vi_.nic_), d_(d) {}
  /// Never blocks.  Cost: one copy of the data, or a slot.
  Fate run() noexcept;

 private:
  Fate send() noexcept;
  Fate rdma() noexcept;
  Fate atomic() noexcept;
  Fate claim_receive(Slot*& slot) noexcept;
  Fate deliver_large(Slot& slot, std::uint64_t flags) noexcept;
  Fate stage(Slot& slot, std::uint64_t flags) noexcept;
  [[nodiscard]] bool copy_to_receive(const PostedInfo& info) noexcept;
  [[nodiscard]] bool deliver_list(std::uint64_t count) noexcept;
  [[nodiscard]] bool copy_rdma(const RemotePlace& place, bool write) noexcept;

  [[nodiscard]] bool locals_ok(std::uint32_t first) noexcept;
  [[nodiscard]] bool locals_writable(std::uint32_t first) noexcept;
  [[nodiscard]] bool is_closed() const noexcept;
  [[nodiscard]] bool is_immediate() const noexcept;
  void put_immediate(Slot& slot) const noexcept;
  void publish(Slot& slot, std::uint64_t header) noexcept;

  Fate finish(CompletedOperation operation) noexcept;
  Fate refuse(std::uint32_t status, ErrorCause cause) noexcept;
  Fate refuse(std::uint32_t status, ErrorCause cause, ErrorCause for_peer) noexcept;
  Fate refuse_rdma(std::uint32_t status) noexcept;

  SendQueue& queue_;
  Vi& vi_;
  Nic& nic_;
  Descriptor& d_;
};

}  // namespace viaduct::via::shm
