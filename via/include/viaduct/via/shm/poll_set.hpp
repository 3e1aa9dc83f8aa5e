#pragma once
/// @file
/// The connections that one thread polls together: the common part of a completion queue of
/// provider shm and a group of channels. poll_set.cpp.
///
/// The set looks at the rings of the connections that talk (at most kMostHot of them, at every
/// poll) and at one doorbell line, in which the senders of all others set a bit: polling is O(1) in
/// the number of peers.
///
/// A ring is set aside by raising its notify word without a fence. A sender may miss that once; so
/// every kHousekeeping polls one of the rings set aside is looked at, and all of them before
/// blocking (after an expedited membarrier, which orders the sender's message before its look at
/// the notify word).

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/via/shm/connection.hpp"
#include "viaduct/via/shm/sleep.hpp"

namespace viaduct {
class Job;
}

namespace viaduct::via::shm {

class PollSet {
 public:
  PollSet(const PollSet&) = delete;
  PollSet& operator=(const PollSet&) = delete;

  /// For an owner that polls seldom, because it waits elsewhere: the next poll handles control
  /// messages that have come.  Never waits.
  void look_fully() noexcept;
  /// Whether a sender may write a message without ringing a doorbell.
  [[nodiscard]] bool has_hot() const noexcept { return hot_count_ != 0; }
  /// From now on every sender rings, and has all the room that there is. A message that a sender
  /// wrote at the same moment may ring nothing: ring_for_missed(), a while later, makes up for it.
  /// Never waits.
  void set_all_aside() noexcept;
  /// Rings this set's own doorbell for messages that have come to connections that are aside.
  void ring_for_missed() noexcept;
  /// @return whether a poll would find a message, or is to look further. Takes nothing.  Cost: one
  /// load for each connection that talks and one for all others.
  [[nodiscard, gnu::always_inline]] bool looks_busy() const noexcept {
    for (std::uint32_t i = 0; i < hot_count_; ++i)
      if (hot_[i]->is_full(hot_[i]->next_slot().header.load(kAcquire))) return true;
    return doorbell_->summary.load(kRelaxed) != 0;
  }
  /// Whether a poll would find something. Takes nothing.  Cost: one load for each connection.
  [[nodiscard]] virtual bool anything_there() noexcept;

 protected:
  friend class Connection;
  friend void sleep(Job& job, Watched& watched, const Sleep& how) noexcept;

  static constexpr std::uint32_t kMostHot = 8;
  static constexpr std::uint64_t kHousekeeping = 64;  // polls
  // Polls without a message after which a hot connection may be set aside.
  static constexpr std::uint64_t kQuiet = 256;

  /// Throws Error: the window has no room for the doorbell.
  explicit PollSet(Nic& nic);
  virtual ~PollSet();

  /// Whether a poll has more to do than to look at hot rings. @p tick: its number.  Cost: one load.
  [[nodiscard]] bool has_more_to_do(std::uint64_t tick) const noexcept {
    return doorbell_->summary.load(kRelaxed) != 0 || tick % kHousekeeping == 0;
  }
  /// The same of the poll that is under way.  Cost: one load; tick_ is looked at where it lies.
  [[nodiscard]] bool has_more_to_do() const noexcept {
    return doorbell_->summary.load(kRelaxed) != 0 || tick_ % kHousekeeping == 0;
  }
  /// At each 64th turn of an owner that may look at this set alone: whether a poll would do more
  /// than look at hot rings. Looks at one connection that is aside.
  [[nodiscard, gnu::noinline]] bool wants_housekeeping() noexcept;
  // Doorbell bits and one connection that is aside into ready_; every so often the NIC's progress.
  void collect_ready() noexcept;
  /// A remote channel is listed when its slots arrive, others when their doorbell rings: each once.
  void list_ready(Connection& connection) noexcept {
    if (connection.in_set_.listed) return;
    connection.in_set_.listed = true;
    ready_.push_back(&connection);  // there is room for all
  }
  void unlist(Connection& connection) noexcept;
  [[nodiscard]] Connection& next_ready() noexcept {
    Connection& next = *ready_.back();
    ready_.pop_back();
    next.in_set_.listed = false;
    return next;
  }
  /// The next poll goes on with those that are ready.
  void leave_ready() noexcept {
    while (!ready_.empty()) ring_self(next_ready().in_set_.bit);
  }
  /// Makes a connection hot, if there is a place, after its messages were taken.
  void make_hot(Connection& connection) noexcept;
  void set_aside(Connection& connection) noexcept;
  /// Gives it a doorbell bit.  Throws Error.
  void watch(Connection& connection);
  void unwatch(Connection& connection) noexcept;
  [[gnu::cold]] void ring_self(std::uint32_t bit) noexcept;
  /// Whether a connection has ended over nonsense that its peer has written.
  [[nodiscard]] bool look_for_nonsense() noexcept;
  [[nodiscard]] bool has_arrivals() const noexcept;

 private:
  [[gnu::noinline]] void take_doorbells() noexcept;
  [[gnu::noinline]] void keep_house() noexcept;
  /// Now and then, between two messages.
  virtual void keep_own_house() noexcept {}

 protected:
  // Hot.
  std::uint32_t hot_count_ = 0;
  std::array<Connection*, kMostHot> hot_{};
  CqDoorbell* doorbell_ = nullptr;
  std::uint64_t tick_ = 0;
  std::uint32_t turn_ = 0;  // less than hot_count_, or 0
  // Cool.
  std::vector<Connection*> ready_;
  Nic& nic_;
  // The number of sleeping threads; while there are any, all connections stay aside. A thread that
  // sleeps holds no lock of the set's.
  AtomicWord<std::uint32_t> sleepers_ = 0;

 private:
  std::vector<Connection*> members_;  // by doorbell bit; null: free
  std::size_t next_scan_ = 0;
  std::size_t doorbell_offset_ = 0;
};

}  // namespace viaduct::via::shm
