#pragma once
// The slots through which the processes of a collective call exchange values, and the check that
// all processes make the same call.
//
// Collective calls are numbered. In each round of a call a process receives at most one slot, and
// both sides know the sender. Call s uses the set of slots with the number s mod kSets. So a slot
// of call s is written again in call s + kSets, and must have been read by then. The read is
// certain, because among any kSets - 1 consecutive calls there is one that synchronises: no process
// ends that call before all have begun it. Where a program makes no such call in time, the
// CollectiveEngine inserts a barrier.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/job_page.hpp"
#include "viaduct/runtime/types.hpp"
#include "viaduct/runtime/way_trial.hpp"
#include "viaduct/splitc/detail/collective_call.hpp"
#include "viaduct/splitc/detail/hot.hpp"

namespace viaduct {
class Job;
}

namespace viaduct::splitc::detail {

inline constexpr std::uint32_t kSlotWords = 7;
inline constexpr std::size_t kSlotBytes = kSlotWords * 8;

/// A slot lies in the window of the process that reads it. A value that does not fit the slot lies
/// in a sender's window: then word 0 is the value's place there, and word 1 the number of that
/// process.
struct alignas(kDestructivePairBytes) CollectiveSlot {
  std::uint64_t words[kSlotWords];
  AtomicWord<std::uint64_t> mark;  // written last
};
static_assert(sizeof(CollectiveSlot) == 128);

/// The record of a call, for processes that find that they have made another call.
struct CallRecord {
  AtomicWord<std::uint64_t> mark;  // written last
  AtomicWord<std::uint64_t> what;  // kind, operator, element, root
  AtomicWord<std::uint64_t> element_bytes;
  AtomicWord<std::uint64_t> count;
  AtomicWord<const char*> place_what;  // place of the call in the source
  AtomicWord<const char*> file;
  AtomicWord<int> line;
};

/// The same as a message: a process that waits sends its call to a process that cannot read its
/// records.
struct AwaitedCall {
  std::uint64_t mark;
  std::uint64_t what;
  std::uint64_t element_bytes;
  std::uint64_t count;
  std::uint64_t place_what;
  std::uint64_t file;
  std::uint64_t line;
};
static_assert(sizeof(AwaitedCall) == kSlotBytes);

inline constexpr std::uint32_t kSets = 16;
inline constexpr std::uint32_t kCallRecords = 32;

/// A process' state for collectives in its window; its slots follow.
struct alignas(kDestructivePairBytes) CollectiveBlock {
  CallRecord calls[kCallRecords];
};

/// A value to be sent: its place in this process, and its place in a window when it does not fit a
/// slot.
struct Parcel {
  const void* data;
  std::size_t bytes;
  std::uint64_t place;
  std::uint64_t owner;  // in whose window

  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
};

/// Whether values of type T have a number of elements, n, and of their bytes only sent_bytes()
/// are sent.
template <class T>
inline constexpr bool kKnowsItsLength = false;

inline constexpr CollectiveCall kBarrierCall = make_plain_collective(CollectiveKind::barrier);
inline constexpr CollectiveCall kStoreSyncCall = make_plain_collective(CollectiveKind::store_sync);
inline constexpr CollectiveCall kForcePathCall = make_plain_collective(CollectiveKind::force_path);

class CollectiveEngine {
 public:
  /// Collective.
  explicit CollectiveEngine(Machine& machine);
  /// After end(): no process may be in a collective call any more.
  ~CollectiveEngine();
  CollectiveEngine(const CollectiveEngine&) = delete;
  CollectiveEngine& operator=(const CollectiveEngine&) = delete;

  /// Reductions run in rounds between partners, over the greatest power of two of processes. The
  /// first 2 * surplus processes form pairs, and the lower process of each takes part for both.
  [[nodiscard]] std::uint32_t rounds() const noexcept { return rounds_; }
  [[nodiscard]] std::uint32_t surplus() const noexcept { return surplus_; }
  [[nodiscard]] std::uint32_t gather_round() const noexcept { return rounds_; }
  [[nodiscard]] std::uint32_t spread_round() const noexcept { return rounds_ + 1; }

