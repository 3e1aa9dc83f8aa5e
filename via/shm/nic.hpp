#pragma once
/// @file
/// Provider shm's NIC: regions, connections, and what goes on between polls.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/atomic.hpp"
#include "runtime/job.hpp"
#include "via/carrier.hpp"
#include "via/connection_requests.hpp"
#include "via/nic.hpp"
#include "via/shm/channel.hpp"
#include "via/shm/completion_queue.hpp"
#include "via/shm/settings.hpp"
#include "via/shm/vi.hpp"

namespace viaduct::via::shm {

/// Counters of the provider (VIADUCT_STATS=1).
enum Counter : std::uint32_t {
  kBells,         // doorbells rung: messages to a channel that was set aside, or to a sleeper
  kWakes,         // of those, system calls to wake a sleeper
  kSleeps,        // times this rank blocked in the kernel
  kCappedSleeps,  // of those, at most 1 ms long: no membarrier, or control messages undelivered
  kDelivered,     // larger sends copied straight into the posted receive
  kCrossMemory,   // transfers with process_vm_writev or process_vm_readv
  kStaged,        // larger sends through a block of the sender's window
  kRdma,          // RDMA and atomic operations
  kConnections,
  kCounterCount,
};

/// What goes with a letter to a rank that shares no memory with the writer: the end of the wire,
/// and the beginning of the extra bytes of the writer's channel.
struct RemotePart {
  Wire::Name wire{};
  std::byte extra[128] = {};
};

/// Where a peer may be written and read directly: Nic::remote_place() answers it.
struct RemotePlace {
  std::byte* mapped = nullptr;      // in this process
  std::uint64_t owner_address = 0;  // else: reach it with process_vm_*
  std::uint32_t status = 0;         // non-zero: refused
};

class Nic final : public via::Nic {
 public:
  explicit Nic(Job& job);
  ~Nic() override;

  [[nodiscard]] const NicAttributes& attributes() const noexcept override { return attributes_; }
  [[nodiscard]] ProtectionTag create_tag() override;
  void destroy_tag(ProtectionTag tag) override;
  [[nodiscard]] MemoryRegion register_memory(ProtectionTag tag, std::byte* address,
                                             std::size_t bytes, Rights rights) override;
  void deregister(MemoryHandle handle) noexcept override;
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* address) noexcept override;
  [[nodiscard]] std::unique_ptr<via::CompletionQueue> create_completion_queue(
      std::size_t capacity) override;
  [[nodiscard]] std::unique_ptr<via::Vi> create_vi(const ViAttributes& attributes) override;
  /// A VI with inline receives (vi.hpp).
  [[nodiscard]] std::unique_ptr<Vi> create_inline_vi(const ViAttributes& attributes,
                                                     const InlineOptions& options);
  Status listen(std::uint64_t discriminator, ConnectionRequest& out,
                std::int64_t timeout_ns) override;
  Status accept(const ConnectionRequest& request, via::Vi& vi) override;
  void reject(const ConnectionRequest& request) override;
  void on_incoming_peer(IncomingPeer callback) override { incoming_peer_ = std::move(callback); }
  void reject_peer(Rank from, std::uint64_t discriminator) override {
    reject_peer(from, discriminator, 0);
  }
  /// The same with a reason, which the requester's rejection_reason() answers.
  void reject_peer(Rank from, std::uint64_t discriminator, std::uint64_t reason);
  /// The same when nothing gets through between the two, though the peer may take itself for
  /// connected.
  void reject_unreachable(Rank from, std::uint64_t discriminator, std::uint64_t reason);
  /// The extra bytes (vi.hpp) that come with the unmatched peer request of an inline VI of @p from;
  /// null: there is none.
  [[nodiscard]] std::byte* incoming_extra(Rank from, std::uint64_t discriminator);
  void on_error(std::function<void(const AsyncError&)> callback) override {
    on_error_ = std::move(callback);
  }
  void progress() noexcept override;

