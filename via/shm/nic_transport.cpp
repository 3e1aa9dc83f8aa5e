/// The transport of provider shm's NIC: what it brings between polls and before a sleep.

#include <algorithm>

#include "via/shm/nic.hpp"
#include "via/shm/remote_channel.hpp"

namespace viaduct::via::shm {

/// All that has come by now. It has an end: no handler runs meanwhile, so nobody gets credits.
void Nic::drain_transport() noexcept {
  std::uint64_t before = 0;
  do {
    before = transport_events_;
    poll_transport();
  } while (transport_events_ != before);
}

bool Nic::transport_busy() const noexcept {
  return transport_ != nullptr && (!transport_->all_delivered() || !backlog_.empty());
}

/// Whether a remote VI waits for its peer.
bool Nic::connects() const noexcept {
  return std::any_of(remote_vis_.begin(), remote_vis_.end(),
                     [](const Vi* vi) { return vi->state_ == ViState::connecting; });
}

/// A peer that has had our control messages and has not answered may be out of reach by now:
/// another control message shows it.
void Nic::probe() {
  for (const Vi* vi : remote_vis_)
    if (vi->state_ == ViState::connecting) transport_->probe(vi->peer_);
}

void Nic::take_control_messages() {
  constexpr std::uint64_t kProbeEvery = 64;
  if (++looks_ % kProbeEvery == 0) probe();
  transport_->progress([this](Rank from, std::span<const std::byte> bytes) {
    ++transport_events_;
    handle(from, bytes);
  });
  if (transport_->all_delivered()) return;
  closed_peers_.look(job_, *transport_, [this](Rank closed, ErrorCause cause) {
    part_from([closed](Rank rank) { return rank == closed; }, cause);
  });
}

/// Before this rank sleeps: an event of the transport's rings its doorbell, and peers whose
/// counters it may wait for tell of them. Answers whether it should not sleep: something has
/// happened meanwhile, or a peer could not be asked.
bool Nic::arm_transport() noexcept {
  const std::uint64_t before = transport_events_;
  bool all_asked = true;
  for (Vi* vi : remote_vis_)
    if (vi->remote_channel_ != nullptr && !vi->ask_to_be_woken()) all_asked = false;
  transport_->arm();
  poll_transport();
  progress();
  return transport_events_ != before || !all_asked;
}

}  // namespace viaduct::via::shm
