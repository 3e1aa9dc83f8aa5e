#include "via/channel/nic.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "runtime/errors/codes.hpp"
#include "via/channel/remote.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::via::channel {

Nic::Nic(Job& job, AtomicWord<std::uint64_t>* attention) : shm::Nic(job, attention) {}

Nic::~Nic() {
  on_ended_ = nullptr;
  finish();  // while the transport is there
}

std::unique_ptr<Channel> Nic::create_channel(Group& group, void* context, const Options& options) {
  constexpr std::uint32_t kLeast = 4;
  constexpr std::uint32_t kMost = 65536;
  if (!std::has_single_bit(options.slots) || options.slots < kLeast || options.slots > kMost ||
      options.release_every == 0 || options.release_every > options.slots / 2)
    throw Error(errors::bad_attributes, std::errc::invalid_argument,
                "a ring of " + std::to_string(options.slots) +
                    " slots: must be a power of two from 4 to 65536");
  return std::make_unique<Channel>(*this, group, context, options);
}

const std::byte* Nic::incoming_extra(Rank from, std::uint64_t discriminator) {
  const Connector::Request* const found =
      connections_.connector().request_of_peer(from, discriminator);
  if (found == nullptr || (found->message.shape & shm::kOfChannel) == 0) return nullptr;
  if (is_remote(from)) return found->message.data.data() + offsetof(RemotePart, extra);
  shm::ChannelOffer offer;
  if (!read_data(found->message.data, offer)) return nullptr;
  // At least so many bytes may be read there, for any request.
  constexpr std::size_t kLeast = 4096;
  const std::size_t at = offer.channel + ChannelHead::bytes_for(1U << offer.slots_log2);
  if (at > job_.segment().window_bytes() - kLeast) return nullptr;
  return peer(from).window + at;
}

std::size_t Nic::bytes_per_peer() noexcept {
  return sizeof(shm::MailboxEntry) + sizeof(std::unique_ptr<Peer>);
}

// The transport.

void Nic::use_transport(std::unique_ptr<Transport> transport,
                        const std::function<bool(Rank)>& remote) {
  transport_ = std::move(transport);
  remote_.resize(job_.size());
  for (std::uint32_t r = 0; r < job_.size(); ++r) remote_[r] = remote(Rank{r});
}

/// Takes all that has come by now. The loop ends, since no handler runs and so no peer gets
/// credits.
void Nic::drain_remote() noexcept {
  if (transport_ == nullptr) return;
  std::uint64_t before = 0;
  do {
    before = events_;
    poll_transport();
  } while (events_ != before);
}

bool Nic::remote_busy() const noexcept {
  return transport_ != nullptr && (!transport_->all_delivered() || !backlog_.empty() || connects());
}

/// Whether a remote channel waits for its peer.
bool Nic::connects() const noexcept {
  return std::any_of(
      remote_channels_.begin(), remote_channels_.end(),
      [](const ChannelEnd* channel) { return channel->state() == ViState::connecting; });
}

/// A peer that has had our control messages and has not answered may be out of reach by now:
/// another control message shows it.
void Nic::probe() {
  for (const ChannelEnd* channel : remote_channels_)
    if (channel->state() == ViState::connecting) transport_->probe(channel->peer());
}

void Nic::progress_remote() {
  if (transport_ == nullptr) return;
  constexpr std::uint64_t kProbeEvery = 64;
  if (++looks_ % kProbeEvery == 0) probe();
  transport_->progress([this](Rank from, std::span<const std::byte> bytes) {
    ++events_;
    handle(from, bytes);
  });
  if (!transport_->all_delivered())
    closed_peers_.look(job_, *transport_, [this](Rank closed, ErrorCause cause) {
      part_from([closed](Rank rank) { return rank == closed; }, cause);
    });
  handle_failures();
}

void Nic::post_remote(Rank to, const ControlMessage& message) {
  std::array<std::byte, sizeof(ControlHead) + sizeof(RemotePart)> bytes;
  const std::size_t n = encode(message, bytes);
  transport_->send_control(to, std::span(bytes).first(n));
}

bool Nic::is_plausible_remote(const ControlMessage& message) const noexcept {
  return message.data.size() == sizeof(RemotePart);
}

void Nic::forget_remote(const std::function<bool(Rank)>& gone) {
  ++events_;  // a caller that is about to sleep looks again
  for (std::uint32_t r = 0; transport_ != nullptr && r < job_.size(); ++r)
    if (is_remote(Rank{r}) && gone(Rank{r})) transport_->forget(Rank{r});
}

/// From now on an event of the transport rings this rank's doorbell, and peers announce the
/// counters that this rank may wait for. Answers whether the rank should not sleep: something has
/// happened meanwhile, or a peer could not be asked.
bool Nic::arm_remote() noexcept {
  if (transport_ == nullptr) return false;
  const std::uint64_t before = events_;
  bool all_asked = true;
  for (ChannelEnd* channel : remote_channels_)
    if (channel->remote_ != nullptr && !channel->remote_->ask_to_be_woken(*channel))
      all_asked = false;
  transport_->arm();
  poll_transport();
  progress();
  return events_ != before || !all_asked;
}

}  // namespace viaduct::via::channel
