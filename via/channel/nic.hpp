#pragma once
/// @file
/// The NIC of Active Messages and Split-C: provider shm's, with channels, and with a transport to
/// ranks that share no memory with this one.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "via/closed_peers.hpp"
#include "via/shm/nic.hpp"
#include "viaduct/via/channel/channel.hpp"
#include "viaduct/via/channel/group.hpp"
#include "viaduct/via/transport.hpp"

namespace viaduct::via::channel {

class Nic final : public shm::Nic {
 public:
  /// As shm::Nic's constructor.  Collective.
  explicit Nic(Job& job, AtomicWord<std::uint64_t>* attention = nullptr);
  ~Nic() override;

  /// Never blocks.  Throws Error (memory), and for a ring that is no power of two from 4 to 65536
  /// slots. @p group outlives the channel.
  [[nodiscard]] std::unique_ptr<Channel> create_channel(Group& group, void* context,
                                                        const Options& options);
  /// Call from the rank's thread.  @p callback runs inside a poll or progress(), when a connected
  /// channel has ended: by its peer, by a loss, over nonsense.
  void on_ended(std::function<void(ChannelEnd&, ErrorCause)> callback) {
    on_ended_ = std::move(callback);
  }
  using shm::Nic::reject_peer;
  /// The same with a reason, which the requester's rejection_reason() answers.  Never waits.
  void reject_peer(Rank from, std::uint64_t discriminator, std::uint64_t reason) {
    connections_.reject_peer(from, discriminator, reason);
  }
  /// @return the extra bytes (channel.hpp) that come with the unmatched request of a channel of
  /// @p from; null: there is none. At least 4096 bytes may be read there; of a remote rank the
  /// bytes of RemotePart, until progress().
  [[nodiscard]] const std::byte* incoming_extra(Rank from, std::uint64_t discriminator);

  /// From now on channels to the ranks that @p remote says true of go by @p transport.  Call from
  /// every rank, before the first connection.
  void use_transport(std::unique_ptr<Transport> transport, const std::function<bool(Rank)>& remote);
  /// @return whether @p rank is reached through the transport.  Cost: two loads.
  [[nodiscard]] bool is_remote(Rank rank) const noexcept override {
    return !remote_.empty() && remote_[index(rank)];
  }
  /// For a caller that must take no message off a ring now: posts the backlog, and goes on with
  /// connections.  Never blocks.
  void post_backlog() noexcept {
    progress();
    take_from_transport();
  }
  /// For a client that cannot carry out a message of @p channel, since a transfer of the link has
  /// failed: ends the connection, and takes nothing that lies behind the message. May be called
  /// while the message is handled.  Never blocks.
  void give_up(ChannelEnd& channel) noexcept;
  /// @return the transport; null where all ranks share memory.
  [[nodiscard]] Transport* transport() noexcept { return transport_.get(); }
  /// @return the bytes of the rank's window and of private memory that a peer without a channel
  /// costs.
  [[nodiscard]] static std::size_t bytes_per_peer() noexcept;

 private:
  friend class Channel;
  friend class ChannelEnd;
  friend class RemoteEnd;

  /// Takes in what the transport has received, so that its receives are posted again. Handles no
  /// message. Never blocks.
  void take_from_transport() noexcept {
    if (transport_ != nullptr) poll_transport();
  }
  void poll_remote() noexcept override { take_from_transport(); }
  void drain_remote() noexcept override;
  void progress_remote() override;
  void reserve_remote(std::size_t messages) override { transport_->reserve_control(messages); }
  void post_remote(Rank to, const ControlMessage& message) override;
  [[nodiscard]] bool is_plausible_remote(const ControlMessage& message) const noexcept override;
  [[nodiscard]] bool remote_busy() const noexcept override;
  [[nodiscard]] bool remote_rings() const noexcept override {
    return transport_ == nullptr || transport_->rings_doorbell();
  }
  void forget_remote(const std::function<bool(Rank)>& gone) override;
  bool arm_remote() noexcept override;

  [[nodiscard]] bool connects() const noexcept;
  void probe();
  void poll_transport() noexcept;
  [[gnu::cold, gnu::noinline]] void take_failures(std::span<const LinkEvent> events) noexcept;
  void handle_failures() noexcept;
  [[gnu::cold, gnu::noinline]] void post_whole_backlog() noexcept;
  void add_to_backlog(ChannelEnd& channel) noexcept;
  void report(ChannelEnd& channel, ErrorCause cause) noexcept {
    if (on_ended_) on_ended_(channel, cause);
  }

  std::function<void(ChannelEnd&, ErrorCause)> on_ended_;
  std::unique_ptr<Transport> transport_;
  std::vector<bool> remote_;
  std::vector<ChannelEnd*> remote_channels_;
  std::vector<ChannelEnd*> backlog_;  // with something that could not be posted
  std::vector<ChannelEnd*> posting_;  // empty but while the backlog is posted
  std::vector<std::pair<ChannelEnd*, ErrorCause>> failures_;  // of links; handled by progress()
  std::uint64_t events_ = 0;  // and control messages, that the transport has brought
  ClosedPeers closed_peers_;
  std::uint64_t looks_ = 0;  // for control messages
};

}  // namespace viaduct::via::channel
