#pragma once
/// @file
/// Wires of provider verbs (via/carrier.hpp): one reliable connection each.
///
/// Posts are chains of RDMA writes, of which the last has its note as immediate value and consumes
/// a receive without buffer at the peer. One request in signal_every_ is signalled; what is posted
/// and not known to have completed never exceeds the send queue (QueuePair counts).

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "via/carrier.hpp"
#include "via/verbs/src/queue_pair.hpp"

namespace viaduct::via::verbs {

class Carrier;

class Wire final : public via::Wire {
 public:
  Wire(Carrier& carrier, std::byte* block, std::size_t half_bytes, std::uint32_t notes,
       void* owner);
  ~Wire() override;

  [[nodiscard]] Name name() const noexcept override;
  void connect(Rank peer, const Name& theirs) override;
  [[nodiscard]] bool post(std::span<const Piece> pieces, std::uint32_t note,
                          bool tell) noexcept override;
  [[nodiscard]] bool post_line(std::uint32_t offset, std::uint32_t note) noexcept override;
  [[nodiscard]] bool post_back(Piece piece, std::uint32_t note, bool tell) noexcept override;
  [[nodiscard]] bool ready() const noexcept override { return ready_; }
  [[nodiscard]] bool write(const std::byte* from, std::size_t bytes, std::uint64_t to,
                           std::uint32_t key) noexcept override;
  [[nodiscard]] bool read(std::byte* to, std::size_t bytes, std::uint64_t from,
                          std::uint32_t key) noexcept override;
  [[nodiscard]] bool drained() noexcept override;
  void fail() noexcept override;
  [[nodiscard]] bool failed() const noexcept override { return failed_; }

 private:
  friend class Carrier;

  /// In a letter, as bytes.
  struct Plain {
    std::uint64_t block;
    std::uint32_t key;
    QueuePairName pair;
    std::uint32_t reserved[3];
  };
  static_assert(sizeof(Plain) == kNameBytes);
  /// Places of the send queue that posts forward leave to writes back.
  static constexpr std::uint32_t kSpare = 4;

  void fill(ibv_send_wr& request, ibv_sge& segment, const std::byte* from, std::uint32_t bytes,
            std::uint64_t to) noexcept;
  [[nodiscard, gnu::cold, gnu::noinline]] bool post_line_slow(std::uint32_t offset,
                                                              std::uint32_t note) noexcept;
  void send(ibv_send_wr& chain, ibv_send_wr& last, std::uint32_t count) noexcept;
  [[nodiscard]] bool copy(std::byte* own, std::size_t bytes, std::uint64_t there, std::uint32_t key,
                          bool out) noexcept;
  [[nodiscard]] bool copy_direct(std::byte* own, std::uint32_t own_key, std::size_t bytes,
                                 std::uint64_t there, std::uint32_t key, bool out) noexcept;
  [[nodiscard]] bool copy_staged(std::byte* own, std::size_t bytes, std::uint64_t there,
                                 std::uint32_t key, bool out) noexcept;
  [[nodiscard]] bool post_copy(const ibv_sge& own, std::uint64_t there, std::uint32_t key,
                               bool out) noexcept;
  template <typename Done>
  [[nodiscard]] bool reap_until(Done done) noexcept;
  [[nodiscard]] bool wait_for(std::uint64_t number) noexcept;
  [[nodiscard]] bool wait_for_room() noexcept;
  void keep_alive() noexcept;
  void post_empty() noexcept;
  void set_ready() noexcept {
    ready_ = true;
    open_ = !failed_;
  }
  void set_failed() noexcept {
    failed_ = true;
    open_ = false;
  }
  /// Whether the last request posted is signalled.
  [[nodiscard]] bool marked() const noexcept { return unsignalled_ == 0; }
  void completed(std::uint32_t number) noexcept { (void)pair_->reap(number); }
  [[nodiscard]] std::uint64_t work_id(std::uint64_t number) const noexcept {
    return std::uint64_t{id_} << 32 | static_cast<std::uint32_t>(number);
  }

  std::unique_ptr<QueuePair> pair_;
  bool open_ = false;   // ready, and not failed
  ibv_send_wr line_{};  // what posts of one line have in common
  ibv_sge line_segment_{};
  std::uint64_t line_there_ = 0;  // offset 0 at the peer
  std::uint64_t peer_block_ = 0;
  std::uint32_t peer_key_ = 0;
  std::uint32_t key_ = 0;
  std::byte* block_;
  std::size_t half_bytes_;
  std::uint32_t inline_bytes_ = 0;
  std::uint32_t unsignalled_ = 0;  // requests since the last signalled one
  std::uint32_t signal_every_ = 1;
  std::uint32_t depth_ = 0;
  std::uint32_t id_ = 0;
  bool ready_ = false;  // the peer takes packets
  bool failed_ = false;
  bool shared_ = false;  // its receives come from the carrier's queue
  ErrorCause cause_ = ErrorCause::none;
  Carrier& carrier_;
  OwnedRegion region_;
  std::uint32_t notes_;
  Rank peer_{};
  void* owner_;
};

}  // namespace viaduct::via::verbs
