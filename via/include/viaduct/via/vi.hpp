#pragma once
/// @file
/// Virtual interfaces [queue pairs]. Source: Begel et al. 2001, section 3.1.

#include <cstdint>

#include "viaduct/runtime/status.hpp"
#include "viaduct/runtime/types.hpp"
#include "viaduct/via/completion_queue.hpp"
#include "viaduct/via/descriptor.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via {

/// The attributes that a VI is made with; none of them changes later. The queues must outlive the
/// VI.
struct ViAttributes {
  ProtectionTag tag = ProtectionTag::none;
  Reliability reliability = Reliability::delivery;
  std::uint32_t send_depth = 64;  ///< descriptors that may be posted and not yet reaped
  std::uint32_t receive_depth = 64;
  CompletionQueue* send_queue = nullptr;     ///< null: reap with send_done()
  CompletionQueue* receive_queue = nullptr;  ///< null: reap with receive_done()
  void* context = nullptr;                   ///< the owner's; never looked at
};

/// A send queue and a receive queue, connected to exactly one other VI. Belongs to one thread at a
/// time, the same one as its completion queues.
class Vi {
 public:
  Vi() = default;
  virtual ~Vi() = default;
  Vi(const Vi&) = delete;
  Vi& operator=(const Vi&) = delete;

  /// Posts a send, RDMA or atomic descriptor and rings the doorbell.
  ///
  /// Blocks      never. (On verbs a post that meets a broken device ends the connection, in 0.2 s.)
  /// Order       descriptors of one VI are carried out and complete in the order posted.
  /// Cost        shm: up to 56 bytes one cache line at the peer; more: one copy into the posted
  ///             receive.
  ///
  /// @return ok         posted; the outcome is in the descriptor's status and completion
  ///         retry      send_depth descriptors are posted and not yet reaped, or there is no memory
  ///         bad_state  the VI is idle or connecting. (In the error state: ok, and the completion
  ///                    says flushed.)
  virtual Status post_send(Descriptor& descriptor) noexcept = 0;

  /// Posts a receive. Allowed in every state except error (there: ok, completes flushed).
  /// @return ok, or retry when receive_depth receives are posted and not yet reaped.
  virtual Status post_receive(Descriptor& descriptor) noexcept = 0;

  /// Takes the oldest completed descriptor of the queue: ok or retry. For queues not attached to a
  /// completion queue; bad_state for those that are. Blocks never; makes progress.
  Status send_done(Descriptor*& out) noexcept { return done(Queue::send, out); }
  /// As send_done(), of the receive queue: ok, retry or bad_state.
  Status receive_done(Descriptor*& out) noexcept { return done(Queue::receive, out); }
  /// As send_done(), waiting up to @p timeout_ns (negative: for ever): ok, timeout or bad_state.
  Status send_wait(Descriptor*& out, std::int64_t timeout_ns) noexcept {
    return wait(Queue::send, out, timeout_ns);
  }
  /// As send_wait(), of the receive queue: ok, timeout or bad_state.
  Status receive_wait(Descriptor*& out, std::int64_t timeout_ns) noexcept {
    return wait(Queue::receive, out, timeout_ns);
  }

  /// Client's half of a client/server connection: asks the listener at @p peer with @p
  /// discriminator and waits for its answer, at most @p timeout_ns (negative: for ever); makes
  /// progress meanwhile. `rejected` also when this VI is not idle.  Throws Error for a rank that
  /// the job does not have, or when the provider has no room.
  virtual ConnectResult connect(Rank peer, std::uint64_t discriminator,
                                std::int64_t timeout_ns) = 0;

  /// Peer-to-peer form: both sides start with the same discriminator; connect_peer_done says
  /// whether they are connected. Blocks never.  bad_state unless idle, and while another VI of this
  /// rank connects or is connected with that peer by that discriminator (two, when the peer is this
  /// rank); bad_argument for a rank that the job does not have, peer_lost.  Throws Error when the
  /// provider has no room.
  virtual Status connect_peer_start(Rank peer, std::uint64_t discriminator) = 0;
  /// ok (connected), retry (not yet), peer_lost, bad_argument (reliability mismatch), bad_state
  /// (rejected or not started; the VI is idle). Blocks never; makes progress.
  virtual Status connect_peer_done() noexcept = 0;
  /// connect_peer_done until something other than retry, at most @p timeout_ns (negative: for
  /// ever). At the end of the time the attempt is over: timed_out, and the VI is idle. Where no
  /// attempt is under way it answers at once, as the last attempt ended: `connected` also where the
  /// connection has ended or failed since; `rejected` where nothing was started since the VI was
  /// made or disconnect() was called.
  virtual ConnectResult connect_peer_wait(std::int64_t timeout_ns) = 0;

  /// Ends the connection. Posted descriptors of both sides complete as flushed (messages that had
  /// already been sent are delivered first); the VI becomes idle and may connect again. The peer's
  /// VI enters the error state when it had receives posted, else idle.  Blocks (on verbs) until
  /// all that was sent has arrived, 5 s at most, and makes progress meanwhile. The destructor
  /// disconnects in the same manner.
  virtual void disconnect() noexcept = 0;

  /// @return the state, as far as progress() or a poll has found out.
  [[nodiscard]] virtual ViState state() const noexcept = 0;
  /// @return the rank that the VI was last connected to, or asked for a connection.
  [[nodiscard]] virtual Rank peer() const noexcept = 0;
  /// @return the attributes that the VI was made with.
  [[nodiscard]] virtual const ViAttributes& attributes() const noexcept = 0;

 private:
  /// send_done() or receive_done(), and the waits.
  virtual Status done(Queue queue, Descriptor*& out) noexcept = 0;
  virtual Status wait(Queue queue, Descriptor*& out, std::int64_t timeout_ns) noexcept = 0;
};

}  // namespace viaduct::via
