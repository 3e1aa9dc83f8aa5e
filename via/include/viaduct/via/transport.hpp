#pragma once
/// @file
/// The interface of a transport: ordered one-sided writes to ranks that share no memory with this
/// one. Channels (channel/channel.hpp) send their messages through a transport to other hosts.
///
/// A *link* is the connection of two ranks. Each end has one registered block with two halves of
/// equal layout. The first half is the channel that this end sends on; the second half is the copy
/// of the peer's channel. A *forward* write takes bytes of the first half to the same place in the
/// peer's second half. A *back* write takes bytes of the second half to the same place in the
/// peer's first half.
///
/// The writes of a link arrive in the order in which they were posted. A write may have a
/// notification: 32 bits that the peer's poll answers once the bytes of this write and of all
/// earlier ones are in place.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "viaduct/runtime/types.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via {

class Link {
 public:
  /// The data that the peer's connect() needs; they travel in a control message.
  static constexpr std::size_t kNameBytes = 32;
  using Name = std::array<std::byte, kNameBytes>;
  struct Piece {
    std::uint32_t offset = 0;  ///< in the half
    std::uint32_t bytes = 0;
  };

  Link() = default;
  /// Ends the connection at once: see drained().
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// @return the data that the peer's connect() needs.
  [[nodiscard]] virtual Name name() const noexcept = 0;
  /// Connects to the link @p theirs of @p peer, which does the same: nothing can be posted until
  /// both have.  Throws Error.
  virtual void connect(Rank peer, const Name& theirs) = 0;

  /// Writes @p pieces (up to kMaxPieces) forward with one doorbell. Where @p tell is set, @p
  /// notification goes behind the last piece. False: there is no room now.  Blocks never.  Cost: no
  /// allocation, lock or system call of its own.
  static constexpr std::uint32_t kMaxPieces = 3;
  [[nodiscard]] virtual bool post(std::span<const Piece> pieces, std::uint32_t notification,
                                  bool tell) noexcept = 0;
  /// post() of one piece of kLineBytes, with a notification, for most messages.  Blocks never.
  static constexpr std::uint32_t kLineBytes = 64;
  /// As post() of the piece at @p offset of kLineBytes.  @return false: there is no room now.
  [[nodiscard]] virtual bool post_line(std::uint32_t offset,
                                       std::uint32_t notification) noexcept = 0;
  /// Writes one piece back. Back writes have places of their own: room comes with their
  /// completions, and forward posts do not use it up.  @return false: there is no room now.
  [[nodiscard]] virtual bool post_back(Piece piece, std::uint32_t notification,
                                       bool tell) noexcept = 0;

  /// @return whether the peer is known to take posts. This is known once control messages, or a
  /// notification of the peer's, have been taken in; until then every post is refused.
  [[nodiscard]] virtual bool ready() const noexcept = 0;

  /// Copies from memory of any kind here to the peer's memory that is registered under @p key.
  /// Waits until the bytes have left. False: the link has failed, or the peer's memory is not
  /// registered as the caller says (then the link has failed, too).  Precondition: ready().
  [[nodiscard]] virtual bool write(const std::byte* from, std::size_t bytes, std::uint64_t to,
                                   std::uint32_t key) noexcept = 0;
  /// As write(), the other way.  Blocks until the bytes are here. Precondition: ready().
  [[nodiscard]] virtual bool read(std::byte* to, std::size_t bytes, std::uint64_t from,
                                  std::uint32_t key) noexcept = 0;

  /// Transfers that do not wait. Transfers of a link are numbered from 1, in the order of the
  /// calls.
  using Transfer = std::uint64_t;
  static constexpr std::size_t kMostTransferBytes = 128 * 1024;
  /// Whether the program may change what it puts before is_sent(): then put() copies it.
  enum class Source : std::uint8_t { changes, stays };
  /// put: begins to write 1 to kMostTransferBytes bytes at @p from to the peer's memory @p to that
  /// is registered under @p key. get: the same in the other direction; @p to stays where it is and
  /// is unspecified until is_done().
  ///
  /// Blocks      never for the peer; for the device while it takes the last requests in.
  /// Order       puts take effect before later puts, notifications and gets of this link; a later
  ///             put may overtake a get.
  /// Cost        one request to the device; a copy where the own memory is not registered.
  /// @return the transfer's number; 0: not begun, since the bound of transfers under way is
  ///         reached, or not ready(), or failed().
  [[nodiscard]] virtual Transfer put(const std::byte* from, std::size_t bytes, std::uint64_t to,
                                     std::uint32_t key, Source source) noexcept = 0;
  [[nodiscard]] virtual Transfer get(std::byte* to, std::size_t bytes, std::uint64_t from,
                                     std::uint32_t key) noexcept = 0;
  /// Whether the bytes of @p transfer and of all before it have left this process' memory (put), or
  /// are in it (get). To be asked until it is so.  True also when the link has failed: ask failed()
  /// first.
  [[nodiscard]] virtual bool is_sent(Transfer transfer) noexcept = 0;
  /// Whether @p transfer and all before it have taken effect: the peer's processor sees bytes that
  /// were put, and bytes that were got are here. To be asked until it is so: for puts it begins a
  /// read of the peer's memory, which comes behind them (docs/verbs.md, One-sided transfers). True
  /// as is_sent().
  [[nodiscard]] virtual bool is_done(Transfer transfer) noexcept = 0;

