#pragma once
/// @file
/// Provider fault: a NIC, its VIs and its completion queues around those of another provider.
/// docs/fault-provider.md has the settings and the states of an entry.
///
/// One thread uses a NIC and all that was made on it, as with every provider.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "via/error_reports.hpp"
#include "via/fault/src/plan.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::via::fault {

class Nic;
class Vi;

class CompletionQueue final : public via::CompletionQueue {
 public:
  CompletionQueue(Nic& nic, std::unique_ptr<via::CompletionQueue> inner, std::size_t capacity);
  ~CompletionQueue() override;

  Status poll(Completion& out) noexcept override;
  Status wait(Completion& out, std::int64_t timeout_ns) noexcept override;
  Status notify(std::function<void()> ready) override;
  void resize(std::size_t capacity) override;
  [[nodiscard]] std::size_t capacity() const noexcept override { return capacity_; }

  [[nodiscard]] via::CompletionQueue& inner() noexcept { return *inner_; }
  void add(const Completion& completion);
  /// Takes all completions of the queue underneath, and gives them to their VIs. Does nothing while
  /// that queue is armed.
  void reap() noexcept;
  /// Throws Error unless queues that may hold @p depth descriptors still fit this one.
  void require_room(std::size_t depth) const;
  /// Such queues are attached from now on, or no more.
  void promise(std::size_t depth) noexcept { promised_ += depth; }
  void release(std::size_t depth) noexcept { promised_ -= depth; }
  /// Gives the notice although nothing can be taken yet: a poll moves a failure on.
  void tell_of_failure() {
    if (is_armed()) tell_by_thread(true);
  }
  /// @return whether the program waits for a notice, and so does not poll.
  [[nodiscard]] bool is_armed() const noexcept { return notice_.load() == Notice::armed; }
  /// Drops the completions of @p vi, which is about to end, from the queue.
  void forget(const Vi& vi);

 private:
  /// The caller of the program's function takes it out of ready_ first: the function may arm again.
  enum class Notice : std::uint8_t { none, armed, taken };

  Status take_decided(Completion& out) noexcept;
  Status arm();
  void tell() noexcept;
  void tell_by_thread(bool slowly);

  Nic& nic_;
  std::unique_ptr<via::CompletionQueue> inner_;
  std::size_t capacity_;
  std::size_t promised_ = 0;        // descriptors that the attached queues may hold
  std::deque<Completion> decided_;  // may be handed out; those underneath came later
  std::function<void()> ready_;
  std::atomic<Notice> notice_{Notice::none};
  std::atomic<bool> inner_armed_{false};
  // Tells of the completions in decided_, which the provider underneath does not know of.
  std::thread teller_;
  bool again_ = false;   // of the teller's own thread
  bool slowly_ = false;  // the notice tells of nothing that can be taken: the program asks again
};

/// The descriptors of one work queue that have been posted and not completed, in that order.
class WorkQueue {
 public:
  struct Entry {
    enum class State : std::uint8_t { late, posted, decided };
    Descriptor* descriptor = nullptr;
    State state = State::posted;
    /// The descriptor's, once it is at the front; 0: the provider underneath writes it. An entry
    /// that is late and has one does not leave: it is decided in its turn.
    std::uint32_t status = 0;
    double leaves_at = 0;  ///< late: in ticks
    bool fails = false;    ///< late: ends the connection in its turn
    bool twice = false;    ///< a copy has still to leave, before it
  };

  std::deque<Entry> entries;
  std::uint32_t unreaped = 0;           ///< posted and not yet handed to the program
  std::deque<Descriptor*> completed{};  ///< without a completion queue: to be reaped
};

class Vi final : public via::Vi {
 public:
  Vi(Nic& nic, const ViAttributes& attributes);
  ~Vi() override;

  Status post_send(Descriptor& descriptor) noexcept override;
  Status post_receive(Descriptor& descriptor) noexcept override;
  ConnectResult connect(Rank peer, std::uint64_t discriminator, std::int64_t timeout_ns) override;
  Status connect_peer_start(Rank peer, std::uint64_t discriminator) override;
  Status connect_peer_done() noexcept override;
  ConnectResult connect_peer_wait(std::int64_t timeout_ns) override;
  void disconnect() noexcept override;
  [[nodiscard]] ViState state() const noexcept override;
  [[nodiscard]] Rank peer() const noexcept override { return inner_->peer(); }
  [[nodiscard]] const ViAttributes& attributes() const noexcept override { return attributes_; }

  [[nodiscard]] via::Vi& inner() noexcept { return *inner_; }
  [[nodiscard]] bool broken() const noexcept { return broken_; }
  /// Lets those sends leave whose time has come; with @p all, every one that does not fail.
  void move_line(bool all) noexcept;
  /// When the next send leaves, in ticks; 0: none waits for a time.
  [[nodiscard]] double next_departure() const noexcept;
  /// @return whether a failure waits until the sends before it have completed underneath.
  [[nodiscard]] bool failure_waits() const noexcept;
  /// The provider underneath has completed @p descriptor.
  void completed_below(Descriptor& descriptor, Queue queue) noexcept;
  /// A completion of this VI is about to be handed to the program.
  void reaped(Descriptor& descriptor, Queue queue) noexcept;

