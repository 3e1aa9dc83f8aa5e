/// Children that a process forks have its memory as it was, and change nothing of it.

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/splitc/memory_rig.hpp"
#include "viaduct/runtime/bootstrap.hpp"

extern char** environ;

namespace {

using viaduct::Job;
using viaduct::Rank;
using viaduct::splitc::detail::heap_of_program;
using viaduct::splitc::detail::Memory;
using viaduct::splitc_test::require;
using viaduct::splitc_test::to_everybody;

constexpr std::size_t kWords = 20'000;
constexpr std::uint32_t kMaxRanks = 16;
using Words = std::array<std::uint64_t, kWords>;

Words g_static[kMaxRanks];

struct Rig {
  Job& job;
  Memory& memory;
  std::uint32_t me = index(job.rank());
  std::unique_ptr<Words> heap = std::make_unique<Words>();
  Words* spread = static_cast<Words*>(memory.localize(memory.allocate_alike(sizeof(Words))));
  std::array<Words*, 3> all{&g_static[me], heap.get(), spread};

  void fill(std::uint64_t with) const {
    for (Words* words : all) words->fill(with);
  }
  [[nodiscard]] bool holds(std::uint64_t value) const {
    return std::all_of(all.begin(), all.end(), [value](const Words* words) {
      return std::all_of(words->begin(), words->end(),
                         [value](std::uint64_t word) { return word == value; });
    });
  }
};

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) require(errno == EINTR, "waitpid");
  return status;
}
bool exited_with(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

/// What a child does: looks, scribbles, allocates, ends.
[[noreturn]] void be_child(const Rig& rig, std::uint64_t expected, int how) {
  if (!rig.holds(expected)) ::_exit(3);
  rig.fill(~expected);
  if (!rig.holds(~expected)) ::_exit(4);
  for (int i = 1; i < 50; ++i) {
    auto* block = static_cast<unsigned char*>(std::malloc(static_cast<std::size_t>(i) * 1000));
    if (block == nullptr) ::_exit(5);
    std::memset(block, i, static_cast<std::size_t>(i) * 1000);
    if (i % 2 == 0) std::free(block);
  }
  if (how % 3 == 1) ::kill(::getpid(), SIGKILL);
  if (how % 3 == 2) ::execl("/bin/true", "true", nullptr);
  ::_exit(0);
}

/// The parent goes on writing as soon as fork() returns: the child must not see that.
void fork_many(const Rig& rig, int forks) {
  for (int i = 0; i < forks; ++i) {
    const auto value = static_cast<std::uint64_t>(i) * 1000 + rig.me;
    rig.fill(value);
    const pid_t child = ::fork();
    require(child >= 0, "fork");
    if (child == 0) be_child(rig, value, i);
    rig.fill(value + 1);
    const int status = status_of(child);
    require(
        i % 3 == 1 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL : exited_with(status, 0),
        fmt::format("fork {}: the child ended with {:#x}", i, status));
    require(rig.holds(value + 1), fmt::format("fork {}: the child changed its parent's memory", i));
  }
}

/// A child's child has a copy of the copy.
void fork_twice(const Rig& rig) {
  rig.fill(7);
  const pid_t child = ::fork();
  if (child == 0) {
    rig.fill(8);
    const pid_t grandchild = ::fork();
    if (grandchild == 0) ::_exit(rig.holds(8) ? (rig.fill(9), 0) : 3);
    const int status = status_of(grandchild);
    ::_exit(exited_with(status, 0) && rig.holds(8) ? 0 : 4);
  }
  require(exited_with(status_of(child), 0), "the child's child");
  require(rig.holds(7), "the child's child changed its grandparent's memory");
}

/// A peer that goes on writing reaches the parent, not the child.
void peers_reach_the_parent(Rig& rig) {
  rig.fill(1);
  const auto places = to_everybody(rig.job, rig.memory.globalize(&(*rig.spread)[0]));
  std::array<int, 2> pipe{};
  require(::pipe(pipe.data()) == 0, "pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    char go = 0;
    ::close(pipe[1]);
    if (::read(pipe[0], &go, 1) != 1) ::_exit(3);
    ::_exit(rig.holds(1) ? 0 : 4);
  }
  rig.job.bootstrap().fence();
  const std::uint32_t next = (rig.me + 1) % rig.job.size();
  auto* const theirs = rig.memory.find(next, places[next], sizeof(std::uint64_t));
  require(theirs != nullptr, "find");
  std::memset(theirs, 0x77, sizeof(std::uint64_t));
  rig.job.bootstrap().fence();
  require((*rig.spread)[0] == 0x7777777777777777, "the peer's word is not here");
  require(::write(pipe[1], "g", 1) == 1, "write");
  require(exited_with(status_of(child), 0), "the child sees its parent's memory");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

/// Neither a child that cannot have a copy nor a missing descriptor makes the parent hang.
void shortage(const Rig& rig) {
  rig.fill(5);
  rlimit space{};
  require(::getrlimit(RLIMIT_AS, &space) == 0, "getrlimit");
  const rlimit little{1, space.rlim_max};
  require(::setrlimit(RLIMIT_AS, &little) == 0, "setrlimit");
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  require(::setrlimit(RLIMIT_AS, &space) == 0, "setrlimit");
  require(child > 0 && exited_with(status_of(child), 127), "a child without address space");

  rlimit files{};
  require(::getrlimit(RLIMIT_NOFILE, &files) == 0, "getrlimit");
  const rlimit none{0, files.rlim_max};
  require(::setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
  const pid_t other = ::fork();
  if (other == 0) {
    rig.fill(6);
    ::_exit(0);
  }
  require(::setrlimit(RLIMIT_NOFILE, &files) == 0, "setrlimit");
  require(other > 0 && exited_with(status_of(other), 0), "a child without descriptors");
  require(rig.holds(5), "a child changed its parent's memory");
}

/// What does not fork, or execs at once, costs no copy and works.
void start_programs(const Rig& rig) {
  rig.fill(11);
  require(std::system("exit 3") == 3 << 8, "system");
  std::array<char, 16> text{};
  std::FILE* const pipe = ::popen("echo hello", "r");
  require(pipe != nullptr && std::fgets(text.data(), text.size(), pipe) != nullptr &&
              std::string(text.data()) == "hello\n" && ::pclose(pipe) == 0,
          "popen");
  pid_t child = 0;
  std::array<char*, 2> arguments{const_cast<char*>("true"), nullptr};
  require(::posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments.data(), environ) == 0,
          "posix_spawn");
  require(exited_with(status_of(child), 0), "posix_spawn");
  require(rig.holds(11), "a started program changed its parent's memory");
}

/// Two threads fork at the same time.
void fork_in_two_threads(const Rig& rig) {
  rig.fill(21);
  std::atomic<int> wrong{0};
  const auto forks = [&] {
    for (int i = 0; i < 20; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        if (!rig.holds(21)) ::_exit(3);
        rig.fill(22);
        ::_exit(0);
      }
      int status = -1;
      if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) ++wrong;
    }
  };
  std::thread other(forks);
  forks();
  other.join();
  require(wrong == 0 && rig.holds(21), "forks in two threads");
}

int body(Job& job, int argc, char** argv) {
  try {
    Memory memory(job, viaduct::splitc::load_settings());
    Rig rig{job, memory};
    const int forks = argc > 1 ? std::atoi(argv[1]) : 100;
    fork_many(rig, forks);
    job.bootstrap().fence();
    if (!job.threads_mode()) {
      fork_twice(rig);
      start_programs(rig);
      fork_in_two_threads(rig);
      shortage(rig);
      peers_reach_the_parent(rig);
    }
    job.bootstrap().fence();
    return 0;
  } catch (const viaduct::splitc_test::Failed&) {
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) { return viaduct::splitc_test::run_ranks(body, argc, argv); }