  /// From now on inline VIs to the ranks that @p remote says true of go by @p carrier. Before the
  /// first connection, in every rank.
  void carry(std::unique_ptr<Carrier> carrier, const std::function<bool(Rank)>& remote);
  [[nodiscard]] bool is_remote(Rank rank) const noexcept {
    return !remote_.empty() && remote_[index(rank)];
  }
  /// For who must take no message off a ring now: posts what was held back, and goes on with
  /// connections.
  void carry_on() noexcept {
    progress();
    if (carrier_ != nullptr) poll_carrier();
  }
  /// Takes from the carrier what it has brought, so that its receives go back. Handles no message.
  void take_carried() noexcept {
    if (carrier_ != nullptr) poll_carrier();
  }
  /// The carrier, or null.
  [[nodiscard]] Carrier* carrier() noexcept { return carrier_.get(); }

  [[nodiscard]] Job& job() noexcept { return job_; }
  /// 8 bytes, not zero when a control message waits for progress(), or a bell has rung since
  /// hush_bells().
  [[nodiscard]] const std::uint64_t* attention() const noexcept {
    return reinterpret_cast<const std::uint64_t*>(&page_->mail_waiting);
  }
  /// To be called before the poll that answers the bells.
  void hush_bells() noexcept {
    if (page_->bells.load(kRelaxed) != 0) page_->bells.store(0);
  }

  /// Where @p peer may write and read directly, by the peer's own region table: the address in this
  /// process, or null with the status that the descriptor gets. Used by RDMA and by the layer above
  /// for its own transfers.
  [[nodiscard]] RemotePlace remote_place(Rank peer, ProtectionTag tag, std::uint64_t address,
                                         MemoryHandle handle, std::size_t bytes,
                                         Rights rights) noexcept;
  /// Copies to or from a place that was not refused. False: the kernel refuses, the peer is gone,
  /// or its memory is no longer mapped; cross_error() tells which.
  [[nodiscard]] bool write_place(Rank peer, const RemotePlace& place, const std::byte* from,
                                 std::size_t bytes) noexcept;
  [[nodiscard]] bool read_place(Rank peer, const RemotePlace& place, std::byte* to,
                                std::size_t bytes) noexcept;

  /// errno of the last copy into or out of a peer's private memory that failed.
  [[nodiscard]] int cross_error() const noexcept { return cross_error_; }

  /// release() when the peers of all VIs that have been disconnected by now have heard of it: until
  /// then they may use what the VI's client gave them the address of.
  void release_when_parted(std::byte* address) noexcept;

 private:
  friend class Vi;
  friend class CompletionQueue;

  struct Peer {
    NicPage* page = nullptr;
    Mail* mail = nullptr;  // our entry in its mail box
    RegionEntry* regions = nullptr;
    std::byte* window = nullptr;
    std::uint32_t max_regions = 0;
    pid_t pid = 0;
  };
  using Requests = ConnectionRequests<Letter, std::shared_ptr<RemotePart>>;
  using Unmatched = Requests::Entry;
  struct Zombie {  // a channel of ours that the peer may still read
    Rank peer;
    std::uint32_t vi;
    std::uint64_t offset;
    std::uint64_t number;  // ascending
  };
  struct Retired {  // a block of our window that peers of zombies may still use
    std::uint64_t offset;
    std::uint64_t number;  // of the last of those zombies
  };

