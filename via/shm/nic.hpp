#pragma once
/// @file
/// Provider shm's NIC: regions, connections, and the work between polls.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "via/connections.hpp"
#include "via/error_reports.hpp"
#include "via/protection_tags.hpp"
#include "via/shm/settings.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/via/nic.hpp"
#include "viaduct/via/shm/completion_queue.hpp"
#include "viaduct/via/shm/layout.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via {

/// Where a peer may be written and read directly: shm::Nic::remote_place() answers it.
struct RemotePlace {
  std::byte* mapped = nullptr;      // in this process
  std::uint64_t owner_address = 0;  // else: reach it with process_vm_*
  std::uint32_t status = 0;         // non-zero: refused
};

}  // namespace viaduct::via

namespace viaduct::via::shm {

/// Counters of the provider (VIADUCT_STATS=1).
enum Counter : std::uint32_t {
  kDoorbells,     // doorbells rung: messages to a channel that was set aside, or to a sleeper
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

/// The NIC of ranks that share memory. Its heir via::channel::Nic also reaches others.
class Nic : public via::Nic, private Connections::Provider {
 public:
  /// Collective.  Blocks until every rank has made its own.  Throws Error: the window has no room,
  /// or a setting is wrong. @p attention, made by make_attention(), becomes 1 when a control
  /// message comes or a doorbell of the NIC's completion queues rings; several NICs may share one.
  /// Its owner sets it to 0 before it polls all of them. Null: the NIC makes its own.
  explicit Nic(Job& job, AtomicWord<std::uint64_t>* attention = nullptr);
  ~Nic() override;

  /// @return the features and limits of this NIC, which do not change.
  [[nodiscard]] const NicAttributes& attributes() const noexcept override { return attributes_; }
  /// Throws Error beyond 4095 tags at a time.
  [[nodiscard]] ProtectionTag create_tag() override { return tags_.create(); }
  /// Throws Error for a tag that does not exist or is in use.
  void destroy_tag(ProtectionTag tag) override { tags_.destroy(tag); }
  /// Never waits.  Cost: two table entries; for memory outside the window a system call that looks
  /// at its mappings. Throws Error as via::Nic says.
  [[nodiscard]] MemoryRegion register_memory(ProtectionTag tag, std::byte* address,
                                             std::size_t bytes, Rights rights) override;
  /// Order: an operation that a peer begins afterwards is refused; one that has begun goes on.
  void deregister(MemoryHandle handle) noexcept override;
  /// Never waits.  Order: an operation that a peer begins meanwhile is refused, or finds all of the
  /// new attributes.
  [[nodiscard]] bool change_memory(MemoryHandle handle, ProtectionTag tag, Rights rights) override;
  /// Cost: as Segment::allocate().  Throws Error naming the limit.
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  /// Cost: as Segment::release().  Precondition: @p address came from allocate().
  void release(std::byte* address) noexcept override;
  /// Throws Error for a capacity of 0 or beyond 2^24.
  [[nodiscard]] std::unique_ptr<via::CompletionQueue> create_completion_queue(
      std::size_t capacity) override;
  /// Throws Error naming the limit.  Cost: no shared memory before the first connection.
  [[nodiscard]] std::unique_ptr<via::Vi> create_vi(const ViAttributes& attributes) override;
  /// ok or timeout.  Blocks up to @p timeout_ns, and makes progress meanwhile.
  Status listen(std::uint64_t discriminator, ConnectionRequest& out,
                std::int64_t timeout_ns) override;
  /// ok, bad_state, bad_argument or peer_lost.  Never waits.  Throws Error when the window is full.
  Status accept(const ConnectionRequest& request, via::Vi& vi) override;
  /// Never waits: the control message goes when the peer has room for it.
  void reject(const ConnectionRequest& request) override;
  /// Call from the rank's thread.  @p callback runs inside progress(), and may start a VI.
  void on_incoming_peer(IncomingPeer callback) override { incoming_peer_ = std::move(callback); }
  /// Never waits.  The requester's rejection_reason() answers 0.
  void reject_peer(Rank from, std::uint64_t discriminator) override {
    connections_.reject_peer(from, discriminator, 0);
  }
  /// Call from the rank's thread.  @p callback runs inside a poll, a post or progress().
  void on_error(std::function<void(const AsyncError&)> callback) override {
    errors_.set(std::move(callback));
  }
  /// Never blocks.  Call from the rank's thread; another thread at the same time stops the program
  /// with a sentence. Inside progress() it does nothing. Cost: a few loads where nothing is to be
  /// done.
  void progress() noexcept override;