  /// Begins a call: numbers it and makes its mark. @p synchronises: no process ends the call before
  /// all have begun it.  A poll point.
  void begin(const CollectiveCall& call, bool synchronises, std::uint32_t root = 0,
             std::uint64_t count = 1) {
    if (!synchronises || notified_) [[unlikely]]
      prepare(call, synchronises);
    number(call, root, count);
    record(call, root, count);
    if (synchronises) unsynchronised_ = 0;
    light_poll();
  }

  /// In place of begin() when there is only one process.
  void alone(CollectiveKind kind);
  /// This process has come to the end of the program. To be called once.
  void end() noexcept;
  /// After end(): compares the calls of the process before this one with those of this process, and
  /// stops the program when they differ. Where all such pairs agree, all processes do. @p all_here:
  /// no process is on its way to the end any more. False: ask again.
  [[nodiscard]] bool has_compared_ends(bool all_here) noexcept;

  /// Sends one value to @p process in @p round of the call.
  template <class T>
  void send(std::uint32_t process, std::uint32_t round, const T& value) {
    if constexpr (kKnowsItsLength<T>) {
      send_parcel(process, round, wrap(value.bytes, value.sent_bytes()));
      return;
    } else if constexpr (sizeof(T) <= kSlotBytes) {
      if (CollectiveSlot* slots = peers_[process]) [[likely]] {
        std::memcpy(slots[base_ + round].words, &value, sizeof(T));
        publish(process, slots, round);
        return;
      }
    }
    send_parcel(process, round, wrap(&value, sizeof(T)));
  }
  /// Sends the mark alone.
  void send_mark(std::uint32_t process, std::uint32_t round) {
    if (CollectiveSlot* slots = peers_[process]) [[likely]] {
      publish(process, slots, round);
      return;
    }
    send_parcel(process, round, {});
  }

  /// The value that @p process sends in @p round, as large as @p like; waits for it.
  template <class T>
  [[nodiscard]] T receive(std::uint32_t process, std::uint32_t round,
                          [[maybe_unused]] const T& like) {
    await(process, round);
    if constexpr (kKnowsItsLength<T>) {
      T value(like.n);
      (void)take(round, value.bytes, value.sent_bytes());
      return value;
    } else {
      std::array<std::byte, sizeof(T)> bytes;
      if constexpr (sizeof(T) <= kSlotBytes)
        std::memcpy(bytes.data(), slots_[base_ + round].words, sizeof(T));
      else
        (void)take(round, bytes.data(), sizeof(T));
      return std::bit_cast<T>(bytes);
    }
  }
  void await(std::uint32_t process, std::uint32_t round) {
    const AtomicWord<std::uint64_t>& mark = slots_[base_ + round].mark;
    for (std::uint32_t i = 0; i < spins_; ++i) {
      if (mark.load(kAcquire) == mark_) [[likely]]
        return;
      light_poll();
    }
    await_slow(process, round);
  }

  /// Space in the window for the values of this call that do not fit slots.
  void open_outbox(std::size_t bytes);
  /// A value that does not fit a slot is copied to the outbox, which must have been opened.
  [[nodiscard]] Parcel wrap(const void* data, std::size_t bytes);
  void send_parcel(std::uint32_t process, std::uint32_t round, Parcel parcel);
  /// After await(): copies the slot's value to @p to. Answers the value as a parcel to be sent on.
  Parcel take(std::uint32_t round, void* to, std::size_t bytes);
  Parcel receive_bytes(std::uint32_t process, std::uint32_t round, void* to, std::size_t bytes) {
    await(process, round);
    return take(round, to, bytes);
  }

  /// @p call: the program's call, when it is more than a barrier.
  void barrier(const CollectiveCall& call = kBarrierCall) {
    barrier_begin(call);
    barrier_rest(0);
  }
  [[nodiscard]] bool waits_ahead(std::uint32_t process) const noexcept;
  void barrier_notify();
  void barrier_wait();
  [[nodiscard]] bool barrier_try();

  // Of bytes; collective.cpp.
  void broadcast(const CollectiveCall& call, std::uint32_t root, void* data, std::uint64_t count);
  void gather(const CollectiveCall& call, const void* value, void* all);
  void gather_to_one(const CollectiveCall& call, std::uint32_t root, const void* value, void* all);

