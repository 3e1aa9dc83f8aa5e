#include "benchmarks/common/oversubscribed.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/machine.hpp"
#include "benchmarks/common/statistics.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/mapped_memory.hpp"
#include "viaduct/runtime/types.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct::bench {
namespace {

struct PairLines {
  struct alignas(kDestructivePairBytes) Word {
    AtomicWord<std::uint32_t> value;
  };
  Word to[2];  // by receiver
  alignas(kDestructivePairBytes) std::uint64_t round_trips;
  double elapsed_ns;
};

// Followed in memory by the pairs.
struct alignas(kDestructivePairBytes) Board {
  AtomicWord<std::uint32_t> started;
  AtomicWord<std::uint32_t> go;  // a futex; 1: start
  [[nodiscard]] PairLines& pair(std::uint32_t number) noexcept {
    return reinterpret_cast<PairLines*>(this + 1)[number];
  }
};

constexpr std::uint32_t kStop = 0xffffffff;

// Anonymous shared memory, gone with its last process.
MappedMemory map_shared(std::size_t bytes) {
  MappedMemory memory(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), bytes);
  if (!memory) throw_errno(fmt::format("cannot map {} bytes shared", bytes));
  return memory;
}

// Returns once the word is no longer `old`, with what it is then.
std::uint32_t await_change(const AtomicWord<std::uint32_t>& word, std::uint32_t old,
                           PairWait wait) noexcept {
  for (;;) {
    const std::uint32_t seen = word.load(std::memory_order_acquire);
    if (seen != old) return seen;
    if (wait == PairWait::yield) {
      sched_yield();
    } else {
      futex_wait(word, old, -1);
    }
  }
}

void send(AtomicWord<std::uint32_t>& word, std::uint32_t value, PairWait wait) noexcept {
  word.store(value, std::memory_order_release);
  if (wait == PairWait::futex) futex_wake(word, 1);
}

void lead(PairLines& pair, PairWait wait, std::uint64_t window_ns) noexcept {
  const std::uint64_t start = monotonic_ns();
  std::uint32_t trip = 0;
  std::uint64_t now = start;
  for (; now - start < window_ns; now = monotonic_ns()) {
    send(pair.to[1].value, trip + 1, wait);
    await_change(pair.to[0].value, trip, wait);
    ++trip;
  }
  pair.elapsed_ns = static_cast<double>(now - start);
  pair.round_trips = trip;
  send(pair.to[1].value, kStop, wait);
}

void follow(PairLines& pair, PairWait wait) noexcept {
  for (std::uint32_t seen = 0;;) {
    seen = await_change(pair.to[1].value, seen, wait);
    if (seen == kStop) return;
    send(pair.to[0].value, seen, wait);
  }
}

// A child's whole life: after fork in a program that may have threads, so nothing that allocates or
// locks.
[[noreturn]] void child(Board& board, std::uint32_t number, PairWait wait, std::uint32_t window_ms,
                        pid_t parent) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  unpin();
  board.started.fetch_add(1, std::memory_order_release);
  futex_wake(board.started, 1);
  while (board.go.load(std::memory_order_acquire) == 0) futex_wait(board.go, 0, -1);
  PairLines& pair = board.pair(number / 2);
  if (number % 2 == 0) {
    lead(pair, wait, std::uint64_t{window_ms} * 1'000'000);
  } else {
    follow(pair, wait);
  }
  _exit(0);
}

void kill_all(const std::vector<pid_t>& children) noexcept {
  for (const pid_t pid : children) {
    kill(pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

void reap(const std::vector<pid_t>& children) {
  bool well = true;
  for (const pid_t pid : children) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  if (!well)
    throw Error(std::errc::io_error, "a process of the oversubscribed ping-pong was ended");
}

}  // namespace

double oversubscribed_rtt_ns(std::uint32_t ranks, PairWait wait, std::uint32_t window_ms) {
  const std::uint32_t pairs = ranks / 2;
  const MappedMemory memory = map_shared(sizeof(Board) + pairs * sizeof(PairLines));
  auto& board = *reinterpret_cast<Board*>(memory.get());
  const pid_t parent = getpid();
  std::vector<pid_t> children;
  children.reserve(2 * pairs);
  for (std::uint32_t number = 0; number < 2 * pairs; ++number) {
    const pid_t pid = fork();
    if (pid == 0) child(board, number, wait, window_ms, parent);
    if (pid < 0) {
      const int why = errno;
      kill_all(children);
      throw Error(why, fmt::format("cannot fork process {} of {} for the oversubscribed ping-pong",
                                   number + 1, 2 * pairs));
    }
    children.push_back(pid);
  }
  for (std::uint32_t started = 0; started < 2 * pairs;) {
    futex_wait(board.started, started, 100'000'000);
    started = board.started.load(std::memory_order_acquire);
  }
  board.go.store(1, std::memory_order_release);
  futex_wake(board.go, static_cast<int>(2 * pairs));
  reap(children);
  std::vector<double> round_trips;
  for (std::uint32_t pair = 0; pair < pairs; ++pair) {
    const PairLines& lines = board.pair(pair);
    round_trips.push_back(lines.elapsed_ns / static_cast<double>(lines.round_trips));
  }
  return median(round_trips);
}

}  // namespace viaduct::bench