  /// @return the job that the NIC was made in.
  [[nodiscard]] Job& job() noexcept { return job_; }
  /// Makes a word for Nic's constructor.  Cost: a line of the rank's window until the job ends:
  /// peers may ring late.  Throws Error (memory).
  [[nodiscard]] static AtomicWord<std::uint64_t>& make_attention(Job& job);

  /// @return whether peers can reach the memory of this rank at @p address, so that it may be
  /// registered with rights.
  [[nodiscard]] bool is_reachable(const std::byte* address, std::size_t bytes) const noexcept;
  /// Where @p peer may write and read directly, by the peer's own region table: the address in this
  /// process, or null with the status that the descriptor gets. Used by RDMA and by the layer above
  /// for its own transfers.  Cost: one line of the peer's table.
  [[nodiscard]] RemotePlace remote_place(Rank peer, ProtectionTag tag, std::uint64_t address,
                                         MemoryHandle handle, std::size_t bytes,
                                         Rights rights) noexcept;
  /// Copies to a place that was not refused.  Cost: one copy; a system call where the place is not
  /// mapped.  @return false: the kernel refuses, the peer is gone, or its memory is no longer
  /// mapped; cross_error() tells which.
  [[nodiscard]] bool write_place(Rank peer, const RemotePlace& place, const std::byte* from,
                                 std::size_t bytes) noexcept;
  /// Copies from a place that was not refused.  Cost and @return as write_place().
  [[nodiscard]] bool read_place(Rank peer, const RemotePlace& place, std::byte* to,
                                std::size_t bytes) noexcept;

  /// Names the @p bytes at @p at, memory of this rank's, for source_place() at a peer.  @return 0:
  /// no peer reaches them.  Cost: a few instructions.
  [[nodiscard]] std::uint64_t source_of(const std::byte* at, std::size_t bytes) const noexcept;
  /// @return where this rank finds the memory that @p peer's source_of() named @p source; refused
  /// where that is nonsense.  Cost: a few instructions.
  [[nodiscard]] RemotePlace source_place(Rank peer, std::uint64_t source,
                                         std::size_t bytes) noexcept;

  /// @return the region of this rank's that @p handle names; null: there is none.  Cost: two loads.
  [[nodiscard]] RegionEntry* local_region(MemoryHandle handle) noexcept;
  /// @return whether this process may write to the region's memory: its first and last page tell.
  /// Cost: the kernel is asked at the first write, so that a registration costs no system call
  /// more.
  [[nodiscard]] static bool may_write(RegionEntry& entry) noexcept;

  /// @return errno of the last copy into or out of a peer's private memory that failed.
  [[nodiscard]] int cross_error() const noexcept { return cross_error_; }

  /// Calls release() when the peers of all VIs that have been disconnected by now have heard of it:
  /// until then they may use memory whose address the VI's client gave them.  Never waits.
  void release_when_parted(std::byte* address) noexcept;

 protected:
  friend class Connection;
  friend class PollSet;
  friend class Vi;
  friend class CompletionQueue;
  friend void sleep(Job& job, Watched& watched, const Sleep& how) noexcept;

  // Ranks that share no memory with this one: none, for this class.