  // Of arrays that all processes reach where they lie; in_place.cpp.
  /// The arrays of all processes, each with @p count elements, as mapped here. Empty in all
  /// processes: one of them does not reach one of the arrays. All arrays are as they were when
  /// their processes began the call.
  [[nodiscard]] std::vector<std::byte*> arrays_in_place(const CollectiveCall& call, std::byte* data,
                                                        std::uint64_t count);
  /// Whether @p mine is true in all processes. No process leaves before all have asked.
  [[nodiscard]] bool all_say(const CollectiveCall& call, std::uint64_t count, bool mine);
  /// Copies @p bytes bytes, which may be another process', and polls meanwhile.
  void copy_array(std::byte* to, const std::byte* from, std::size_t bytes);

  /// Takes a slot that has come as a message.  Call from the Machine, in its polls.
  void arrived(std::uint32_t index, std::uint64_t mark, const std::uint64_t* words,
               std::uint32_t count);
  /// @p process waits in @p call for a slot of this process.  Call from the Machine, in its polls.
  void waited_for(std::uint32_t process, const std::uint64_t* call);

 private:
  /// The upper 32 bits of a mark are the call's number; the others depend on it and on all calls
  /// before. A slot keeps its mark as long as a program makes no call that writes it: the numbers
  /// must not start again meanwhile, or the old mark looks like that of another call.
  static constexpr unsigned kNumberShift = 32;

  void number(const CollectiveCall& call, std::uint32_t root, std::uint64_t count) noexcept {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
    ++sequence_;
    history_ = (history_ ^ call.hash ^ (root + count * kMix)) * kMix;
    mark_ = sequence_ << kNumberShift | history_ >> (64 - kNumberShift) | 1;
    base_ = static_cast<std::uint32_t>(sequence_ % kSets) * slots_per_set_;
    kind_ = call.kind;
  }
  /// For processes that wait for this one, or find that it makes another call.
  void record(const CollectiveCall& call, std::uint32_t root, std::uint64_t count) noexcept {
    CallRecord& record = block_->calls[sequence_ % kCallRecords];
    record.what.store(
        static_cast<std::uint64_t>(call.kind) | static_cast<std::uint64_t>(call.op) << 8 |
            static_cast<std::uint64_t>(call.element) << 16 | static_cast<std::uint64_t>(root) << 32,
        kRelaxed);
    record.element_bytes.store(call.element_bytes, kRelaxed);
    record.count.store(count, kRelaxed);
    record.file.store(call_place.file, kRelaxed);
    if (call_place.file != nullptr) [[unlikely]] {
      record.place_what.store(call_place.what, kRelaxed);
      record.line.store(call_place.line, kRelaxed);
    }
    record.mark.store(mark_, kRelease);
  }
  void publish(std::uint32_t process, CollectiveSlot* slots, std::uint32_t round) {
    slots[base_ + round].mark.store(mark_, kRelease);
    if (records_[process].sleeping.load(kRelaxed) != 0) [[unlikely]]
      wake(process);
  }

  [[gnu::noinline]] void prepare(const CollectiveCall& call, bool synchronises);
  [[gnu::noinline]] void await_slow(std::uint32_t process, std::uint32_t round);
  void show_arrival() noexcept;
  [[gnu::noinline]] void wake(std::uint32_t process) noexcept;
  [[nodiscard]] bool has_come(std::uint32_t process, std::uint32_t round);
  [[nodiscard]] CollectiveSlot* slots_of(std::uint32_t process);
  void send_fragments(std::uint32_t process, std::uint32_t round, const Parcel& parcel);
  template <class Body>
  void naming_the_lost(Body&& body);
  void broadcast_piece(std::uint32_t root, std::byte* data, std::size_t bytes);
  void gather_rounds(const void* value, std::size_t size, void* all);
  [[nodiscard]] std::uint64_t shown_place(const void* data, std::size_t bytes);
  [[nodiscard]] bool broadcast_in_place(const CollectiveCall& call, std::uint32_t root,
                                        std::byte* data, std::uint64_t count);
  void transfer_piece(std::uint32_t from, std::uint32_t to, std::byte* data, std::size_t bytes);
  /// Sends the slot of the first round before all else.
  void barrier_begin(const CollectiveCall& call) {
    if (notified_) [[unlikely]]
      prepare(call, true);
    number(call, 0, 1);
    send_mark(process_after(1), 0);
    record(call, 0, 1);
    unsynchronised_ = 0;
    light_poll();
  }
  /// The barrier's rounds from @p round on.
  void barrier_rest(std::uint32_t round) {
    for (;;) {
      await(process_before(1U << round), round);
      if (++round == barrier_rounds_) return;
      send_mark(process_after(1U << round), round);
    }
  }
  [[nodiscard]] static std::uint32_t process_after(std::uint32_t distance) noexcept {
    const std::uint32_t process = hot.myproc + distance;
    return process < hot.procs ? process : process - hot.procs;
  }
  [[nodiscard]] static std::uint32_t process_before(std::uint32_t distance) noexcept {
    return hot.myproc < distance ? hot.myproc + hot.procs - distance : hot.myproc - distance;
  }

