#pragma once
/// @file
/// The job page: the memory in which the ranks of one host and their launcher keep each other's
/// state. One memfd, made by the launcher (by the Job itself when there is none), inherited by the
/// ranks. In a job on several hosts each has a page, with records of all ranks; the host's agent
/// keeps those of the other hosts' ranks up to date (docs/launch.md).
///
/// Layout: JobPage, then RankRecord[size]. 128 bytes a rank; nothing else is held about a peer
/// never talked to except the translation table's entry.

#include <cstddef>
#include <cstdint>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/types.hpp"

namespace viaduct {

enum class RankState : std::uint32_t {
  starting,   ///< forked, no Job yet
  running,    ///< has a Job
  finalized,  ///< its Job's destructor has run
  left,       ///< its process ended normally without finalizing the Job
  killed,     ///< its process was ended by a signal, or ended with a non-zero exit code
};

/// The activity of a rank, for the hang report (SIGUSR1 to the launcher) and for tests that choose
/// their victim by it.
enum class Activity : std::uint32_t {
  computing,
  waiting_credit,
  waiting_message,
  barrier,
  collective,  ///< of Split-C, one that no rank ends before all have begun it
};

/// Where a rank keeps which of its message handlers runs, in its own memory: others read it from
/// outside for hang reports, as far as the kernel lets them.
struct RunningHandler {
  /// Added to the depth while the rank sleeps, whatever runs.
  static constexpr std::uint32_t kAsleep = 0x80000000;
  const std::uint32_t* depth = nullptr;  // handlers that run, above `base`
  std::uint32_t base = 0;
  std::uint32_t first_named = 0;       // id of names[0]; those below have a number only
  const std::uint16_t* id = nullptr;   // of the innermost one
  const char* const* names = nullptr;  // in the rank's memory, too
  std::uint64_t name_count = 0;
  const RunningHandler* next = nullptr;  // the rank's next set of handlers
};

struct alignas(64) RankRecord {
  // Line 0. state, pid and cause are written at life events; the rest by the rank itself, relaxed,
  // for reports only.
  AtomicWord<RankState> state;
  AtomicWord<std::int32_t> pid;
  AtomicWord<std::int32_t> cause;  // exit code, or 128 + signal
  AtomicWord<Activity> activity;
  AtomicWord<std::uint32_t> waits_for_peer;  // kNoPeer: for no particular rank
  AtomicWord<std::uint32_t> credits_in;      // credits that the rank has not yet returned
  AtomicWord<std::uint32_t> credits_out;     // credits that it has left towards waits_for_peer
  AtomicWord<std::uint32_t> finalizing;      // 1: its Job's destructor waits for the others
  AtomicWord<std::uint64_t> bytes_expected;  // sent to waits_for_peer as medium payloads, in all
  AtomicWord<std::uint64_t> bytes_seen;      // of those, the bytes that it has handled
  AtomicWord<std::uint64_t>
      last_poll_ns;  // monotonic_ns() of its last look, updated when it starts to wait
  AtomicWord<const char*>
      operation;  // a string literal in that rank's executable; not for other processes

  // Line 1. The rank's one futex. A sleeper raises `sleeping`, looks once more, and waits on
  // `doorbell`. A rank that has something for the sleeper increments `doorbell` and wakes it. The
  // launcher wakes every rank when a rank is lost.
  alignas(64) AtomicWord<std::uint32_t> sleeping;
  AtomicWord<std::uint32_t> doorbell;
  AtomicWord<std::uint32_t> barrier_ticket;  // the last barrier that the rank has arrived at
  std::uint32_t host;  // number of its host, from 0; written before the ranks see the page
  AtomicWord<std::uint32_t> ports_down;  // of its network devices
  // Handlers that ran when the last wait began: a handler beyond them has been called by that wait.
  AtomicWord<std::uint32_t> wait_depth;
  AtomicWord<const RunningHandler*> handlers;  // in that rank's memory
  AtomicWord<std::uint32_t> collective;  // the last of Split-C's that it is known to have begun
  AtomicWord<std::uint32_t> at_fence;    // 1: waits at a fence of its Bootstrap, as a thread
  AtomicWord<std::uint32_t> reserved_line1[6];

  static constexpr std::uint32_t kNoPeer = 0xffffffff;
};
static_assert(sizeof(RankRecord) == 128);

struct alignas(64) JobPage {
  static constexpr std::uint64_t kMagic = 0x5649414455435431;  // "VIADUCT1"
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t size;        // ranks
  std::uint32_t hosts;       // that they are on
  std::uint32_t local_size;  // ranks on the host of this page
  static constexpr std::uint32_t kMaxCpus = 256;
  AtomicWord<std::uint64_t> cpus[kMaxCpus / 64];  // that the host's ranks may run on, together
  alignas(64)
      AtomicWord<std::uint32_t> life_epoch;  // +1 whenever a rank's state becomes left or killed
  AtomicWord<std::uint32_t> first_lost;      // rank + 1 of the first one, 0 when none
  AtomicWord<std::uint32_t>
      without_membarrier;                // ranks that could not register for expedited barriers
  AtomicWord<std::uint32_t> finalizing;  // ranks whose record says so
  alignas(64) AtomicWord<std::uint32_t> barrier_arrivals;  // at all barriers, of all ranks
  alignas(64) AtomicWord<std::uint32_t> barrier_round;     // the last barrier that all arrived at

  /// @return the record of @p rank.  Precondition: @p rank is below `size`.
  [[nodiscard]] RankRecord& record(Rank rank) noexcept {
    return reinterpret_cast<RankRecord*>(this + 1)[index(rank)];
  }
  /// @return the size of the page of a job of @p ranks.
  [[nodiscard]] static constexpr std::size_t bytes_for(std::uint32_t ranks) noexcept {
    return sizeof(JobPage) + ranks * sizeof(RankRecord);
  }
};
static_assert(sizeof(JobPage) == 256);

/// Rings @p record's doorbell and wakes the threads that sleep on it.  Cost: a locked instruction
/// and a system call.
void ring_doorbell(RankRecord& record) noexcept;

}  // namespace viaduct
