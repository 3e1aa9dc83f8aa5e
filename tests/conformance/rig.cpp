#include "tests/conformance/rig.hpp"

#include <sched.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string_view>
#include <utility>

#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::conformance {
namespace {

// Longer than kLimitNs, so that the rank that waits in vain speaks first.
const std::int64_t kRoundLimitNs = 2 * kLimitNs;

[[nodiscard]] std::uint64_t hash_of(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

[[noreturn]] void give_up(const std::string& sentence) {
  std::fputs((sentence + "\n").c_str(), stdout);
  std::fflush(stdout);
  std::_Exit(1);
}

}  // namespace

std::int64_t now_ns() noexcept { return static_cast<std::int64_t>(monotonic_ns()); }

void Patience::pause() noexcept {
  constexpr std::uint32_t kYields = 2000;
  if (++looks_ < kYields) {
    sched_yield();
    return;
  }
  const timespec pause{0, 200'000};
  nanosleep(&pause, nullptr);
}

Rig::Rig(Job& job, via::Nic& nic, std::uint64_t seed) : job_(job), nic_(nic), seed_(seed) {
  nic_.on_error([this](const via::AsyncError& error) { errors_.push_back(error); });
}

Rig::~Rig() {
  nic_.on_error([](const via::AsyncError&) {});
}

bool Rig::takes_part(std::uint32_t rank) const noexcept {
  return case_->party == Party::all || rank < 2 ||
         (case_->party == Party::alone && rank == this->rank());
}

void Rig::barrier(const char* label) {
  const std::uint32_t ticket = job_.barrier_arrive();
  Status status = Status::retry;
  progress_until([&] { return (status = job_.barrier_done(ticket)) != Status::retry; },
                 kRoundLimitNs);
  if (status == Status::ok) return;
  give_up(fmt::format("rank {}: {}: waits at \"{}\" for the other ranks: {} after {} s", rank(),
                      case_->name, label, text_of(status), kRoundLimitNs / 1'000'000'000));
}

// Ranks that have left the case meet those that are still in it, so that nobody waits for a rank
// that has given up. Two keys in turn: a value is read before its key can be written again.
std::vector<Rig::Bytes> Rig::meet(Signal signal, std::span<const std::byte> payload) {
  const std::string key = rounds_++ % 2 == 0 ? "conformance.even" : "conformance.odd";
  Bytes mine(sizeof signal + payload.size());
  std::memcpy(mine.data(), &signal, sizeof signal);
  if (!payload.empty()) std::memcpy(mine.data() + sizeof signal, payload.data(), payload.size());
  job_.bootstrap().put(key, mine);
  job_.bootstrap().fence();
  std::vector<Bytes> all;
  for (std::uint32_t r = 0; r < size(); ++r) all.push_back(job_.bootstrap().get(Rank{r}, key));
  return all;
}

std::vector<Rig::Bytes> Rig::meet_in_case(const char* label, std::span<const std::byte> payload,
                                          Where where) {
  Signal mine;
  mine.label = hash_of(label);
  std::vector<Bytes> all = meet(mine, payload);
  for (std::uint32_t r = 0; r < size(); ++r) {
    Signal signal;
    std::memcpy(&signal, all[r].data(), sizeof signal);
    all[r].erase(all[r].begin(), all[r].begin() + sizeof signal);
    if (!takes_part(r) || case_->party == Party::alone) continue;
    if (signal.finished != 0)
      throw CaseAborted{fmt::format("rank {} has left the case before \"{}\"", r, label)};
    if (signal.label != mine.label) {
      give_up(fmt::format("{}:{}: rank {}: {}: \"{}\" meets another step of rank {}", where.file,
                          where.line, rank(), case_->name, label, r));
    }
  }
  return all;
}

void Rig::sync(const char* label, Where where) {
  barrier(label);
  meet_in_case(label, {}, where);
}

// After a round everyone has arrived: a few looks only.
void Rig::leave_barrier(std::uint32_t ticket) {
  Patience patience;
  while (job_.barrier_done(ticket) == Status::retry) patience.pause();
}

void Rig::begin(const Case& subject, std::uint32_t number) {
  case_ = &subject;
  random_.seed(seed_ ^ hash_of(subject.name));
  discriminator_ = std::uint64_t{number + 1} << 32;
  errors_.clear();
  nic_.on_incoming_peer({});
  tag_ = nic_.create_tag();
}

Rig::Round Rig::finish(std::uint64_t failures, bool skipped) {
  barrier("the end of the case");
  Signal mine;
  mine.finished = 1;
  mine.failures = failures;
  mine.skipped = skipped ? 1 : 0;
  Round result;
  result.finished = true;
  for (const Bytes& bytes : meet(mine, {})) {
    Signal signal;
    std::memcpy(&signal, bytes.data(), sizeof signal);
    result.finished = result.finished && signal.finished != 0;
    result.failures += signal.failures;
    result.skipped += signal.skipped;
  }
  return result;
}

void Rig::clean_up() {
  nic_.on_incoming_peer({});
  for (const via::AsyncError& error : errors_) {
    // VIs of a case end one after the other, with receives still posted: no fault.
    if (error.cause == via::ErrorCause::disconnected) continue;
    check(false,
          fmt::format("an asynchronous error that nobody expected: {}", text_of(error.cause)),
          Where::here());
  }
  errors_.clear();
  try {
    nic_.destroy_tag(std::exchange(tag_, via::ProtectionTag::none));
  } catch (const Error& error) {
    check(false, fmt::format("the tag is in use after the case: {}", error.what()), Where::here());
  }
}

void Rig::expect_error(via::ErrorCause cause, const via::Vi& vi, Where where) {
  const auto wanted = [&](const via::AsyncError& error) {
    return error.cause == cause && error.vi == &vi;
  };
  const auto found = [&] { return std::any_of(errors_.begin(), errors_.end(), wanted); };
  const bool came = progress_until(found);
  std::string others;
  for (const via::AsyncError& error : errors_) others += fmt::format(" {}", text_of(error.cause));
  check(came,
        fmt::format("no asynchronous error \"{}\" about this VI; there were:{}", text_of(cause),
                    others.empty() ? " none" : others),
        where);
  if (!came) return;
  const auto at = std::find_if(errors_.begin(), errors_.end(), wanted);
  check_equal(index(at->peer), index(vi.peer()), "the peer of the asynchronous error", where);
  errors_.erase(at);
  check(!found(), fmt::format("the asynchronous error \"{}\" came twice", text_of(cause)), where);
}

void Rig::expect_state(const via::Vi& vi, via::ViState state, Where where) {
  progress_until([&] { return vi.state() == state; });
  check_equal(vi.state(), state, "the state of the VI", where);
}

}  // namespace viaduct::conformance