  // collective_check.cpp
  [[nodiscard]] bool tell(std::uint32_t process);
  void check_waiting();
  [[nodiscard]] bool check_waiting(std::uint32_t process, const AwaitedCall& call);
  [[nodiscard]] const CollectiveBlock* records_of(std::uint32_t process);
  [[nodiscard]] CollectiveBlock* block_of(std::uint32_t process);
  [[nodiscard]] const CollectiveBlock* seen_records(std::uint32_t process);
  [[nodiscard]] bool differs(const CollectiveBlock* records) const noexcept;
  [[nodiscard]] std::uint32_t who_differs(std::uint32_t process);
  [[noreturn]] void stop_mismatch(std::uint32_t process);
  [[nodiscard]] AwaitedCall call_of(std::uint64_t number) const noexcept;
  void show_end(std::uint32_t process) noexcept;
  [[nodiscard]] bool has_sent_end(std::uint32_t process) noexcept;
  [[noreturn]] void stop_ends_differ(std::uint32_t process, const AwaitedCall& last);
  /// Behind the sets: in it the process before this one shows its last call, and the mark of its
  /// end.
  [[nodiscard]] std::uint32_t end_slot() const noexcept { return kSets * slots_per_set_; }

  std::uint64_t sequence_ = 0;
  std::uint64_t history_ = 0;
  std::uint64_t mark_ = 0;
  std::uint32_t base_ = 0;  // of the call's slots
  std::uint32_t slots_per_set_ = 1;
  CollectiveSlot* slots_ = nullptr;
  std::vector<CollectiveSlot*> peers_;  // null: not mapped yet, or reached by messages
  std::vector<CollectiveBlock*> blocks_;
  struct Waiting {
    std::uint32_t process;
    AwaitedCall call;
  };
  std::vector<Waiting> waiting_;        // in calls that this process has not come to
  CollectiveBlock* fetched_ = nullptr;  // own; of a process off-node
  const RankRecord* records_ = nullptr;
  CollectiveBlock* block_ = nullptr;
  std::uint32_t spins_ = 0;
  std::uint32_t rounds_ = 0;
  std::uint32_t surplus_ = 0;
  std::uint32_t unsynchronised_ = 0;  // calls since the last one that synchronised
  CollectiveKind kind_ = CollectiveKind::barrier;
  bool ended_ = false;                // all processes have come to the end
  std::uint32_t end_messages_ = 0;    // sent to the process after this one
  std::uint64_t all_here_at_ns_ = 0;  // when all were found to have come to the end
  bool notified_ = false;             // between barrier_notify and barrier_wait
  std::uint32_t barrier_round_ = 0;
  std::uint32_t barrier_rounds_ = 0;

  struct Outbox {
    std::size_t place = 0;
    std::size_t bytes = 0;
  };
  std::array<Outbox, kSets> outboxes_;
  std::size_t outbox_used_ = 0;
  TurnTrial trial_;                                // of values in the outbox
  std::vector<std::vector<std::uint64_t>> inbox_;  // by slot: values that came as messages
  std::size_t block_place_ = 0;                    // of block_ in the window
  Machine& machine_;
  Job& job_;
};

/// This rank's, null outside splitc_main.
[[gnu::tls_model(
    "initial-exec")]] extern thread_local constinit CollectiveEngine* the_collective_engine;
[[noreturn, gnu::cold]] void stop_without_engine(const char* operation);

[[nodiscard]] inline CollectiveEngine& collective_engine(const char* operation) {
  CollectiveEngine* c = the_collective_engine;
  if (c == nullptr) [[unlikely]]
    stop_without_engine(operation);
  return *c;
}

/// Stops the program unless @p root is a process.
[[nodiscard]] std::uint32_t check_root(const char* operation, int root);

}  // namespace viaduct::splitc::detail
