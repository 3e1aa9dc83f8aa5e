#pragma once
/// @file
/// Links of provider verbs (via/transport.hpp): one reliable connection each.
///
/// Posts are chains of RDMA writes, of which the last has its notification as immediate value and
/// consumes a receive without buffer at the peer. One request in signal_every_ is signalled; what
/// is posted and not known to have completed never exceeds the send queue (QueuePair counts).

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "via/verbs/src/bulk_memory.hpp"
#include "via/verbs/src/queue_pair.hpp"
#include "viaduct/via/transport.hpp"

namespace viaduct::via::verbs {

class RdmaTransport;

class RdmaLink final : public via::Link {
 public:
  RdmaLink(RdmaTransport& transport, std::byte* block, std::size_t half_bytes,
           std::uint32_t notifications, void* owner);
  ~RdmaLink() override;

  [[nodiscard]] Name name() const noexcept override;
  void connect(Rank peer, const Name& theirs) override;
  [[nodiscard]] bool post(std::span<const Piece> pieces, std::uint32_t notification,
                          bool tell) noexcept override;
  [[nodiscard]] bool post_line(std::uint32_t offset, std::uint32_t notification) noexcept override;
  [[nodiscard]] bool post_back(Piece piece, std::uint32_t notification,
                               bool tell) noexcept override;
  [[nodiscard]] bool ready() const noexcept override { return ready_; }
  [[nodiscard]] bool write(const std::byte* from, std::size_t bytes, std::uint64_t to,
                           std::uint32_t key) noexcept override;
  [[nodiscard]] bool read(std::byte* to, std::size_t bytes, std::uint64_t from,
                          std::uint32_t key) noexcept override;
  [[nodiscard]] Transfer put(const std::byte* from, std::size_t bytes, std::uint64_t to,
                             std::uint32_t key, Source source) noexcept override;
  [[nodiscard]] Transfer get(std::byte* to, std::size_t bytes, std::uint64_t from,
                             std::uint32_t key) noexcept override;
  [[nodiscard]] bool is_sent(Transfer transfer) noexcept override;
  [[nodiscard]] bool is_done(Transfer transfer) noexcept override;
  [[nodiscard]] bool drained() noexcept override;
  void fail() noexcept override;
  [[nodiscard]] bool failed() const noexcept override { return failed_; }

 private:
  friend class RdmaTransport;

  /// In a control message, as bytes.
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
                                                              std::uint32_t notification) noexcept;
  void send(ibv_send_wr& chain, ibv_send_wr& last, std::uint32_t count) noexcept;
  // rdma_link_transfers.cpp
  [[nodiscard]] bool may_begin(std::size_t bytes) noexcept;
  [[nodiscard]] std::byte* stage_for(std::size_t bytes) noexcept;
  [[nodiscard]] Transfer transfer(std::byte* own, std::size_t bytes, std::uint64_t there,
                                  std::uint32_t key, bool out, BulkMemory::Place&& place) noexcept;
  [[nodiscard]] bool post_transfer(const ibv_sge& own, unsigned flags, std::uint64_t there,
                                   std::uint32_t key, bool out) noexcept;
  void finish_transfers(bool well) noexcept;
  void end_transfer() noexcept;
  void finish_puts() noexcept;
  template <typename Done>
  [[nodiscard]] bool reap_until(Done done) noexcept;
  [[nodiscard]] bool copy(std::byte* own, std::size_t bytes, std::uint64_t there, std::uint32_t key,
                          bool out) noexcept;
  /// A transfer under way.
  struct Record {
    std::uint64_t last_post = 0;  // number of its last request
    std::byte* own = nullptr;     // where the bytes of a staged get go
    std::byte* stage = nullptr;
    RegistrationCache::Pin pin;
    std::uint32_t bytes = 0;
    std::uint32_t requests = 0;
    bool reads = false;
  };
  [[nodiscard]] Transfer begin(Record&& record, const ibv_sge& own, unsigned flags,
                               std::uint64_t there, std::uint32_t key) noexcept;
  static constexpr std::uint64_t kMostTransfers = 16;
  [[nodiscard]] Record& record_of(Transfer transfer) noexcept {
    return transfers_[transfer % kMostTransfers];
  }

  void keep_alive() noexcept;
  void post_empty() noexcept;
  void set_ready() noexcept {
    ready_ = true;
    closed_ = failed_;
  }
  void set_failed() noexcept {
    failed_ = true;
    closed_ = true;
  }
  /// Whether the last request posted is signalled.
  [[nodiscard]] bool marked() const noexcept { return until_signal_ == signal_every_; }
  /// @p well: else the device tells of an error, and all that follows it fails, too. Of a link that
  /// has failed nothing more comes into the program's memory.
  void completed(std::uint32_t number, bool well) noexcept {
    (void)pair_->reap(number);
    if (begun_ != done_) finish_transfers(well && !failed_);
  }
  [[nodiscard]] std::uint64_t work_id(std::uint64_t number) const noexcept {
    return id_high_ | static_cast<std::uint32_t>(number);
  }

  std::unique_ptr<QueuePair> pair_;
  bool closed_ = true;  // not ready, or failed
  ibv_send_wr line_{};  // the common part of posts of one line
  ibv_sge line_segment_{};
  std::uint64_t line_there_ = 0;  // offset 0 at the peer
  std::uint64_t peer_block_ = 0;
  std::uint32_t peer_key_ = 0;
  std::uint32_t key_ = 0;
  std::byte* block_;
  std::size_t half_bytes_;
  std::uint32_t inline_bytes_ = 0;
  std::uint32_t until_signal_ = 1;  // requests, the signalled one included
  std::uint32_t signal_every_ = 1;
  std::uint32_t depth_ = 0;
  std::uint64_t id_high_ = 0;  // upper half of the work requests' names: see RdmaTransport::by_id_
  bool ready_ = false;         // the peer takes packets
  bool failed_ = false;
  bool shared_ = false;  // its receives come from the transport's queue
  ErrorCause cause_ = ErrorCause::none;
  RdmaTransport& transport_;
  OwnedRegion region_;
  std::uint32_t notifications_;
  Rank peer_{};
  void* owner_;
  // Transfers: those up to done_ have completed, those up to settled_ have taken effect.
  std::uint64_t begun_ = 0, done_ = 0, settled_ = 0;
  std::uint64_t last_read_ = 0;  // the last one that reads
  std::size_t bytes_under_way_ = 0;
  std::uint32_t requests_under_way_ = 0;
  std::uint32_t put_key_ = 0;  // of the last put
  std::uint32_t put_bytes_ = 0;
  std::uint64_t put_there_ = 0;
  std::array<Record, kMostTransfers> transfers_;
};

}  // namespace viaduct::via::verbs
