/// Finds and names collective calls that do not match each other.

#include <fmt/format.h>
#include <sched.h>
#include <algorithm>
#include <atomic>
#include <exception>
#include <string>

#include "runtime/errors/codes.hpp"
#include "splitc/detail/machine.hpp"
#include "splitc/src/mapped.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/splitc/detail/collective.hpp"

namespace viaduct::splitc::detail {
namespace {

/// A CallRecord as it was when it was read.
struct Described {
  std::uint64_t mark, what, element_bytes, count;
  CallPlace place;

  explicit Described(const AwaitedCall& call) noexcept
      : mark(call.mark),
        what(call.what),
        element_bytes(call.element_bytes),
        count(call.count),
        place{reinterpret_cast<const char*>(call.place_what),
              reinterpret_cast<const char*>(call.file), static_cast<int>(call.line)} {}
  explicit Described(const CallRecord& record) noexcept
      : mark(record.mark.load(std::memory_order_acquire)),
        what(record.what.load(std::memory_order_relaxed)),
        element_bytes(record.element_bytes.load(std::memory_order_relaxed)),
        count(record.count.load(std::memory_order_relaxed)),
        place{record.place_what.load(std::memory_order_relaxed),
              record.file.load(std::memory_order_relaxed),
              record.line.load(std::memory_order_relaxed)} {}

