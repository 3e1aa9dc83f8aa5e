#pragma once
/// @file
/// The receives that are posted to a VI of provider shm. receive.cpp.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/via/descriptor.hpp"
#include "viaduct/via/shm/layout.hpp"
#include "viaduct/via/shm/region_cache.hpp"
#include "viaduct/via/shm/slot_copy.hpp"
#include "viaduct/via/slot.hpp"
#include "viaduct/via/types.hpp"
#include "viaduct/via/vi.hpp"

namespace viaduct::via::shm {

class Nic;

/// The posted receives of a VI, by number: message i of a connection goes into receive i. While the
/// VI is connected, the queue shows its sender where each receive wants its data, as far as the
/// ring has entries. In each function @p taken is how many messages the VI has taken out of the
/// ring, and so the number of the oldest receive.
class ReceiveQueue {
 public:
  /// The status of a receive that has completed without error.
  static constexpr std::uint32_t kReceived =
      descriptor_status::done | (static_cast<std::uint32_t>(CompletedOperation::receive)
                                 << descriptor_status::operation_shift);

  /// For a VI with @p attributes.  Cost: one allocation.
  ReceiveQueue(Nic& nic, const ViAttributes& attributes);

  // Posting.

  /// @return whether post_plain() may be called for @p d.  Cost: a few loads.
  [[nodiscard, gnu::always_inline]] bool is_plain(const Descriptor& d) const noexcept {
    return d.control.segment_count == 1 && ring_ != nullptr && region_.covers(d.segment[0].local);
  }
  /// Posts a receive of one segment, which lies in the region of the receive before.  Never blocks.
  /// Cost: 24 bytes written into the ring that the peer sends on, in two lines.
  [[gnu::always_inline]] void post_plain(Descriptor& d, std::uint64_t taken) noexcept {
    d.control.status = 0;
    const std::uint64_t number = posted_++;
    descriptors_[number & descriptor_mask_] = &d;
    // Receives beyond the ring count as well: the sender waits for their turn.
    ring_->receiver.client_counter[0].store(posted_, kRelaxed);
    if (number - taken <= entry_mask_) [[likely]] {
      entries_[number & entry_mask_] = place_of(d.segment[0].local);
      ring_->receiver.posted.store(posted_, kRelease);
    }
  }
  /// Posts any receive. One that no message may go into fails in its turn.  Never blocks.
  void post(Descriptor& d, std::uint64_t taken) noexcept;

  // Messages that have come.

  /// Copies the message in @p slot, with header @p h, into its receive when that is all there is to
  /// do but its status.  @return the receive; null: nothing is done, perhaps since no receive is
  /// posted.  Never blocks.  Cost: one copy.
  [[nodiscard, gnu::always_inline]] Descriptor* copy_plain(Slot& slot, std::uint64_t h,
                                                           std::uint64_t taken) const noexcept {
    // One comparison for "no receive is posted" and "more are posted than slots can show".
    if (posted_ - taken - 1 >= plain_) [[unlikely]]
      return nullptr;
    Descriptor* d = descriptors_[taken & descriptor_mask_];
    const std::uint32_t length = header::length(h);
    if (!header::is_plain(h) || length > kInlineBytes || d->control.segment_count != 1 ||
        d->segment[0].local.length < length) [[unlikely]]
      return nullptr;
    copy_out_small(d->segment[0].local.address, slot, length);
    return d;
  }
  /// Takes any message into its receive.  Precondition: a receive is posted.  @return the receive,
  /// with its status.  Never blocks.
  [[nodiscard]] Descriptor& take(const Slot& slot, std::uint64_t h, std::uint64_t taken) noexcept;
  /// Behind take(), with @p taken one higher: shows the receive that the ring has an entry for now.
  void show_next(std::uint64_t taken) noexcept;

  /// @return receive number @p number, which is posted.  Cost: one load.
  [[nodiscard]] Descriptor& at(std::uint64_t number) const noexcept {
    return *descriptors_[number & descriptor_mask_];
  }
  /// @return how many receives have been posted since the connection began.  Cost: one load.
  [[nodiscard]] std::uint64_t posted() const noexcept { return posted_; }

  // The connection.

  /// Shows the receives to the owner of @p ring, a ring of @p slots slots in the window at
  /// @p window.  Never blocks.
  void attach(ChannelHead& ring, std::uint32_t slots, std::byte* window) noexcept;
  /// Shows no more: the ring may go away.  Never blocks.
  void detach() noexcept { ring_ = nullptr; }
  /// Numbers begin at 0 again.  Precondition: all receives have been handed back.
  void restart() noexcept { posted_ = 0; }
  /// All receives have been handed back, those that no message may go into as well.
  void forget_refusals() noexcept;
  /// The region table has changed.
  void forget_region() noexcept { region_ = {}; }

 private:
  struct Refusal {
    std::uint64_t number;  // of the receive
    std::uint32_t status;
  };

  [[nodiscard]] PostedInfo place_of(const LocalSegment& s) const noexcept {
    if (region_.window != nullptr)
      return {static_cast<std::uint64_t>(s.address - region_.window), s.length,
              PostedInfo::Kind::window};
    return {reinterpret_cast<std::uint64_t>(s.address), s.length, PostedInfo::Kind::owner_private};
  }
  [[nodiscard]] bool is_local(const LocalSegment& s) noexcept {
    return region_.find(nic_, tag_, s, RegionCache::Use::written);
  }
  [[nodiscard]] std::uint32_t check(const Descriptor& d) noexcept;
  [[nodiscard]] std::uint32_t refusal_of(std::uint64_t number) const noexcept;
  void show(std::uint64_t number, std::uint64_t taken) noexcept;
  [[nodiscard]] bool show_list(const Descriptor& d, std::uint64_t number) noexcept;
  [[nodiscard]] bool is_sensible(MessageKind kind, std::uint64_t n,
                                 std::uint64_t staged_at) const noexcept;

  // Hot.
  std::uint64_t posted_ = 0;  // in all since the connection
  std::uint64_t plain_ = 0;   // receives that slots can show; 0 while a refused receive is posted
  Owned<Descriptor*[]> descriptors_;  // by number
  std::uint64_t descriptor_mask_;
  ChannelHead* ring_ = nullptr;  // the peer's; null: not connected
  PostedInfo* entries_ = nullptr;
  std::uint64_t entry_mask_ = 0;
  RegionCache region_;
  // Cool.
  Nic& nic_;
  std::byte* sender_window_ = nullptr;
  ProtectionTag tag_;
  Reliability reliability_;
  std::vector<Refusal> refusals_;  // receives that no message may go into fail in their turn
};

}  // namespace viaduct::via::shm