  Peer& peer(Rank rank);
  Peer* reach(Rank rank);  // null: it was lost before this rank had mapped its window
  void post_mail(Rank to, const Letter& letter, const RemotePart* part = nullptr);
  bool deliver(Rank to, const Letter& letter);
  static void ring_mail(NicPage& page, Rank from) noexcept;
  void send_outbox();
  void handle_mail();
  void handle(Rank from, const Letter& letter, const RemotePart* part = nullptr);
  void handle_request(Rank from, const Letter& letter, const RemotePart* part);
  void handle_answer(Rank from, const Letter& letter, const RemotePart* part);
  void handle_final(Rank from, const Letter& letter);
  void acknowledge(Rank to, const Letter& letter);
  void refuse(Rank to, const Letter& request, ConnectResult why, std::uint64_t reason);
  void look_for_lost_peers();
  [[noreturn]] void stop_second_thread() const noexcept;
  void part_from(const std::function<bool(Rank)>& gone, ErrorCause cause);
  [[nodiscard]] bool has_closed(Rank rank) const noexcept;
  void close() noexcept;
  void sweep_staged() noexcept;
  void release_retired() noexcept;
  [[nodiscard]] bool busy() const noexcept {
    return !outbox_.empty() || !waiting_vis_.empty() || carrier_busy() || connects();
  }
  // wired.cpp
  [[nodiscard]] bool carrier_busy() const noexcept;
  [[nodiscard]] bool connects() const noexcept;
  void nudge();
  void take_letters();
  void poll_carrier() noexcept;
  void drain_carrier() noexcept;
  bool arm_carrier() noexcept;
  void look_for_closed_peers();
  void part_with(Rank peer, std::uint32_t vi);
  void hold_back(Vi& vi) noexcept;
  [[nodiscard]] bool mail_waiting() const noexcept;
  [[nodiscard]] Vi* find_vi(std::uint32_t id) noexcept;
  std::uint32_t add_vi(Vi& vi);
  void renumber_vi(Vi& vi);
  void remove_vi(Vi& vi) noexcept;
  void report(const AsyncError& error) noexcept;
  void count(Counter counter) noexcept { ++counters_[counter]; }
  void wake(Rank rank) noexcept;
  /// Sleeps until a control message comes, a rank is lost, or the time is over; returns early when
  /// there is one.
  void idle(std::int64_t timeout_ns) noexcept;
  /// progress() until done() or the time is over (negative: never); false on time-out.
  bool progress_until(const std::function<bool()>& done, std::int64_t timeout_ns);
  [[nodiscard]] bool cross_copy(Peer& peer, std::uint64_t remote, std::byte* local,
                                std::size_t bytes, bool write) noexcept;
  [[nodiscard]] RegionEntry* local_region(MemoryHandle handle) noexcept;
  void check_attributes(const ViAttributes& attributes) const;

  Job& job_;
  std::string bootstrap_key_;  // under which every rank finds the others' NIC of the same number
  Settings settings_{};
  NicAttributes attributes_;
  NicPage* page_ = nullptr;
  std::size_t page_offset_ = 0, mail_offset_ = 0, regions_offset_ = 0;
  Mail* mailbox_ = nullptr;
  RegionEntry* regions_ = nullptr;       // for peers, who may write nonsense into it
  std::deque<RegionEntry> own_regions_;  // the same in private memory: this side believes it alone
  std::vector<std::uint32_t> free_regions_;
  std::vector<std::uint16_t> region_generation_;
  std::unique_ptr<std::unique_ptr<Peer>[]> peers_;         // by rank; null until it is talked to
  std::unordered_map<std::uint32_t, std::uint32_t> tags_;  // tag -> uses
  std::uint32_t next_tag_ = 0;
  std::vector<Vi*> vis_;  // by id & kIdMask
  std::vector<std::uint32_t> free_vis_;
  std::uint32_t vi_generation_ = 0;
  Requests unmatched_;  // requests nobody here has answered
  std::vector<std::pair<Rank, Letter>> outbox_;
  std::vector<Vi*> waiting_vis_;  // with pending sends
  std::vector<Zombie> zombies_;
  std::uint64_t zombies_made_ = 0;
  std::vector<Retired> retired_;
  std::vector<std::uint64_t> staged_;  // blocks of our window that a receiver has yet to take
  std::uint32_t life_epoch_ = 0;
  std::thread::id in_progress_;  // the thread that is in progress()
  bool cross_memory_works_ = true;
  std::uint64_t broken_off_ = 0;  // connections that this side has ended over nonsense
  int cross_error_ = 0;
  IncomingPeer incoming_peer_;
  std::function<void(const AsyncError&)> on_error_;
  std::array<std::uint64_t, kCounterCount> counters_{};
  std::unique_ptr<Carrier> carrier_;
  std::vector<bool> remote_;
  std::vector<Vi*> wired_vis_;
  std::vector<Vi*> held_back_;  // wired VIs with something that could not be posted
  std::uint64_t carried_ = 0;   // events and letters that the carrier has brought
  std::uint64_t looked_for_closed_ns_ = 0;
  std::uint64_t looks_ = 0;  // for letters

  static constexpr std::uint32_t kIdMask = 0xffff;
};

}  // namespace viaduct::via::shm