  [[nodiscard]] CollectiveKind kind() const noexcept {
    return static_cast<CollectiveKind>(what & 0xff);
  }
  [[nodiscard]] Operator op() const noexcept { return static_cast<Operator>(what >> 8 & 0xff); }
  [[nodiscard]] Element element() const noexcept { return static_cast<Element>(what >> 16 & 0xff); }
  [[nodiscard]] std::uint32_t root() const noexcept {
    return static_cast<std::uint32_t>(what >> 32);
  }
};

std::string operator_name(Operator op) {
  constexpr const char* kNames[] = {
      "", "Add", "Multiply", "Min", "Max", "And", "Or", "Xor", "an operator of the program's"};
  const auto i = static_cast<std::size_t>(op);
  return i < std::size(kNames) ? kNames[i] : "?";
}

std::string element_name(const Described& call) {
  constexpr const char* kNames[] = {"nothing", "signed integer", "unsigned integer",
                                    "floating-point number", "object"};
  const auto i = static_cast<std::size_t>(call.element());
  return fmt::format("{}-byte {}", call.element_bytes, i < std::size(kNames) ? kNames[i] : "?");
}

/// "a 4-byte signed integer", "100 times a 4-byte signed integer".
std::string elements(const Described& call) {
  return call.count == 1 ? "a " + element_name(call)
                         : fmt::format("{} times a {}", call.count, element_name(call));
}

/// "all_reduce of a 4-byte signed integer with Add".
std::string bare_name_of(const Described& call) {
  const std::string name = to_string(call.kind());
  switch (call.kind()) {
    case CollectiveKind::barrier:
    case CollectiveKind::store_sync:
    case CollectiveKind::force_path:
    case CollectiveKind::end:
      return name;
    case CollectiveKind::allocate_spread:
      return fmt::format("{} of {} times {} bytes", name, call.count, call.element_bytes);
    case CollectiveKind::allocate:
      return fmt::format("{} of {} bytes in each process", name, call.count);
    case CollectiveKind::release:
    case CollectiveKind::release_spread:
      return fmt::format("{} of {:#x}", name, call.count);
    case CollectiveKind::all_reduce:
    case CollectiveKind::scan:
    case CollectiveKind::scan_before:
      return fmt::format("{} of {} with {}", name, elements(call), operator_name(call.op()));
    case CollectiveKind::reduce_to_one:
      return fmt::format("{} of {} with {} to process {}", name, elements(call),
                         operator_name(call.op()), call.root());
    case CollectiveKind::broadcast:
      return fmt::format("{} of {} times a {} from process {}", name, call.count,
                         element_name(call), call.root());
    case CollectiveKind::gather:
      return fmt::format("{} of a {}", name, element_name(call));
    case CollectiveKind::gather_to_one:
      return fmt::format("{} of a {} to process {}", name, element_name(call), call.root());
  }
  return "an unknown call";
}

/// A text of the program that a process names by its address in global pointers. The address is not
/// trusted: another process has written it.
std::string text_at(const char* name) {
  constexpr std::size_t kLongest = 256;
  Memory& memory = machine_in_call("collective call").memory();
  const auto* const text =
      static_cast<const char*>(memory.localize(reinterpret_cast<std::uint64_t>(name)));
  std::string copied;
  for (std::size_t i = 0; i < kLongest; ++i) {
    if (!is_mapped(reinterpret_cast<const std::byte*>(text + i), 1)) return "?";
    if (text[i] == '\0') break;
    copied += text[i];
  }
  return copied;
}

/// The place of the call in the source, when it is known.
std::string place_of(const Described& call) {
  if (call.place.file == nullptr || call.kind() == CollectiveKind::end) return {};
  const std::string what = call.place.what != nullptr ? " for " + text_at(call.place.what) : "";
  return fmt::format("{} at {}:{}", what, text_at(call.place.file), call.place.line);
}

std::string name_of(const Described& call) { return bare_name_of(call) + place_of(call); }

constexpr const char* kRule =
    "every process must make the same collective calls in the same order, with the same types, "
    "operators, roots and counts";

std::string difference(const Described& here, const Described& there, std::uint32_t process) {
  const std::string a = name_of(here), b = name_of(there);
  if (bare_name_of(here) == bare_name_of(there))
    return fmt::format(
        "this process calls {}, and process {} too{}, but with another type or "
        "operator, or the calls before differed: {}",
        a, process, place_of(there), kRule);
  return fmt::format("this process calls {}, but process {} calls {}: {}", a, process, b, kRule);
}

/// The first call in which two processes differ, among those that both still know of.
std::string difference(const CollectiveBlock& mine, const CollectiveBlock& theirs,
                       std::uint64_t sequence, std::uint32_t process) {
  const std::uint64_t known = std::min<std::uint64_t>(kCallRecords, sequence);
  for (std::uint64_t back = known; back-- > 0;) {
    const std::size_t i = (sequence - back) % kCallRecords;
    const Described here(mine.calls[i]), there(theirs.calls[i]);
    if (here.mark != there.mark) return difference(here, there, process);
  }
  return fmt::format("this process and process {} have made different calls: {}", process, kRule);
}

}  // namespace

const char* to_string(CollectiveKind kind) noexcept {
  switch (kind) {
    case CollectiveKind::barrier:
      return "barrier";
    case CollectiveKind::all_reduce:
      return "all_reduce";
    case CollectiveKind::reduce_to_one:
      return "all_reduce_to_one";
    case CollectiveKind::broadcast:
      return "all_bcast";
    case CollectiveKind::gather:
      return "all_gather";
    case CollectiveKind::gather_to_one:
      return "all_gather_to_one";
    case CollectiveKind::scan:
      return "all_scan";
    case CollectiveKind::scan_before:
      return "all_scan_before";
    case CollectiveKind::allocate:
      return "all_malloc";
    case CollectiveKind::allocate_spread:
      return "all_spread_malloc";
    case CollectiveKind::release:
      return "all_free";
    case CollectiveKind::release_spread:
      return "all_spread_free";
    case CollectiveKind::store_sync:
      return "all_store_sync";
    case CollectiveKind::force_path:
      return "force_path";
    case CollectiveKind::end:
      return "nothing more (it has returned from splitc_main)";
  }
  return "collective call";
}

/// The records of @p process. Null: this process cannot see them.
const CollectiveBlock* CollectiveEngine::seen_records(std::uint32_t process) {
  try {
    return records_of(process);
  } catch (const std::exception&) {
    return nullptr;
  }
}

/// Whether the process of @p records, which may be null, has made another call of this number, or
/// of one of the numbers before: in those this process need not have waited for that one.
bool CollectiveEngine::differs(const CollectiveBlock* records) const noexcept {
  if (records == nullptr) return false;
  for (std::uint64_t back = 0; back < kSets && back < sequence_; ++back) {
    const std::size_t i = (sequence_ - back) % kCallRecords;
    const std::uint64_t mine = block_->calls[i].mark.load(std::memory_order_relaxed);
    const std::uint64_t found = records->calls[i].mark.load(std::memory_order_acquire);
    if (found != mine && ((found ^ mine) >> kNumberShift) == 0) return true;
  }
  return false;
}

/// The process whose call differs. A slot of another call has come in place of the slot of
/// @p process. A third process may have written it, and may not yet have recorded its call.
std::uint32_t CollectiveEngine::who_differs(std::uint32_t process) {
  constexpr std::uint64_t kPatienceNs = 1'000'000'000;
  const std::uint64_t start = monotonic_ns();
  do {
    for (std::uint32_t i = 0; i < hot.procs; ++i)
      if (const std::uint32_t p = (process + i) % hot.procs; differs(seen_records(p))) return p;
    ::sched_yield();
  } while (monotonic_ns() - start < kPatienceNs);
  return process;
}

void CollectiveEngine::stop_mismatch(std::uint32_t process) {
  const std::uint32_t other = who_differs(process);
  std::string text;
  try {
    if (const CollectiveBlock* theirs = records_of(other))
      text = difference(*block_, *theirs, sequence_, other);
  } catch (const std::exception&) {  // this process cannot see its memory
  }
  if (text.empty())
    text = fmt::format("this process calls {}, but another one calls something else: {}",
                       name_of(Described(block_->calls[sequence_ % kCallRecords])), kRule);
  stop(errors::collectives_differ, to_string(kind_), text.c_str());
}

/// This process' call of number @p number, one of the last kCallRecords.
AwaitedCall CollectiveEngine::call_of(std::uint64_t number) const noexcept {
  const Described mine(block_->calls[number % kCallRecords]);
  return {mine.mark,
          mine.what,
          mine.element_bytes,
          mine.count,
          reinterpret_cast<std::uint64_t>(mine.place.what),
          reinterpret_cast<std::uint64_t>(mine.place.file),
          static_cast<std::uint64_t>(mine.place.line)};
}

/// Tells @p process, which is off-node, which call this process waits in. False: not possible now.
bool CollectiveEngine::tell(std::uint32_t process) {
  const AwaitedCall call = call_of(sequence_);
  std::uint64_t words[kSlotWords];
  std::memcpy(words, &call, sizeof call);
  return machine_.tell_of_wait(process, words);
}

void CollectiveEngine::waited_for(std::uint32_t process, const std::uint64_t* call) {
  Waiting waiting{process, {}};
  std::memcpy(&waiting.call, call, sizeof waiting.call);
  if (!check_waiting(process, waiting.call)) waiting_.push_back(waiting);
}

void CollectiveEngine::check_waiting() {
  std::erase_if(waiting_, [this](const Waiting& w) { return check_waiting(w.process, w.call); });
}

/// Ends the job when @p process waits in another call than this process has made, or in one that
/// this process will not make. False: this process has not yet made a call of that number.
bool CollectiveEngine::check_waiting(std::uint32_t process, const AwaitedCall& call) {
  const std::uint64_t number = call.mark >> kNumberShift;
  const Described kept(block_->calls[number % kCallRecords]);
  const auto ahead = static_cast<std::int32_t>(
      static_cast<std::uint32_t>(number) - static_cast<std::uint32_t>(kept.mark >> kNumberShift));
  if (ahead > 0 && !ended_) return false;
  if (ahead < 0 || kept.mark == call.mark) return true;
  const Described mine = ahead > 0 ? Described(block_->calls[sequence_ % kCallRecords]) : kept;
  const Described theirs(call);
  stop(errors::collectives_differ,
       to_string(mine.kind() == CollectiveKind::end ? theirs.kind() : mine.kind()),
       difference(mine, theirs, process));
}

/// Shows @p process, which shares memory with this one, the last call and the mark of the end. All
/// of it is there before this process arrives at the job's barrier.
void CollectiveEngine::show_end(std::uint32_t process) noexcept {
  try {
    auto* const slots = reinterpret_cast<CollectiveSlot*>(block_of(process) + 1);
    const AwaitedCall last = call_of(sequence_ - 1);
    std::memcpy(slots[end_slot()].words, &last, sizeof last);
    slots[end_slot()].mark.store(mark_, kRelease);
  } catch (const std::exception&) {  // the process is lost: nothing is to be compared
  }
}

/// The same by messages. False: they have not all been sent, or not been handled.
bool CollectiveEngine::has_sent_end(std::uint32_t process) noexcept {
  const AwaitedCall last = call_of(sequence_ - 1);
  std::uint64_t words[kSlotWords];
  std::memcpy(words, &last, sizeof last);
  try {
    return machine_.has_sent_slot(process, end_slot(), mark_, words, end_messages_);
  } catch (const std::exception&) {  // there can be no connection
    return true;
  }
}

bool CollectiveEngine::has_compared_ends(bool all_here) noexcept {
  constexpr std::uint64_t kPatienceNs = 300'000'000;  // for messages of processes that have failed
  if (job_.size() == 1) return true;
  const std::uint32_t before = process_before(1);
  const CollectiveSlot& slot = slots_[end_slot()];
  const std::uint64_t theirs = slot.mark.load(kAcquire);
  if (theirs != 0 && theirs != mark_) {
    AwaitedCall last{};
    std::memcpy(&last, slot.words, sizeof last);
    stop_ends_differ(before, last);
  }
  const bool is_sent = !machine_.is_remote(process_after(1)) || has_sent_end(process_after(1));
  if (theirs != 0 && is_sent) return true;
  if (!all_here) return false;
  // A process that has failed shows nothing.
  if (is_sent && !machine_.is_remote(before)) return true;
  if (all_here_at_ns_ == 0) all_here_at_ns_ = monotonic_ns();
  return monotonic_ns() - all_here_at_ns_ >= kPatienceNs;
}

/// @p last: the last call of @p process before its end. The sentence names the first call that one
/// of both has made and the other has not, or else the last call of both.
void CollectiveEngine::stop_ends_differ(std::uint32_t process, const AwaitedCall& last) {
  const auto theirs = static_cast<std::uint32_t>(last.mark >> kNumberShift);
  const auto mine = static_cast<std::uint32_t>(sequence_ - 1);
  const auto more = static_cast<std::int32_t>(mine - theirs);
  std::uint64_t number = sequence_ - 1;
  AwaitedCall there = last;
  if (more < 0) {
    number = sequence_;  // the end of this process
  } else if (more > 0) {
    number -= std::min<std::uint64_t>(static_cast<std::uint32_t>(more), kCallRecords - 1) - 1;
    there.what = static_cast<std::uint64_t>(CollectiveKind::end);
  }
  const Described a(call_of(number)), b(there);
  stop(errors::collectives_differ, to_string(a.kind() == CollectiveKind::end ? b.kind() : a.kind()),
       difference(a, b, process));
}

}  // namespace viaduct::splitc::detail
