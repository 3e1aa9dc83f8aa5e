#include "benchmarks/common/forked.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/machine.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/types.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct::bench {
namespace {

struct Gate {
  alignas(kDestructivePairBytes) AtomicWord<std::uint32_t> started;
  alignas(kDestructivePairBytes) AtomicWord<std::uint32_t> go;  // a futex; 1: start
};

// A child's whole life.
[[noreturn]] void child(Gate& gate, std::uint32_t number, pid_t parent,
                        const std::function<void(std::uint32_t)>& body) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  unpin();
  gate.started.fetch_add(1, std::memory_order_release);
  futex_wake(gate.started, 1);
  while (gate.go.load(std::memory_order_acquire) == 0) futex_wait(gate.go, 0, -1);
  body(number);
  _exit(0);
}

int await_end(pid_t pid) noexcept {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void kill_all(const std::vector<pid_t>& children) noexcept {
  for (const pid_t pid : children) {
    kill(pid, SIGKILL);
    await_end(pid);
  }
}

}  // namespace

MappedMemory map_shared(std::size_t bytes) {
  MappedMemory memory(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), bytes);
  if (!memory) throw_errno(fmt::format("cannot map {} bytes shared", bytes));
  return memory;
}

void run_forked(std::uint32_t count, const char* what,
                const std::function<void(std::uint32_t)>& body) {
  const MappedMemory memory = map_shared(sizeof(Gate));
  auto& gate = *reinterpret_cast<Gate*>(memory.get());
  const pid_t parent = getpid();
  std::vector<pid_t> children;
  children.reserve(count);
  for (std::uint32_t number = 0; number < count; ++number) {
    const pid_t pid = fork();
    if (pid == 0) child(gate, number, parent, body);
    if (pid < 0) {
      const int why = errno;
      kill_all(children);
      throw Error(why, fmt::format("cannot fork process {} of {} for {}", number + 1, count, what));
    }
    children.push_back(pid);
  }
  for (std::uint32_t started = 0; started < count;) {
    futex_wait(gate.started, started, 100'000'000);
    started = gate.started.load(std::memory_order_acquire);
  }
  gate.go.store(1, std::memory_order_release);
  futex_wake(gate.go, static_cast<int>(count));
  bool well = true;
  for (const pid_t pid : children) {
    const int status = await_end(pid);
    well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  if (!well) throw Error(std::errc::io_error, fmt::format("a process of {} was ended", what));
}

}  // namespace viaduct::bench