  /// @return whether @p rank is reached through a transport.
  [[nodiscard]] virtual bool is_remote(Rank /*rank*/) const noexcept { return false; }
  /// Takes in the events of the transport. Handles no message.  Never blocks.
  virtual void poll_remote() noexcept {}
  /// The same, until nothing comes any more.
  virtual void drain_remote() noexcept {}
  /// The transport's part of progress().
  virtual void progress_remote() {}
  /// Takes the memory for the next @p messages calls of post_remote().
  virtual void reserve_remote(std::size_t messages) { (void)messages; }
  virtual void post_remote(Rank /*to*/, const ControlMessage& /*message*/) {}
  [[nodiscard]] virtual bool is_plausible_remote(const ControlMessage& /*message*/) const noexcept {
    return false;
  }
  /// Whether work waits for progress() that no doorbell tells of.
  [[nodiscard]] virtual bool remote_busy() const noexcept { return false; }
  /// Whether events of the transport ring this rank's doorbell while it sleeps.
  [[nodiscard]] virtual bool remote_rings() const noexcept { return true; }
  /// Nothing comes any more from the ranks for which @p gone is true.
  virtual void forget_remote(const std::function<bool(Rank)>& /*gone*/) {}
  /// Before a sleep.  @return whether something has come, so that the rank is not to sleep.
  virtual bool arm_remote() noexcept { return false; }

  /// For destructors: sends for a while the messages that a full mailbox has delayed.
  void finish() noexcept;

  /// While one lives, this rank copies into or out of a peer's memory. In its scope the rank looks
  /// whether it still may (the receive is not handed back, the region is there), and copies then.
  /// The owner takes that back first, and then waits for the copies that are under way
  /// (await_copies()): one of both sees the other.  Cost: a fence.
  class Copying {
   public:
    explicit Copying(Nic& nic) noexcept : copies_(nic.page_->copies) {
      copies_.store(copies_.load(kRelaxed) + 1, kRelaxed);
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    ~Copying() { copies_.store(copies_.load(kRelaxed) + 1, kRelease); }
    Copying(const Copying&) = delete;
    Copying& operator=(const Copying&) = delete;

   private:
    AtomicWord<std::uint64_t>& copies_;
  };
  /// Blocks while @p rank is in a copy that it had begun before the call; at most a second, for a
  /// rank that is stopped or lost in the middle.
  void await_copies(Rank rank) noexcept;
  /// The same for all ranks that know this one.
  void await_all_copies() noexcept;

  struct Peer {
    NicPage* page = nullptr;
    AtomicWord<std::uint64_t>* attention = nullptr;
    MailboxEntry* mailbox_entry = nullptr;  // our entry in its mailbox
    RegionEntry* regions = nullptr;
    std::byte* window = nullptr;
    std::uint32_t max_regions = 0;
    pid_t pid = 0;
  };
  struct Staged {
    std::uint64_t offset;
    EndName end;  // of the VI that has sent the block; when it is no more, nobody takes the block
  };
  struct Retired {  // a block of our window that peers of draining channels may still use
    std::uint64_t offset;
    EndNumber newest;  // of the ends that there were
  };

