#pragma once
/// @file
/// The part of a channel whose messages a transport takes to its peer (remote.cpp).

#include <cstddef>
#include <cstdint>
#include <memory>

#include "viaduct/runtime/ring_queue.hpp"
#include "viaduct/via/channel/channel_end.hpp"
#include "viaduct/via/transport.hpp"

namespace viaduct::via::channel {

/// The data of a control message to a rank that shares no memory with the writer: the end of the
/// link, and the beginning of the extra bytes of the writer's ring.
struct RemotePart {
  Link::Name link{};
  std::byte extra[128] = {};
};

/// Lives from the making of a remote channel's ring to the end of its connection. The functions
/// take the channel that the object belongs to: its words are in registers where they are called.
class RemoteEnd {
 public:
  /// Throws Error: the transport makes no link.
  RemoteEnd(ChannelEnd& c, std::size_t half_bytes);

  /// @return the data that the peer needs of this end.  Never blocks.
  [[nodiscard]] RemotePart part(const ChannelEnd& c) const noexcept;
  /// Takes up the peer's link.  @return false: the attempt has been answered.
  bool connect(ChannelEnd& c, const RemotePart& part);
  /// @return the link, to be given transfers; null: it is not connected, or has failed.
  [[nodiscard]] Link* open_link() const noexcept {
    return connected_ && !link_->failed() ? link_.get() : nullptr;
  }
  /// @return as Channel::takes_copies().
  [[nodiscard]] bool takes_copies() const noexcept {
    return !connected_ || link_->failed() || link_->ready();
  }
  /// Blocks until all that was sent has arrived, or the peer has ended the connection, too; 5 s at
  /// most.
  void drain(ChannelEnd& c) noexcept;

  // Sending: a channel whose posts find no room goes into the NIC's backlog.

  /// Takes bytes of this end's half to the peer.  Order: before the next message.  Never blocks.
  void add_piece(const ChannelEnd& c, const std::byte* from, std::size_t bytes);
  /// Takes bytes of the copy of the peer's half back to the peer.  Order: before the next message.
  /// Never blocks.
  void send_back(ChannelEnd& c, const std::byte* from, std::size_t bytes);
  /// Posts lines that have just been written, and those that found no room before.  Never blocks.
  void post_lines(ChannelEnd& c) noexcept;
  /// Posts the counters that this end has published, behind the bytes that go back.  Never blocks.
  void post_counters(ChannelEnd& c) noexcept;
  /// Posts the backlog.  Never blocks.
  void post_backlog(ChannelEnd& c) noexcept;
  /// @return whether all pieces are there.  Never blocks.
  [[nodiscard]] bool flushed(ChannelEnd& c) noexcept;
  /// Before this rank sleeps: asks a peer that has had messages of this end to tell when its
  /// counters change. They may be credits of the layer above, though all lines are free.
  /// @return false: no room to ask.
  [[nodiscard]] bool ask_to_be_woken(const ChannelEnd& c) noexcept;

  // Receiving.

  /// Takes in a notification: arrived lines become visible to the client. Calls nothing of the
  /// client's.  Never blocks.  @return why the connection has to end; none: it goes on.
  [[nodiscard]] ErrorCause take(ChannelEnd& c, const LinkEvent& event) noexcept;
  /// Ends the connection, since nothing gets through to the peer any more. A control message tells
  /// the peer, whose own half may be well.  Never blocks.
  static void fail(ChannelEnd& c, ErrorCause cause) noexcept;

 private:
  friend class Channel;
  friend class Nic;

  [[gnu::cold, gnu::noinline]] void post_lines_slow(ChannelEnd& c) noexcept;
  [[nodiscard]] bool post_message(ChannelEnd& c) noexcept;
  [[nodiscard]] bool post_all(ChannelEnd& c) noexcept;
  [[nodiscard]] bool post_piece() noexcept;
  [[gnu::cold]] void take_sign(ChannelEnd& c, bool wanted) noexcept;
  [[nodiscard]] ErrorCause take_lines(ChannelEnd& c, std::uint32_t number) noexcept;

  std::unique_ptr<Link> link_;
  std::size_t half_bytes_;
  std::uint64_t lines_posted_ = 0;   // up to this line
  std::uint64_t lines_arrived_ = 0;  // the same of the peer's
  struct Pending {
    std::uint64_t before;  // the line that it goes before
    Link::Piece piece;
  };
  // Room is made for a piece with each message that may be under way: no message allocates.
  RingQueue<Pending> pieces_;
  RingQueue<Link::Piece> back_;    // to be written back
  bool line_waits_ = false;        // for pieces or counters that may have to go first
  bool counters_changed_ = false;  // and not posted
  bool published_unseen_ = false;  // counters were posted after the last notification
  bool wake_wanted_ = false;       // by the peer
  bool wake_asked_ = false;        // of the peer, not answered
  bool in_backlog_ = false;
  bool connected_ = false;
};

}  // namespace viaduct::via::channel
