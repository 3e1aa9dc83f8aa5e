#pragma once
/// @file
/// A VI with its send and receive buffers, of which generations v1 and v3, and the control path,
/// are made.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "via/generations/src/arena.hpp"
#include "viaduct/runtime/parts.hpp"
#include "viaduct/via/descriptor.hpp"
#include "viaduct/via/vi.hpp"

namespace viaduct::via::generations {

/// The objects that all VIs of a transport share.
struct Common {
  Nic& nic;
  ProtectionTag tag;
  ArenaStore& arenas;
  CompletionQueue& send_queue;
  CompletionQueue& receive_queue;
};

/// The owner of a VI, and which one of the owner's it is. Completions lead to it.
struct Place {
  void* owner;
  std::uint32_t which;
};

/// @return the place of the VI that @p completion belongs to.
[[nodiscard]] inline const Place& place_of(const Completion& completion) noexcept {
  return *static_cast<const Place*>(completion.vi->attributes().context);
}

/// Posts @p descriptor as a receive. A provider may be full for a moment.  @return false: it stays
/// full, so that the connection is of no use.
[[nodiscard]] bool post_receive(Vi& vi, Descriptor& descriptor) noexcept;

class Lane {
 public:
  struct Shape {
    std::uint32_t buffer_bytes;
    std::uint32_t sends;
    std::uint32_t receives;
    std::uint32_t other_sends;  ///< descriptors of the owner's that are posted to the VI besides
  };
  /// Posts all receives.  Throws Error: no memory, or the VI cannot be made.
  Lane(const Common& common, const Shape& shape, Place place);

  [[nodiscard]] Vi& vi() noexcept { return *vi_; }
  /// @return a send buffer that is free, to be passed to send(); null: there is none.
  [[nodiscard]] std::byte* free_buffer() noexcept {
    return free_.empty() ? nullptr : buffer(free_.back());
  }
  /// Sends @p bytes of free_buffer().  @return false: the VI takes nothing now; the buffer stays
  /// free.
  [[nodiscard]] bool send(std::uint32_t bytes) noexcept;
  /// The buffer of @p descriptor, whose send has completed, is free again.
  void sent(const Descriptor& descriptor) noexcept {
    VIADUCT_PART(recycle_send);
    free_.push_back(index_of(descriptor));
  }
  /// @return whether no send is under way.
  [[nodiscard]] bool quiet() const noexcept { return free_.size() == shape_.sends; }
  /// @return the message that @p descriptor has received.
  [[nodiscard]] std::span<const std::byte> message(const Descriptor& descriptor) noexcept {
    return {buffer(index_of(descriptor)), descriptor.control.length};
  }
  /// Posts the receive again.  @return as post_receive().
  [[nodiscard]] bool repost(Descriptor& descriptor) noexcept;
  /// @return the buffers' region.
  [[nodiscard]] const Arena& arena() const noexcept { return arena_; }

 private:
  [[nodiscard]] std::uint32_t index_of(const Descriptor& descriptor) const noexcept {
    return static_cast<std::uint32_t>(&descriptor - descriptors_.get());
  }
  [[nodiscard]] std::byte* buffer(std::uint32_t i) const noexcept {
    return arena_.memory() + std::size_t{i} * shape_.buffer_bytes;
  }

  Shape shape_;
  Place place_;
  // Destroyed in the reverse order: the VI first.
  Arena arena_;
  std::unique_ptr<Descriptor[]> descriptors_;  // of sends, then of receives
  std::vector<std::uint32_t> free_;
  std::unique_ptr<Vi> vi_;
};

}  // namespace viaduct::via::generations
