/// Nonsense in shared memory: bytes that no peer with this code writes, and the end of the
/// connection.

#include <array>
#include <cstddef>
#include <string>

#include "via/shm/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via::shm {

namespace {

/// The ring of a VI that has broken off: one line that stays empty. Its counters accept writes, and
/// nobody reads them.
struct Nowhere {
  ChannelHead head;
  Slot slot;
};
constinit Nowhere nowhere{};

/// The extra bytes of a peer that may not be read: as many as Nic::incoming_extra() promises.
alignas(kDestructivePairBytes) constinit std::array<std::byte, 4096> no_extra{};

}  // namespace

void Vi::break_off(const char* what) noexcept {
  if (rx_ == nullptr || rx_ == &nowhere.head) return;
  const bool connected = state_ == ViState::connected;
  ++nic_.broken_off_;
  nic_.job_.log().write(LogLevel::error,
                        "the connection with rank " + std::to_string(index(peer_)) +
                            " ends, since that rank has written " + what +
                            ": is something writing into its memory, or into this rank's?");
  if (connected) {
    state_ = ViState::error;
    tx_ready_ = false;
    tx_limit_ = tx_seq_;
    nic_.connections_.stop(end_, ErrorCause::format);
    end_link();
  }
  leave_ring();
  if (connected) nic_.report({ErrorCause::format, this, nullptr, peer_});
}

/// Of an inline VI: its client goes on as with a peer that writes nothing.
void Vi::leave_ring() noexcept {
  rx_ = &nowhere.head;
  rx_slots_ = &nowhere.slot;
  rx_mask_ = 0;
  rx_seq_ = rx_released_ = 0;
}

/// The peer has taken back the request that this VI is connected to: it has sent nothing, and its
/// channel may be gone.
void Vi::forget_peer() noexcept {
  if (!options_.inline_only) {
    rx_ = nullptr;
    rx_slots_ = nullptr;
    return;
  }
  leave_ring();
  peer_extra_ = no_extra.data();
}

void Vi::refuse_room() noexcept {
  constexpr const char* kWhat = "a count of free lines that cannot be";
  if (options_.inline_only) return break_off(kWhat);
  if (state_ != ViState::connected) return;
  nic_.job_.log().write(LogLevel::error, "the connection with rank " +
                                             std::to_string(index(peer_)) +
                                             " ends, since that rank has written " + kWhat);
  fail(ErrorCause::format);
}

/// Whether the header of a line that is not full is what is left of an earlier lap, or nothing.
bool Vi::may_be_old(std::uint64_t h) const noexcept {
  if (rx_seq_ <= rx_mask_) return h == 0;
  const std::uint64_t rest = h & ~header::phase_bit;
  if (header::kind(h) == MessageKind::continuation)
    return rest == header::make(MessageKind::continuation, 0, 0);
  return header::is_plain(h) && header::extra_lines(h) < kMaxLines &&
         header::length(h) <= (1 + header::extra_lines(h)) * kInlineBytes &&
         header::client(h) >> options_.client_bits == 0;
}

/// A line is written as a whole, and lines in their order, but for those of one message: it has
/// kMaxLines at most, and its first comes last. A transport's lines are told of one by one.
void Vi::look_for_nonsense() noexcept {
  if (!options_.inline_only || options_.remote || state_ != ViState::connected) return;
  const bool others_there = arrived_ahead(kMaxLines) != nullptr;  // before the next one is read
  const std::uint64_t h = next_slot().header.load(kAcquire);
  if (is_full(h)) return;  // whoever takes it looks at it
  if (others_there) return break_off("messages behind a line that is empty");
  if (!may_be_old(h)) break_off("bytes that are no message into a line");
}

}  // namespace viaduct::via::shm
