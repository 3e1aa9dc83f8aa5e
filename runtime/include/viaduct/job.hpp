#pragma once
/// @file
/// A rank's membership in a job: the root of all its state.

#include "viaduct/runtime/language.hpp"

#include <cstddef>
#include <cstdint>

#include "viaduct/runtime/job_page.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/runtime/status.hpp"
#include "viaduct/runtime/types.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct {

// Most programs need none of these. Each has a header of its own: runtime/bootstrap.hpp and so on.
class Bootstrap;
class Log;
class Segment;
class Stats;
struct RuntimeSettings;

/// Created once per rank, destroyed collectively. Under viaduct-run it joins the launched job; with
/// no launcher it is a job of one rank; in a parallel environment that cannot be used the
/// constructor throws with the remedy.
class Job {
 public:
  /// Collective, blocks until all ranks have arrived.  Throws Error.
  Job();

  /// Collective finalize: a barrier, then release. A rank that leaves main or calls exit() without
  /// it has *left*; the others do not wait for a rank that is lost.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// @return this rank's number.
  [[nodiscard]] Rank rank() const noexcept { return rank_; }
  /// @return the number of ranks.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// @return whether the ranks are threads of this process (viaduct-run --mode threads).
  [[nodiscard]] bool threads_mode() const noexcept { return threads_mode_; }
  /// @return how long a wait spins and yields before it sleeps.
  [[nodiscard]] const WaitPolicy& wait_policy() const noexcept { return wait_policy_; }
  /// @return the number of hosts that the job's ranks are on.
  [[nodiscard]] std::uint32_t hosts() const noexcept { return page_->hosts; }
  /// @return whether @p peer is on this rank's host: only those can share memory. Threads and a job
  /// of one
  ///         are on one.  Cost: two loads.
  [[nodiscard]] bool same_host(Rank peer) const noexcept { return host_of(peer) == host_of(rank_); }
  /// @return the number of @p rank's host, 0 to hosts() - 1.  Precondition: @p rank is below
  /// size().
  [[nodiscard]] std::uint32_t host_of(Rank rank) const noexcept { return page_->record(rank).host; }
  /// @return whether every rank could register for expedited barriers (wait.hpp); else sleeps are
  /// capped at
  ///         1 ms.
  [[nodiscard]] bool membarrier_works() const noexcept { return membarrier_works_; }

  /// @return how the ranks exchange bytes before they can talk.
  [[nodiscard]] Bootstrap& bootstrap() noexcept { return *bootstrap_; }
  /// @return this rank's shared memory.
  [[nodiscard]] Segment& segment() noexcept { return *segment_; }
  /// @return the page in which the ranks of this host and their launcher keep each other's state.
  [[nodiscard]] JobPage& page() noexcept { return *page_; }
  /// @return @p rank's part of page().  Precondition: @p rank is below size().
  [[nodiscard]] RankRecord& record(Rank rank) noexcept { return page_->record(rank); }
  /// @return the counters of this rank's layers.
  [[nodiscard]] Stats& stats() noexcept { return *stats_; }
  /// @return this rank's log.
  [[nodiscard]] const Log& log() const noexcept { return *log_; }
  /// @return the settings of the runtime layer, with automatic values filled in.
  [[nodiscard]] const RuntimeSettings& settings() const noexcept { return *settings_; }

  /// Base address, in this process, of @p peer's window; mapped on first use and kept. In threads
  /// mode, and for this rank itself, the owner's own mapping.  Throws Error when the peer is out of
  /// range or cannot be mapped.
  [[nodiscard]] std::byte* window_of(Rank peer);

  /// Whether @p peer is gone (killed, or left without finalizing). Cost: one load of a line that
  /// rarely changes.
  [[nodiscard]] bool is_lost(Rank peer) const noexcept;
  /// @return a number that grows by one whenever any rank is lost: compare it with a remembered one
  /// before
  ///         asking is_lost() of each.  Cost: a load.
  [[nodiscard]] std::uint32_t life_epoch() const noexcept {
    return page_->life_epoch.load(kAcquire);
  }

