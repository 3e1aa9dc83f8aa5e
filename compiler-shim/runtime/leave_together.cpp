#include "compiler-shim/runtime/leave_together.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <new>
#include <span>
#include <vector>

#include "compiler-shim/runtime/checked.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/splitc/sync.hpp"

namespace viaduct::shim {
namespace {

/// The number of the last call whose round the writer has reached. Lies in the window of the
/// process that reads it; has one writer.
struct alignas(128) Line {
  std::atomic<std::uint64_t> number;
};

struct Rendezvous {
  Job* job = nullptr;
  Line* mine = nullptr;        // one for each round
  std::vector<Line*> partner;  // in round r the line of the process 2^r further on
  std::uint64_t number = 0;
  std::uint32_t spins = 0;
  bool at_job = false;  // some processes share no memory: the job's barrier
};
Rendezvous rendezvous;

constexpr const char* kKey = "splitc_c.leave_together";

/// The pause between two looks of a wait: spins while every rank has a core, then yields, then
/// sleeps for ever longer times, in the end for a time slice.
class Patience {
 public:
  void wait() noexcept {
    ++looks_;
    if (looks_ < rendezvous.spins) return __builtin_ia32_pause();
    if (looks_ < rendezvous.spins + kYields) {
      ::sched_yield();
      return;
    }
    const timespec rest{0, rest_ns_};
    ::nanosleep(&rest, nullptr);
    if (rest_ns_ < kLongestRestNs) rest_ns_ *= 2;
  }
  [[nodiscard]] bool has_given_way() const noexcept { return looks_ >= rendezvous.spins; }

 private:
  static constexpr std::uint32_t kYields = 500;
  static constexpr long kLongestRestNs = 1'000'000;
  std::uint32_t looks_ = 0;
  long rest_ns_ = 10'000;
};

[[gnu::cold, gnu::noinline]] void check_lost(const char* operation) {
  if (rendezvous.job->life_epoch() == 0) return;
  for (std::uint32_t p = 0; p < rendezvous.job->size(); ++p)
    if (rendezvous.job->is_lost(Rank{p}))
      throw Error(errors::process_lost, std::errc::connection_reset,
                  fmt::format("{}: process {} is lost (it was killed, or has left)", operation, p));
}

/// Posts the backlog while it waits: messages that this process has sent for the call before may
/// not be posted yet.
void meet_at_job(const char* operation) {
  const std::uint32_t ticket = rendezvous.job->barrier_arrive();
  Status status = Status::retry;
  for (Patience patience; (status = rendezvous.job->barrier_done(ticket)) == Status::retry;) {
    splitc::detail::post_backlog();
    patience.wait();
  }
  if (status == Status::ok) return;
  check_lost(operation);
  throw Error(errors::process_lost, std::errc::connection_reset,
              fmt::format("{}: a process has left the job", operation));
}

}  // namespace

void prepare_to_leave_together(Job& job) {
  rendezvous = {};
  rendezvous.job = &job;
  if (job.size() == 1) return;
  rendezvous.spins = job.wait_policy().spin_ticks != 0 ? 2000 : 1;
  rendezvous.at_job = splitc::detail::any_off_node();
  if (rendezvous.at_job) return;
  std::uint32_t rounds = 0;
  while ((1U << rounds) < job.size()) ++rounds;
  const std::uint64_t place = job.segment().allocate(rounds * sizeof(Line), alignof(Line));
  rendezvous.mine = reinterpret_cast<Line*>(job.segment().base() + place);
  for (std::uint32_t r = 0; r < rounds; ++r) new (rendezvous.mine + r) Line{};

  job.bootstrap().put(kKey, std::as_bytes(std::span(&place, 1)));
  job.bootstrap().fence();
  for (std::uint32_t r = 0; r < rounds; ++r) {
    const Rank peer{(index(job.rank()) + (1U << r)) % job.size()};
    const auto found = job.bootstrap().get(peer, kKey);
    std::uint64_t there = 0;
    std::memcpy(&there, found.data(), std::min(found.size(), sizeof(there)));
    rendezvous.partner.push_back(reinterpret_cast<Line*>(job.window_of(peer) + there) + r);
  }
}

void leave_together(const char* operation) {
  if (checked::hooks != nullptr) [[unlikely]]
    checked::hooks->end_epoch();
  if (rendezvous.at_job) return meet_at_job(operation);
  if (rendezvous.partner.empty()) return;
  const std::uint64_t number = ++rendezvous.number;
  for (std::size_t r = 0; r < rendezvous.partner.size(); ++r) {
    rendezvous.partner[r]->number.store(number, std::memory_order_release);
    // A partner that is a call ahead has written the next number already.
    for (Patience patience; rendezvous.mine[r].number.load(std::memory_order_acquire) < number;) {
      patience.wait();
      if (patience.has_given_way()) check_lost(operation);
    }
  }
}

}  // namespace viaduct::shim