  /// Whether all that was posted has arrived, or the link has failed. To be asked until it has.
  /// Never blocks.
  [[nodiscard]] virtual bool drained() noexcept = 0;
  /// No more writes: those under way are dropped.  Never blocks.
  virtual void fail() noexcept = 0;
  /// @return whether the link has failed: nothing that is posted arrives any more.
  [[nodiscard]] virtual bool failed() const noexcept = 0;
};

/// An event that a poll of the transport finds. Its members have no values of their own: a poll has
/// room for many events, and most polls find none.
struct LinkEvent {
  void* owner;  ///< as given to make_link()
  std::uint32_t notification;
  ErrorCause failure;  ///< if not none, the link has failed
};
/// The most events that one poll takes.
using LinkEvents = std::array<LinkEvent, 16>;

class Transport {
 public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// A link on @p block, which has two halves of @p half_bytes. The peer's notifications that have
  /// not been polled are never more than @p notifications.  Throws Error.
  [[nodiscard]] virtual std::unique_ptr<Link> make_link(std::byte* block, std::size_t half_bytes,
                                                        std::uint32_t notifications,
                                                        void* owner) = 0;
  /// @return the bytes that a link costs in queues: an estimate, since devices differ.
  [[nodiscard]] virtual std::size_t bytes_per_link(std::uint32_t notifications) const noexcept = 0;
  /// Fills @p out with the events that have happened.  Never blocks.  @return the number of events.
  [[nodiscard]] virtual std::size_t poll(LinkEvents& out) noexcept = 0;
  /// Rings this rank's doorbell at the next event or control message. Poll once more afterwards.
  /// Never blocks.
  virtual void arm() noexcept = 0;
  /// @return whether arm() does so. A rank whose transport rings no doorbell sleeps for a
  /// millisecond at most.
  [[nodiscard]] virtual bool rings_doorbell() const noexcept { return true; }
  /// @return whether a reply may not have a larger size than its request, of the sizes short,
  /// medium and bulk. Source: Begel et al. 2001, section 5 (AMVIAv1).  Never blocks.
  [[nodiscard]] virtual bool limits_replies() const noexcept { return false; }

  /// Memory that peers may write and read by Link::write() and read(), under the key answered.
  /// Throws Error.
  [[nodiscard]] virtual std::uint32_t register_memory(std::byte* address, std::size_t bytes) = 0;
  /// Undoes register_memory().  Precondition: peers use the memory no more.
  virtual void deregister(std::uint32_t key) noexcept = 0;
  /// The same for a chunk of memory that stays mapped, with its pages, until the transport ends: as
  /// long as the limit of registered memory allows. Transfers from here use it, too, without a
  /// copy. None: no room, or refused.
  [[nodiscard]] virtual std::optional<std::uint32_t> register_chunk(std::byte* address,
                                                                    std::size_t bytes) noexcept = 0;

  /// Control messages: for connections only. Each arrives once, in its sender's order, however long
  /// that takes.
  static constexpr std::size_t kMaxControlBytes = 256;
  using ControlHandler = std::function<void(Rank from, std::span<const std::byte>)>;
  /// Sends a control message of at most kMaxControlBytes.  Never waits: control messages that
  /// cannot go yet are kept.
  virtual void send_control(Rank to, std::span<const std::byte> message) = 0;
  /// Takes the memory for the next @p messages calls of send_control(), which then do not throw. A
  /// transport that has no such memory does nothing.  Never waits.  Errors: throws std::bad_alloc.
  virtual void reserve_control(std::size_t messages) { (void)messages; }
  /// Hands the control messages that have come to @p handler, and repeats those that are overdue.
  /// Never waits.
  virtual void progress(const ControlHandler& handler) = 0;
  /// @return whether every control message of this rank's has been handled by its receiver, or
  /// given up.
  [[nodiscard]] virtual bool all_delivered() const noexcept = 0;
  /// @return the ranks to whom a control message has been under way for @p ns.
  [[nodiscard]] virtual std::vector<Rank> silent_for(std::uint64_t ns) const = 0;
  /// The silent ranks to whom nothing could be sent for @p ns: no route to them is known, or a port
  /// here or there is down. To be asked now and then.  Cost: a system call while a peer is silent.
  [[nodiscard]] virtual std::vector<Rank> out_of_reach(std::uint64_t ns) = 0;
  /// Sends @p rank an empty control message, which no handler gets, when for a second none has been
  /// under way to it. Never waits.
  virtual void probe(Rank rank) = 0;
  /// Gives up the control messages to @p rank. Later ones arrive without them.  Never waits.
  virtual void forget(Rank rank) noexcept = 0;
};

}  // namespace viaduct::via
