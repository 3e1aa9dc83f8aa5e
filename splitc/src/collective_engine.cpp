/// Set-up of collectives, and the transfer of slots that the inline path does not cover.

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <span>
#include <string>

#include "runtime/errors/codes.hpp"
#include "splitc/detail/machine.hpp"
#include "via/copy.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/prefetch.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/splitc/detail/collective.hpp"

namespace viaduct::splitc::detail {
namespace {

constexpr std::string_view kKey = "splitc.collective";
/// In word 0 of a slot: the value came by messages and is in the inbox.
constexpr std::uint64_t kInInbox = ~std::uint64_t{0};
/// Words that one message carries.
constexpr std::uint32_t kFragmentWords = kSlotWords - 1;

[[noreturn]] void stop_notified(const char* operation) {
  stop(errors::barrier_order, operation,
       "called between barrier_notify() and barrier_wait(): no other collective call may be");
}

/// The place of a process' CollectiveBlock.
struct Place {
  std::uint64_t in_window;
  std::uint64_t address;  // global
};

Place place_of_block(Job& job, std::uint32_t process) {
  return job.bootstrap().get_value<Place>(Rank{process}, kKey).value_or(Place{});
}

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

}  // namespace

thread_local constinit CollectiveEngine* the_collective_engine = nullptr;
thread_local constinit CallPlace call_place;

void stop_without_engine(const char* operation) {
  (void)machine(operation);
  stop(errors::outside_splitc_main, operation, "called before Split-C has started");
}

std::uint32_t check_root(const char* operation, int root) {
  if (root < 0 || static_cast<std::uint32_t>(root) >= hot.procs) [[unlikely]]
    stop(errors::no_such_process, operation,
         fmt::format("there is no process {}, which is to be the root: the job has the "
                     "processes 0 to {}",
                     root, hot.procs - 1));
  return static_cast<std::uint32_t>(root);
}

CollectiveEngine::CollectiveEngine(Machine& machine) : machine_(machine), job_(machine.job()) {
  the_collective_engine = this;
  const std::uint32_t procs = job_.size();
  if (procs == 1) return;
  rounds_ = static_cast<std::uint32_t>(std::bit_width(procs)) - 1;
  surplus_ = procs - (1U << rounds_);
  barrier_rounds_ = rounds_ + (surplus_ != 0 ? 1 : 0);
  slots_per_set_ = rounds_ + (surplus_ != 0 ? 2 : 0);
  // Long enough for processes that compute alike; no spinning where others need the core.
  spins_ = job_.wait_policy().spin_ticks != 0 ? 2000 : 16;

  const std::size_t slots = end_slot() + 1;
  block_place_ = job_.segment().allocate(sizeof(CollectiveBlock) + slots * sizeof(CollectiveSlot));
  block_ =
      std::construct_at(reinterpret_cast<CollectiveBlock*>(job_.segment().base() + block_place_));
  slots_ = reinterpret_cast<CollectiveSlot*>(block_ + 1);
  std::uninitialized_value_construct_n(slots_, slots);
  peers_.resize(procs);
  blocks_.resize(procs);
  inbox_.resize(slots);
  records_ = &job_.record(Rank{0});

  const Place place{block_place_, machine_.memory().globalize(block_)};
  job_.bootstrap().put_value(kKey, place);
  job_.bootstrap().fence();
}

CollectiveEngine::~CollectiveEngine() {
  delete fetched_;
  the_collective_engine = nullptr;
  if (!ended_) return;  // this process failed: others may still read its last values
  for (const Outbox& outbox : outboxes_)
    if (outbox.bytes != 0) job_.segment().release(outbox.place);
  job_.segment().release(block_place_);
}

/// The collective block of @p process, in this process' mapping of its window.
CollectiveBlock* CollectiveEngine::block_of(std::uint32_t process) {
  CollectiveBlock*& block = blocks_[process];
  if (block != nullptr) return block;
  const Place place = place_of_block(job_, process);
  block = reinterpret_cast<CollectiveBlock*>(job_.window_of(Rank{process}) + place.in_window);
  return block;
}

/// The records of @p process. A process off-node is asked for them; null: the process does not
/// answer.
const CollectiveBlock* CollectiveEngine::records_of(std::uint32_t process) {
  constexpr std::uint64_t kPatienceNs = 300'000'000;
  if (!machine_.is_remote(process)) return block_of(process);
  if (fetched_ == nullptr) fetched_ = new CollectiveBlock;
  const std::uint64_t address = place_of_block(job_, process).address;
  void* const to = static_cast<void*>(fetched_);
  const bool answered = machine_.fetch(process, address, to, sizeof(CollectiveBlock), kPatienceNs);
  if (!answered) fetched_ = nullptr;  // the answer may still come: this block stays for ever
  return fetched_;
}

/// When a process is lost the others leave too, and operations on them fail with errors of their
/// own: this function makes the Error name the process that was lost first.
template <class Body>
void CollectiveEngine::naming_the_lost(Body&& body) {
  try {
    body();
  } catch (const Error& problem) {
    if (job_.life_epoch() == 0 && problem.code() != std::errc::no_message) throw;
    machine_.wait_until(to_string(kind_), kAnyone, [] { return false; });
  }
}

/// Null: slots go to @p process by message.
CollectiveSlot* CollectiveEngine::slots_of(std::uint32_t process) {
  CollectiveSlot*& slots = peers_[process];
  if (slots == nullptr && !machine_.by_message(process))
    naming_the_lost([&] { slots = reinterpret_cast<CollectiveSlot*>(block_of(process) + 1); });
  return slots;
}

/// Before a call that does not synchronise: makes a barrier when the call could overwrite slots
/// that may not have been read. All processes count such calls alike.
void CollectiveEngine::prepare(const CollectiveCall& call, bool synchronises) {
  if (notified_) stop_notified(to_string(call.kind));
  if (synchronises) return;
  if (unsynchronised_ == kSets - 2) barrier();
  ++unsynchronised_;
}

void CollectiveEngine::wake(std::uint32_t process) noexcept { machine_.wake_if_asleep(process); }

bool CollectiveEngine::has_come(std::uint32_t process, std::uint32_t round) {
  const std::uint64_t found = slots_[base_ + round].mark.load(std::memory_order_acquire);
  if (found == mark_) return true;
  if (((found ^ mark_) >> kNumberShift) == 0) stop_mismatch(process);
  return false;
}

void CollectiveEngine::await_slow(std::uint32_t process, std::uint32_t round) {
  constexpr std::uint64_t kTellAfterNs = 100'000'000;
  if (!waiting_.empty()) check_waiting();
  const bool remote = machine_.is_remote(process);
  const std::uint64_t start = remote ? monotonic_ns() : 0;
  const CollectiveBlock* const theirs = remote ? nullptr : seen_records(process);
  bool told = false;
  const auto done = [&] {
    if (has_come(process, round)) return true;
    // After another call the slot may never come, or come at another place.
    if (differs(theirs)) stop_mismatch(process);
    if (remote && !told && monotonic_ns() - start >= kTellAfterNs) told = tell(process);
    return false;
  };
  const bool of_all = unsynchronised_ == 0;  // else some processes may have left the call already
  if (of_all) show_arrival();
  machine_.wait_until(to_string(kind_), kAnyone, done,
                      of_all ? Activity::collective : Activity::waiting_message);
}

/// For hang reports: a process that waits in a call that synchronises shows that it has begun the
/// call.
void CollectiveEngine::show_arrival() noexcept {
  job_.record(job_.rank())
      .collective.store(static_cast<std::uint32_t>(sequence_), std::memory_order_release);
}

/// Whether @p process, of this host, waits in a call that this process has not begun, and that
/// cannot end before. After barrier_notify() the program of @p process goes on; its activity shows
/// whether it waits.
bool CollectiveEngine::waits_ahead(std::uint32_t process) const noexcept {
  const RankRecord& theirs = job_.record(Rank{process});
  const std::uint32_t begun = theirs.collective.load(std::memory_order_acquire);
  return static_cast<std::int32_t>(begun - static_cast<std::uint32_t>(sequence_)) > 0 &&
         theirs.activity.load(std::memory_order_relaxed) == Activity::collective;
}

void CollectiveEngine::alone(CollectiveKind kind) {
  if (notified_) stop_notified(to_string(kind));
  machine_.poll();
}

/// Wakes processes that wait for a slot of this process: they then look at its last call.
void CollectiveEngine::end() noexcept {
  if (notified_)
    stop(errors::barrier_order, "splitc_main",
         "returned between barrier_notify() and barrier_wait()");
  if (job_.size() == 1) return;
  ended_ = true;
  constexpr CollectiveCall kEnd = make_plain_collective(CollectiveKind::end);
  number(kEnd, 0, 1);
  record(kEnd, 0, 1);
  check_waiting();
  if (!machine_.is_remote(process_after(1))) show_end(process_after(1));
  for (std::uint32_t process = 0; process < job_.size(); ++process) wake(process);
}

/// An outbox may be written again as soon as the slots of its set may be.
void CollectiveEngine::open_outbox(std::size_t bytes) {
  Outbox& outbox = outboxes_[sequence_ % kSets];
  outbox_used_ = 0;
  if (outbox.bytes >= bytes) return;
  if (outbox.bytes != 0) job_.segment().release(outbox.place);
  outbox = {};
  outbox.place = job_.segment().allocate(bytes);
  outbox.bytes = bytes;
}

Parcel CollectiveEngine::wrap(const void* data, std::size_t bytes) {
  Parcel parcel{data, bytes, 0, Parcel::kNowhere};
  if (bytes <= kSlotBytes) return parcel;
  parcel.owner = hot.myproc;
  parcel.place = outboxes_[sequence_ % kSets].place + outbox_used_;
  outbox_used_ += round_up(bytes, kCacheLineBytes);
  std::byte* const to = job_.segment().base() + parcel.place;
  if (bytes <= via::kMostForReader && demotes_lines() && trial_.takes_second())
    via::copy_for_reader(to, static_cast<const std::byte*>(data), bytes);
  else
    std::memcpy(to, data, bytes);
  return parcel;
}

void CollectiveEngine::send_parcel(std::uint32_t process, std::uint32_t round, Parcel parcel) {
  CollectiveSlot* const slots = slots_of(process);
  if (slots == nullptr) return send_fragments(process, round, parcel);
  CollectiveSlot& slot = slots[base_ + round];
  if (parcel.bytes > kSlotBytes) {
    slot.words[0] = parcel.place;
    slot.words[1] = parcel.owner;
  } else if (parcel.bytes != 0) {
    std::memcpy(slot.words, parcel.data, parcel.bytes);
  }
  publish(process, slots, round);
}

/// Sends the value in as many messages as it needs; the last one has the mark.
void CollectiveEngine::send_fragments(std::uint32_t process, std::uint32_t round,
                                      const Parcel& parcel) {
  const auto* data = static_cast<const std::byte*>(parcel.data);
  std::size_t left = parcel.bytes;
  do {
    std::uint64_t words[kFragmentWords] = {};
    const std::size_t bytes = std::min(left, sizeof(words));
    if (bytes != 0) std::memcpy(words, data + (parcel.bytes - left), bytes);
    left -= bytes;
    naming_the_lost([&] {
      machine_.send_slot(to_string(kind_), process, base_ + round, left == 0 ? mark_ : 0, words,
                         static_cast<std::uint32_t>(round_up(bytes, 8) / 8));
    });
  } while (left != 0);
}

void CollectiveEngine::arrived(std::uint32_t index, std::uint64_t mark, const std::uint64_t* words,
                               std::uint32_t count) {
  if (index >= inbox_.size() || count > kSlotWords)
    stop(errors::nonsense, "poll",
         "a message of a collective makes no sense: start all processes from one build");
  std::vector<std::uint64_t>& inbox = inbox_[index];
  inbox.insert(inbox.end(), words, words + count);
  if (mark == 0) return;
  CollectiveSlot& slot = slots_[index];
  if (inbox.size() <= kSlotWords) {
    std::copy(inbox.begin(), inbox.end(), slot.words);
    inbox.clear();
  } else {
    slot.words[0] = kInInbox;
  }
  slot.mark.store(mark, std::memory_order_release);
}

Parcel CollectiveEngine::take(std::uint32_t round, void* to, std::size_t bytes) {
  const CollectiveSlot& slot = slots_[base_ + round];
  Parcel parcel{to, bytes, 0, Parcel::kNowhere};
  if (bytes <= kSlotBytes) {
    std::memcpy(to, slot.words, bytes);
    return parcel;
  }
  if (slot.words[0] != kInInbox) {
    parcel.place = slot.words[0];
    parcel.owner = slot.words[1];
    const std::size_t window = job_.segment().window_bytes();
    if (parcel.owner >= job_.size() || bytes > window || parcel.place > window - bytes)
      stop(errors::nonsense, to_string(kind_),
           "a value's place makes no sense: start all processes from one build, or see whether "
           "something writes into this process' memory");
    std::memcpy(to, job_.window_of(Rank{static_cast<std::uint32_t>(parcel.owner)}) + parcel.place,
                bytes);
    return parcel;
  }
  std::vector<std::uint64_t>& inbox = inbox_[base_ + round];
  std::memcpy(to, inbox.data(), std::min(bytes, inbox.size() * sizeof(std::uint64_t)));
  inbox.clear();
  return parcel;
}

}  // namespace viaduct::splitc::detail