  /// Call it now and then in a long wait that began at @p since_ns (monotonic_ns()): once the wait
  /// is longer than VIADUCT_HANG_REPORT, the call writes what this rank waits for, from its record,
  /// once per wait. A waiter that sleeps limits its sleep to settings().hang_report_ns where that
  /// is not 0.  Cost: one comparison while it is 0.
  void report_long_wait(std::uint64_t since_ns) noexcept;

  /// Whether this is a child that a rank forked: it shares the rank's memory but is no rank. Every
  /// cold call answers with an Error or stops it; layers above may ask where they wish.  Cost: one
  /// load.
  [[nodiscard]] bool in_forked_child() const noexcept {
    return fork_mark_ != nullptr && *fork_mark_ == 0;
  }

  /// @return 0, 1, 2, ...: tells apart the NICs that the layers above open, in the same order in
  /// every rank.
  [[nodiscard]] std::uint32_t next_nic() noexcept { return nics_++; }

  /// The first half of a barrier, for callers that must go on polling in between: this rank has
  /// arrived. Collective, in the same order in every rank. Never waits.  @return the ticket to ask
  /// with.
  std::uint32_t barrier_arrive() noexcept;
  /// The second half: asks whether all have arrived.  Never waits.
  ///
  /// @return ok; retry; peer_lost when a rank that has not arrived is lost, or waits in its Job's
  /// destructor
  ///         (then a sentence names it).
  Status barrier_done(std::uint32_t ticket) noexcept;

  /// For providers: a port by which peers reach this rank is down (RankRecord::ports_down, on all
  /// hosts), or one is up again. From any thread.  Cost: with several hosts a system call.
  void tell_port(bool down) noexcept;

 private:
  struct Impl;  // made by each kind of launch
  void join();
  void finalize() noexcept;
  void announce_end() noexcept;
  void report_deserter(std::uint32_t rank) const noexcept;
  friend struct RankRun;           // run()'s insides
  friend struct JobEnd;            // an end that keeps the memory
  explicit Job(Owned<Impl> impl);  // run() uses it for ranks that are threads
  friend int run(int (*body)(Job&, int, char**), int argc, char** argv);

  Rank rank_{};
  std::uint32_t size_ = 1;
  bool threads_mode_ = false;
  bool membarrier_works_ = false;
  WaitPolicy wait_policy_;
  JobPage* page_ = nullptr;
  Owned<Segment> segment_;
  Owned<Bootstrap> bootstrap_;
  Owned<std::byte*[]> windows_;  // per rank, null until mapped
  Owned<Stats> stats_;
  Owned<Log> log_;
  Owned<RuntimeSettings> settings_;
  const std::uint32_t* fork_mark_ =
      nullptr;  // 1, in a page that the kernel clears in forked children
  std::uint32_t nics_ = 0;
  std::uint32_t barriers_ = 0;  // that this rank has arrived at
  std::uint64_t reported_wait_ns_ = 0;
  Owned<Impl> impl_;  // cold remainder
};

/// Runs @p body once per rank of this process: once when ranks are processes, in as many threads as
/// there are ranks when they are threads. Prints an exception's sentence and answers 1. Returns the
/// process' exit code (the first non-zero one of its ranks; 1 for a multiple of 256, of which a
/// process' exit code would be 0). A rank whose body throws does not
/// finalize its Job; one whose body returns another code than 0 finalizes if all ranks come to
/// their end within a second, and else ends without: the others, which may wait for it, learn that
/// it is lost. This is how a program supports both modes:
///
///     int body(viaduct::Job& job, int argc, char** argv);
///     int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
int run(int (*body)(Job&, int, char**), int argc, char** argv);

}  // namespace viaduct