  Peer& peer(Rank rank);
  Peer* reach(Rank rank);  // null: it was lost before this rank had mapped its window
  void post(Rank to, const ControlMessage& message) override;
  bool deliver(Rank to, const ControlMessage& message);
  static void ring_mailbox(NicPage& page, AtomicWord<std::uint64_t>& attention, Rank from) noexcept;
  void send_outbox();
  class TakenBits;
  void handle_mailbox();
  // connections.cpp
  [[nodiscard]] bool is_plausible(Rank from, const ControlMessage& message) const noexcept;
  void handle(Rank from, std::span<const std::byte> bytes);
  void attach(Connectable& end, const ControlMessage& message) override;
  void refused(Connectable& end, const ControlMessage& message) override;
  void ended(Connectable& end, const ControlMessage& message) override;
  void parted(std::uint64_t half) override;
  void asked() override;
  void look_for_lost_peers();
  [[noreturn]] void stop_second_thread() const noexcept;
  void part_from(const std::function<bool(Rank)>& gone, ErrorCause cause);
  [[nodiscard]] bool has_closed(Rank rank) const noexcept;
  void close() noexcept;
  void sweep_staged() noexcept;
  void release_retired() noexcept;
  [[nodiscard]] bool busy() const noexcept {
    return !outbox_.empty() || !waiting_vis_.empty() || remote_busy() || !remote_rings();
  }
  /// Whether a message to @p to waits until that rank has taken the one before. A VI that connects
  /// is not done before: the peer may wait for that message, and the caller need not come back.
  [[nodiscard]] bool owes(Rank to) const noexcept {
    return std::any_of(outbox_.begin(), outbox_.end(),
                       [to](const auto& entry) { return entry.first == to; });
  }
  [[nodiscard]] bool control_waiting() const noexcept;
  /// Whether no control message waits, and no rank has been lost since the last look.
  [[nodiscard]] bool is_quiet() const noexcept {
    return !control_waiting() && life_epoch_.load(kRelaxed) == job_.life_epoch();
  }
  /// Whether progress() would do nothing.  Call from any thread.  Cost: a few loads.
  [[nodiscard]] bool looks_idle() const noexcept { return !keeps_.load(kRelaxed) && is_quiet(); }
  /// Puts an object that progress() is to look at into @p list.
  template <class List, class Value>
  void keep(List& list, const Value& value) {
    list.push_back(value);
    keeps_.store(true, kRelaxed);
  }
  void add_vi(Vi& vi);
  void remove_vi(Vi& vi) noexcept;
  /// Whether this is called from a callback, within a poll or a wait.
  [[nodiscard]] bool runs_callback() const noexcept {
    return errors_.is_telling() || in_progress_ != std::thread::id();
  }
  void leave(Owned<CompletionQueue>& queue) noexcept;
  void report(const AsyncError& error) noexcept;
  /// Calls the callback for what was reported, which may destroy any VI.
  void tell_errors() noexcept;
  void count(Counter counter) noexcept {
    store_word(counters_[counter], load_word(counters_[counter], kRelaxed) + 1, kRelaxed);
  }
  void wake(Rank rank) noexcept;
  /// progress() until done() or the time is over (negative: never); false on time-out.
  bool progress_until(const std::function<bool()>& done, std::int64_t timeout_ns);
  [[nodiscard]] bool cross_copy(Peer& peer, std::uint64_t remote, std::byte* local,
                                std::size_t bytes, bool write) noexcept;
  void check_attributes(const ViAttributes& attributes) const;

  Job& job_;
  std::string bootstrap_key_;  // under which every rank finds the others' NIC of the same number
  Settings settings_{};
  NicAttributes attributes_;
  NicPage* page_ = nullptr;
  AtomicWord<std::uint64_t>* attention_ = nullptr;
  std::size_t page_offset_ = 0, mailbox_offset_ = 0, regions_offset_ = 0;
  MailboxEntry* mailbox_ = nullptr;
  RegionEntry* regions_ = nullptr;       // for peers, which may write nonsense into it
  std::deque<RegionEntry> own_regions_;  // the same for this side, in private memory
  std::vector<std::uint32_t> free_regions_;
  std::vector<std::uint16_t> region_generation_;
  std::unique_ptr<std::unique_ptr<Peer>[]> peers_;  // by rank; null until it is talked to
  ProtectionTags tags_;
  std::vector<Vi*> vis_;
  Connections connections_;
  bool told_problem_ = false;  // progress() finds it at each call, and tells it once
  std::vector<std::pair<Rank, ControlMessage>> outbox_;
  std::vector<Vi*> waiting_vis_;  // with pending sends
  std::vector<Retired> retired_;
  std::vector<Staged> staged_;  // blocks of our window that a receiver has yet to take
  AtomicWord<std::uint32_t> life_epoch_ = 0;
  AtomicWord<bool> keeps_ = false;  // something in outbox_, waiting_vis_, staged_, or requests
  std::thread::id in_progress_;     // the thread that is in progress()
  bool cross_memory_works_ = true;
  std::uint64_t broken_off_ = 0;  // connections that this side has ended over nonsense
  int cross_error_ = 0;
  IncomingPeer incoming_peer_;
  ErrorReports errors_;
  /// The own queues of VIs that a callback has destroyed: a wait may be in them.
  std::vector<Owned<CompletionQueue>> left_queues_;
  std::array<std::uint64_t, kCounterCount> counters_{};
};

}  // namespace viaduct::via::shm
