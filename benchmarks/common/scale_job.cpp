#include "benchmarks/common/scale_job.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "benchmarks/common/shared_block.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/am/token.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/runtime/types.hpp"

namespace viaduct::bench {
namespace {

constexpr const char* kMark = "told:";
constexpr std::uint64_t kProbes = 4;               // timed first, to choose the number to measure
constexpr std::uint64_t kWindowNs = 40'000'000;    // approximate time of the measured operations
constexpr std::uint64_t kMostOperations = 20'000;  // measured at most
constexpr std::uint64_t kPairMessages = 100'000;

// Written by the handler of this rank, which may be a thread.
constinit thread_local std::uint64_t heard = 0;
void on_hello(am::Token&, std::uint64_t word) { heard += word; }

/// Results that each rank writes and rank 0 reads.
struct alignas(kDestructivePairBytes) Card {
  std::uint64_t started_ns;
  std::uint64_t ready_ns;
  Resident idle;    // before the rank has talked to any peer
  Resident talked;  // to all
};
struct alignas(kDestructivePairBytes) Plan {
  std::uint64_t operations;
};

void require(Status status, const char* what) {
  if (status != Status::ok)
    throw std::runtime_error(fmt::format("{}: {}", what, to_string(status)));
}

class ScaleJob {
 public:
  /// @p iterations: operations to measure; 0: as many as take a while.
  ScaleJob(Job& job, std::uint64_t iterations)
      : job_(job),
        iterations_(iterations),
        me_(index(job.rank())),
        ranks_(job.size()),
        context_(job),
        bundle_(context_),
        endpoint_(bundle_) {
    endpoint_.map_all();
  }

  void run(std::uint64_t started_ns) {
    meet();
    const std::uint64_t ready_ns = monotonic_ns();
    const std::size_t alone_bytes = job_.segment().allocated_bytes();
    const Resident idle = resident();
    meet();  // all have looked before any goes on
    std::byte* const block = share_block(job_, sizeof(Plan) + ranks_ * sizeof(Card));
    plan_ = reinterpret_cast<Plan*>(block);
    cards_ = reinterpret_cast<Card*>(block + sizeof(Plan));
    const double first_ns = timed([&] { exchange(1); });
    const double exchange_ns = measured([&](std::uint64_t times) { exchange(times); });
    const Resident talked = resident();
    meet();
    const double barrier_ns = measured([&](std::uint64_t times) {
      for (std::uint64_t i = 0; i < times; ++i) meet();
    });
    const double pair_ns = ranks_ == 2 ? timed([&] { stream(); }) / kPairMessages : 0;
    cards_[me_] = {started_ns, ready_ns, idle, talked};
    meet();
    if (me_ != 0) return;
    tell("first_exchange_ns", first_ns);
    tell("exchange_ns", exchange_ns);
    tell("barrier_ns", barrier_ns);
    if (ranks_ == 2) tell("pair_message_ns", pair_ns);
    tell("alone_bytes", static_cast<double>(alone_bytes));
    tell("peer_limit_bytes", static_cast<double>(endpoint_.footprint().per_active_peer));
    tell_cards();
  }

 private:
  void meet() { require(bundle_.barrier(), "the barrier"); }

  /// Every rank sends a request to each other rank, @p times times; returns when all requests for
  /// this rank have come.
  void exchange(std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      for (std::uint32_t step = 1; step < ranks_; ++step)
        require(endpoint_.request<on_hello>(am::Index{(me_ + step) % ranks_}, std::uint64_t{1}),
                "a request");
      expected_ += ranks_ - 1;
      require(bundle_.wait_until([&] { return heard >= expected_; }), "the wait for the others");
    }
  }

  /// Requests from rank 0 to rank 1 alone.
  void stream() {
    if (me_ == 0)
      for (std::uint64_t i = 0; i < kPairMessages; ++i)
        require(endpoint_.request<on_hello>(am::Index{1}, std::uint64_t{1}), "a request");
    else
      require(bundle_.wait_until([&] { return heard == expected_ + kPairMessages; }),
              "the wait for the stream");
  }

  /// From one barrier to another.
  template <class F>
  double timed(const F& f) {
    meet();
    const std::uint64_t start = monotonic_ns();
    f();
    meet();
    return static_cast<double>(monotonic_ns() - start);
  }

  /// The time of one operation, from enough of them to be measured.
  template <class F>
  double measured(const F& f) {
    const double probe_ns = timed([&] { f(kProbes); }) / kProbes;
    if (me_ == 0)
      plan_->operations = iterations_ != 0 ? iterations_
                                           : std::clamp<std::uint64_t>(
                                                 static_cast<std::uint64_t>(kWindowNs / probe_ns),
                                                 kProbes, kMostOperations);
    meet();
    const std::uint64_t operations = plan_->operations;
    return timed([&] { f(operations); }) / static_cast<double>(operations);
  }

  static void tell(const char* name, double value) { fmt::print("{} {} {}\n", kMark, name, value); }

  void tell_cards() const {
    std::uint64_t started = 0;
    std::uint64_t ready = 0;
    Resident idle;
    Resident talked;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const Card& card = cards_[rank];
      started = std::max(started, card.started_ns);
      ready = std::max(ready, card.ready_ns);
      idle.private_bytes += card.idle.private_bytes / ranks_;
      idle.shared_bytes += card.idle.shared_bytes / ranks_;
      talked.private_bytes += card.talked.private_bytes / ranks_;
      talked.shared_bytes += card.talked.shared_bytes / ranks_;
    }
    tell("started_ns", static_cast<double>(started));
    tell("ready_ns", static_cast<double>(ready));
    tell("private_bytes", idle.private_bytes);
    tell("shared_bytes", idle.shared_bytes);
    if (ranks_ > 1)
      tell("peer_bytes",
           (talked.private_bytes + talked.shared_bytes - idle.private_bytes - idle.shared_bytes) /
               (ranks_ - 1));
  }

  Job& job_;
  std::uint64_t iterations_;
  std::uint32_t me_;
  std::uint32_t ranks_;
  am::Context context_;
  am::Bundle bundle_;
  am::Endpoint endpoint_;
  std::uint64_t expected_ = 0;  // to be heard
  Plan* plan_ = nullptr;
  Card* cards_ = nullptr;
};

std::uint64_t main_started_ns = 0;

int body(Job& job, int argc, char** argv) {
  ScaleJob(job, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0).run(main_started_ns);
  return 0;
}

}  // namespace

Resident resident() {
  Resident found;
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    std::istringstream words(line);
    std::string name;
    double kib = 0;
    words >> name >> kib;
    if (name == "Pss_Anon:") found.private_bytes = kib * 1024;
    if (name == "Pss_Shmem:") found.shared_bytes = kib * 1024;
  }
  return found;
}

int run_scale_job(std::uint64_t started_ns, int argc, char** argv) {
  main_started_ns = started_ns;
  return viaduct::run(body, argc, argv);
}

Told told_by(const std::string& output) {
  Told told;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string mark;
    std::string name;
    double value = 0;
    if (words >> mark >> name >> value && mark == kMark) told[name] = value;
  }
  return told;
}

}  // namespace viaduct::bench
