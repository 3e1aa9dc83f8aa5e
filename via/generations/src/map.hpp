#pragma once
/// @file
/// A MAP: the link of two ranks over VIs, in one of three generations. Source: Begel et al. 2001,
/// section 4.1 (the MAP object).

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "via/generations/src/lane.hpp"
#include "via/generations/src/message.hpp"
#include "via/generations/src/policy.hpp"
#include "via/generations/src/transfers.hpp"
#include "viaduct/via/memory_region.hpp"
#include "viaduct/via/transport.hpp"

namespace viaduct::via::generations {

class MapTransport;

/// The part of a MAP that does not depend on its generation: arrived bytes into the halves of the
/// block, transfers, the beginning and the end of the link.
class MapBase : public via::Link, public Receiver {
 public:
  MapBase(MapTransport& transport, std::byte* block, std::size_t half_bytes, void* owner);

  [[nodiscard]] Name name() const noexcept final;
  void connect(Rank peer, const Name& theirs) final;
  [[nodiscard]] bool ready() const noexcept final { return ready_; }
  [[nodiscard]] bool write(const std::byte* from, std::size_t bytes, std::uint64_t to,
                           std::uint32_t key) noexcept final;
  [[nodiscard]] bool read(std::byte* to, std::size_t bytes, std::uint64_t from,
                          std::uint32_t key) noexcept final;
  [[nodiscard]] Transfer put(const std::byte* from, std::size_t bytes, std::uint64_t to,
                             std::uint32_t key, Source source) noexcept final;
  [[nodiscard]] Transfer get(std::byte* to, std::size_t bytes, std::uint64_t from,
                             std::uint32_t key) noexcept final;
  [[nodiscard]] bool is_sent(Transfer transfer) noexcept final;
  [[nodiscard]] bool is_done(Transfer transfer) noexcept final;
  [[nodiscard]] bool drained() noexcept final;
  void fail() noexcept final;
  [[nodiscard]] bool failed() const noexcept final { return failed_; }

  // For the transport.

  /// The completion of a send of this MAP's.
  void take_sent(const Completion& done) noexcept;
  /// The completion of a receive of this MAP's.
  void take_received(const Completion& done) noexcept;
  /// Moves the connection on.  @return whether it is no longer connecting.
  [[nodiscard]] bool look_at_connection() noexcept;
  /// @return whether the peer has been told of all that is due to it, or never will be.
  [[nodiscard]] bool pay_credits() noexcept { return failed_ || (ready_ && give_credits()); }
  /// The VIs are of no use any more. A peer that has ended them gives the reason by a control
  /// message, now or soon, and writes may have found memory of the peer's that is registered no
  /// more. When the peer gives no reason, look_at_end() tells the owner @p cause.
  void end(ErrorCause cause) noexcept;
  /// Tells the owner of an end for which the peer has given no reason in a second.
  void look_at_end(std::uint64_t now_ns) noexcept;
  /// The link has failed: the owner is told.
  void break_off(ErrorCause cause) noexcept;
  [[nodiscard]] void* owner() const noexcept { return owner_; }
  [[nodiscard]] Rank peer() const noexcept { return peer_; }

  [[nodiscard]] bool apply(const Incoming& message) noexcept final;
  [[nodiscard]] std::size_t half_bytes() const noexcept final { return half_bytes_; }

 protected:
  void reap_sends() noexcept;
  /// Writes @p pieces of one half to the peer by RDMA, without a notification and without the
  /// peer's part.  @return false: no room now.
  [[nodiscard]] bool write_pieces(std::span<const Piece> pieces, bool back) noexcept;
  /// Before the VIs end: nothing of theirs leads to this object any more.
  void leave(const Depths& depths) noexcept;

  std::byte* block_;
  std::size_t half_bytes_;
  bool open_ = false;  // ready, and not failed
  bool ready_ = false;
  bool failed_ = false;
  bool told_ = false;  // the owner has been told of the failure

 private:
  struct Plain {  // in a control message, as bytes
    std::uint64_t ring;
    std::uint64_t block;
    std::uint32_t ring_handle;
    std::uint32_t block_handle;
    std::uint32_t number;
    std::uint32_t reserved;
  };
  static_assert(sizeof(Plain) == kNameBytes);