 private:
  using Entry = WorkQueue::Entry;
  [[nodiscard]] WorkQueue& work(Queue queue) noexcept {
    return queue == Queue::send ? sends_ : receives_;
  }
  /// Whether a send is late. Those that are late stand behind all others.
  [[nodiscard]] bool has_line() const noexcept {
    return !sends_.entries.empty() && sends_.entries.back().state == Entry::State::late;
  }
  [[nodiscard]] const Entry& first_late() const noexcept;  // there is one
  void choose_fate(Entry& entry, ViState now) noexcept;
  Status leave_or_queue(Entry& entry) noexcept;
  Status leave(Entry& entry) noexcept;
  bool send_copy(const Descriptor& descriptor) noexcept;
  void let_leave(bool all) noexcept;
  void let_fail() noexcept;
  void reap_sends() noexcept;
  void fail_front() noexcept;
  void flush_late() noexcept;
  void hand_out_front(Queue queue) noexcept;
  void corrupt(Descriptor& descriptor) noexcept;
  void end_connection() noexcept;
  Status take(Queue queue, Descriptor*& out) noexcept;
  Status done(Queue queue, Descriptor*& out) noexcept override;
  Status wait(Queue queue, Descriptor*& out, std::int64_t timeout_ns) noexcept override;

  Nic& nic_;
  ViAttributes attributes_;
  std::unique_ptr<via::Vi> inner_;
  WorkQueue sends_, receives_;
  std::deque<std::unique_ptr<DescriptorWith<kMaxSegments + 2>>> copies_;  // posted underneath
  bool broken_ = false;  // by a failure of ours: in the error state until disconnect()
  bool moving_ = false;  // inside move_line(), from which the provider underneath may call back
};

class Nic final : public via::Nic {
 public:
  Nic(Job& job, std::unique_ptr<via::Nic> inner, std::string_view name, Plan plan);

  [[nodiscard]] const NicAttributes& attributes() const noexcept override { return attributes_; }
  [[nodiscard]] ProtectionTag create_tag() override { return inner_->create_tag(); }
  void destroy_tag(ProtectionTag tag) override { inner_->destroy_tag(tag); }
  [[nodiscard]] MemoryRegion register_memory(ProtectionTag tag, std::byte* address,
                                             std::size_t bytes, Rights rights) override;
  void deregister(MemoryHandle handle) noexcept override { inner_->deregister(handle); }
  [[nodiscard]] bool change_memory(MemoryHandle handle, ProtectionTag tag, Rights rights) override {
    return inner_->change_memory(handle, tag, rights);
  }
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override { return inner_->allocate(bytes); }
  void release(std::byte* address) noexcept override { inner_->release(address); }
  [[nodiscard]] std::unique_ptr<via::CompletionQueue> create_completion_queue(
      std::size_t capacity) override;
  [[nodiscard]] std::unique_ptr<via::Vi> create_vi(const ViAttributes& attributes) override;
  Status listen(std::uint64_t discriminator, ConnectionRequest& out,
                std::int64_t timeout_ns) override;
  Status accept(const ConnectionRequest& request, via::Vi& vi) override;
  void reject(const ConnectionRequest& request) override {
    inner_->reject(request);
    tell_errors();
  }
  void on_incoming_peer(IncomingPeer callback) override {
    inner_->on_incoming_peer(std::move(callback));
  }
  void reject_peer(Rank from, std::uint64_t discriminator) override {
    inner_->reject_peer(from, discriminator);
    tell_errors();
  }
  void on_error(std::function<void(const AsyncError&)> callback) override;
  void progress() noexcept override;

  [[nodiscard]] via::Nic& inner() noexcept { return *inner_; }
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] Dice& dice() noexcept { return dice_; }
  /// @return whether descriptors may be posted twice, so that the queues underneath need the room.
  [[nodiscard]] bool doubles() const noexcept { return plan_.chance_of(Kind::duplicate) != 0; }

  /// When a message of @p bytes that is posted now leaves, in ticks.
  [[nodiscard]] double departure(std::uint32_t bytes, bool both_ways) noexcept;
  /// Lets those descriptors leave whose time has come; with @p all, every one.
  void move_lines(bool all = false) noexcept;
  /// Throws Error unless the work queue @p which, of @p depth descriptors, is within the limits.
  void check_depth(const char* which, std::uint32_t depth) const;
  /// The same for the capacity of a completion queue.
  void check_capacity(std::size_t capacity) const;
  /// When a failure that waits is looked at again, in ticks.
  [[nodiscard]] double soon() const noexcept;
  /// How long a wait may block: @p timeout_ns, or less when a descriptor leaves before.
  [[nodiscard]] std::int64_t wait_at_most(std::int64_t timeout_ns) const noexcept;
  /// Keeps the processor busy for @p ns, as an overhead does.
  void be_busy(double ns) const noexcept;
  /// Keeps @p error for tell_errors(); logs it when the program has no callback.
  void report(const AsyncError& error) noexcept;
  /// Calls the program's callback for the errors that have been reported. Every public call ends
  /// with it: the callback may make and destroy VIs, also the one that the call is about.
  void tell_errors() noexcept;
  [[nodiscard]] bool has_errors() const noexcept { return errors_.any(); }

  void add(Vi& vi) { vis_.push_back(&vi); }
  void remove(Vi& vi) noexcept;
  [[nodiscard]] bool has(const Vi& vi) const noexcept;
  [[nodiscard]] bool failure_waits() const noexcept;
  /// A failure waits: tells those who wait for a notice and do not poll.
  void tell_armed_queues();
  [[nodiscard]] bool any_queue_armed() const noexcept;
  void add(CompletionQueue& queue) { queues_.push_back(&queue); }
  void remove(CompletionQueue& queue) noexcept;

 private:
  Job& job_;
  std::unique_ptr<via::Nic> inner_;
  Plan plan_;
  Dice dice_;
  NicAttributes attributes_;
  double ticks_per_ns_;
  double free_at_ = 0;  // when the next message may start to leave, in ticks
  std::vector<Vi*> vis_;
  std::vector<CompletionQueue*> queues_;
  ErrorReports errors_;
};

}  // namespace viaduct::via::fault