  [[nodiscard]] virtual RingName ring() const noexcept = 0;
  [[nodiscard]] virtual Status start(Rank peer, std::uint64_t name, const RingName& theirs) = 0;
  [[nodiscard]] virtual Status connected() noexcept = 0;
  virtual void policy_sent(const Completion& done) noexcept = 0;
  [[nodiscard]] virtual bool policy_received(const Completion& done) noexcept = 0;
  [[nodiscard]] virtual bool give_credits() noexcept = 0;
  /// Sends a message of the policy's.  @return false: no room now.
  [[nodiscard]] virtual bool send_one(const Outgoing& out) noexcept = 0;
  [[nodiscard]] virtual bool quiet() const noexcept = 0;
  [[nodiscard]] virtual Vi& rdma_vi() noexcept = 0;
  virtual void written() noexcept = 0;

  template <class Done>
  [[nodiscard]] bool wait_for(Done done) noexcept;
  [[nodiscard]] bool copy(const Transfers::Range& range, bool out) noexcept;
  [[nodiscard]] bool write_by_messages(const std::byte* from, std::size_t bytes, std::uint64_t to,
                                       std::uint32_t key) noexcept;

  MapTransport& transport_;
  void* owner_;
  Transfers transfers_;
  // Writes without a notification.
  MemoryRegion region_;  // the block
  std::uint64_t peer_block_ = 0;
  MemoryHandle peer_handle_ = MemoryHandle::none;
  std::array<Descriptor, kWriteDepth> writes_{};
  std::uint32_t writes_begun_ = 0, writes_done_ = 0;
  Rank peer_{};
  std::uint32_t number_;
  std::uint64_t ended_ns_ = 0;  // when the VIs have ended; 0: they have not
  ErrorCause cause_ = ErrorCause::none;
};

/// The MAP of a generation. @tparam Policy as policy.hpp says.
template <class Policy>
class Map final : public MapBase {
 public:
  Map(MapTransport& transport, const Common& common, const Room& room, std::byte* block,
      std::size_t half_bytes, void* owner);
  ~Map() override;

  [[nodiscard]] bool post(std::span<const Piece> pieces, std::uint32_t notification,
                          bool tell) noexcept override {
    return send(pieces, notification, tell ? flag::tell : std::uint8_t{0});
  }
  [[nodiscard]] bool post_line(std::uint32_t offset, std::uint32_t notification) noexcept override {
    const Piece piece{offset, kLineBytes};
    return send({&piece, 1}, notification, flag::tell);
  }
  [[nodiscard]] bool post_back(Piece piece, std::uint32_t notification,
                               bool tell) noexcept override {
    const std::size_t pieces = piece.bytes == 0 ? 0 : 1;
    return send({&piece, pieces}, notification,
                static_cast<std::uint8_t>(flag::back | (tell ? flag::tell : 0)));
  }

 private:
  [[nodiscard]] bool send(std::span<const Piece> pieces, std::uint32_t notification,
                          std::uint8_t flags) noexcept;
  [[nodiscard]] bool send_one(const Outgoing& out) noexcept override;

  [[nodiscard]] RingName ring() const noexcept override { return policy_.ring(); }
  [[nodiscard]] Status start(Rank peer, std::uint64_t name, const RingName& theirs) override {
    return policy_.start(peer, name, theirs);
  }
  [[nodiscard]] Status connected() noexcept override { return policy_.connected(); }
  void policy_sent(const Completion& done) noexcept override { policy_.sent(done); }
  [[nodiscard]] bool policy_received(const Completion& done) noexcept override {
    return policy_.received(done, *this);
  }
  [[nodiscard]] bool give_credits() noexcept override { return policy_.give_credits(); }
  [[nodiscard]] bool quiet() const noexcept override { return policy_.quiet(); }
  [[nodiscard]] Vi& rdma_vi() noexcept override { return policy_.rdma_vi(); }
  void written() noexcept override { policy_.written(); }

  Depths depths_;
  Policy policy_;
};

}  // namespace viaduct::via::generations
