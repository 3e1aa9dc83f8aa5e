/// Signals, threads that block them, and protected pages: nothing of them is lost or changed when
/// Split-C moves static data into shared memory, nor when a process forks.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "viaduct/splitc.hpp"

namespace {

using namespace viaduct::splitc;

constexpr std::size_t kPage = 4096;

void require(bool passed, const char* what) {
  if (passed) return;
  std::fprintf(stderr, "%s\n", what);
  std::_Exit(1);
}

struct alignas(kPage) Page {
  volatile char bytes[kPage];
};
Page g_read_only;
Page g_no_access;

char g_much[16 << 20];
volatile long g_ticks = 0;
volatile long* g_ticks_elsewhere = nullptr;  // in private memory

void tick(int) {
  g_ticks = g_ticks + 1;
  *g_ticks_elsewhere = *g_ticks_elsewhere + 1;
}

void count_ticks(int number) {
  g_ticks_elsewhere = static_cast<volatile long*>(
      ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(g_much, 1, sizeof g_much);
  struct sigaction act {};
  act.sa_handler = tick;
  act.sa_flags = SA_RESTART;
  require(::sigaction(number, &act, nullptr) == 0, "sigaction");
}

/// The next process' static data are read as they are, directly or by messages.
void read_next() {
  static int number = 0;
  number = 100 + MYPROC;
  barrier();
  const int next = (MYPROC + 1) % PROCS;
  require(read(toglobal(next, &number)) == 100 + next, "the next process' number is wrong");
  barrier();
}

/// A timer ticks while the program starts.
int moved_under_ticks(int, char**) {
  const itimerval none{};
  ::setitimer(ITIMER_REAL, &none, nullptr);
  require(*g_ticks_elsewhere != 0, "no tick");
  require(g_ticks == *g_ticks_elsewhere, "a handler's write is lost");
  return 0;
}
void start_ticks() {
  count_ticks(SIGALRM);
  const itimerval often{{0, 500}, {0, 500}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
}

[[nodiscard]] bool ticks_agree() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const bool agree = g_ticks == *g_ticks_elsewhere;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return agree;
}

/// Parent and child get signals all the time, from the fork on.
int forks_under_ticks(int, char**) {
  require(::setpgid(0, 0) == 0, "setpgid");
  count_ticks(SIGUSR1);
  sigset_t mine;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &mine, nullptr);
  std::atomic<bool> over{false};
  std::thread sender([&over] {
    while (!over) {
      ::kill(0, SIGUSR1);
      ::usleep(100);
    }
  });
  ::pthread_sigmask(SIG_UNBLOCK, &mine, nullptr);
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      sigset_t blocked;
      ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
      ::_exit(sigismember(&blocked, SIGUSR1) == 1 ? 4 : ticks_agree() ? 0 : 3);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) require(errno == EINTR, "waitpid");
    require(status != 3 << 8, "a handler of the parent has changed what the child gets");
    require(status == 0, "the child blocks signals");
  }
  over = true;
  sender.join();
  require(ticks_agree(), "a handler of a child has written to its parent's memory");
  return 0;
}

/// A thread that is woken by the hold blocks all signals then: for @p ms, or for ever.
void block_when_woken(int ms) {
  std::thread([ms] {
    ::usleep(100'000'000);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    ::usleep(static_cast<unsigned>(ms) * 1000);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }).detach();
  ::usleep(20'000);
}
int reads(int, char**) {
  read_next();
  return 0;
}

std::atomic<int> g_urgent_of_thread{0};
std::atomic<int> g_urgent_of_process{0};
std::atomic<int> g_urgent_wrong{0};

void take_urgent(int number, siginfo_t* info, void*) {
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  const bool right = number == SIGURG && info->si_pid == ::getpid() &&
                     sigismember(&blocked, SIGURG) == 1 && sigismember(&blocked, SIGUSR2) == 1 &&
                     sigismember(&blocked, SIGUSR1) == 0;
  if (!right) ++g_urgent_wrong;
  if (info->si_code == SI_TKILL) ++g_urgent_of_thread;
  if (info->si_code == SI_USER) ++g_urgent_of_process;
}

/// While the hold waits for it, a thread sends the program's own SIGURG to itself, and one to the
/// process.
void send_urgent() {
  struct sigaction act {};
  act.sa_sigaction = take_urgent;
  act.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaddset(&act.sa_mask, SIGUSR2);
  require(::sigaction(SIGURG, &act, nullptr) == 0, "sigaction");
  std::atomic<bool> blocks{false};
  std::thread([&blocks] {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    blocks = true;
    // Where the machine is so busy that the hold has given up by then, the signals come later.
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    struct sigaction now {};
    do ::sigaction(SIGURG, nullptr, &now);
    while (now.sa_sigaction == take_urgent && std::chrono::steady_clock::now() < late);
    ::pthread_kill(::pthread_self(), SIGURG);
    ::kill(::getpid(), SIGURG);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    while (true) ::usleep(100'000);
  }).detach();
  while (!blocks) ::usleep(100);
}
int urgent_came(int, char**) {
  for (int i = 0; i < 5000 && g_urgent_of_process + g_urgent_of_thread < 2; ++i) ::usleep(1000);
  require(g_urgent_of_thread == 1, "the SIGURG for the thread has not come once");
  require(g_urgent_of_process == 1, "the SIGURG for the process has not come once");
  require(g_urgent_wrong == 0, "a SIGURG came otherwise than without the hold");
  return 0;
}

void protect_pages(bool all) {
  g_read_only.bytes[7] = 7;
  g_no_access.bytes[8] = 8;
  require(::mprotect(&g_read_only, kPage, PROT_READ) == 0, "mprotect");
  if (all) require(::mprotect(&g_no_access, kPage, PROT_NONE) == 0, "mprotect");
}
/// The system refuses to write to pages, or to read them, where the program could not.
int pages_are_protected(int, char** argv) {
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  require(::read(zero, &g_read_only, 1) == -1 && errno == EFAULT, "the page can be written");
  require(g_read_only.bytes[7] == 7, "the page's contents are lost");
  ::close(zero);
  if (std::string(argv[1]) == "read_only") return 0;
  int pipe[2];
  require(::pipe(pipe) == 0, "pipe");
  require(::write(pipe[1], &g_no_access, 1) == -1 && errno == EFAULT, "the page can be read");
  require(::mprotect(&g_no_access, kPage, PROT_READ) == 0, "mprotect");
  require(g_no_access.bytes[8] == 8, "the contents of the page without access are lost");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const char* const rank = std::getenv("VIADUCT_RANK");
  int (*body)(int, char**) = reads;
  if (what == "ticks") {
    start_ticks();
    body = moved_under_ticks;
  } else if (what == "forks") {
    body = forks_under_ticks;
  } else if (what == "blocks_a_while") {
    block_when_woken(400);
  } else if (what == "blocks_on") {
    // In one process alone: the others' static data is shared.
    if (rank != nullptr && *rank == '0') block_when_woken(1'000'000);
  } else if (what == "urgent") {
    send_urgent();
    body = urgent_came;
  } else if (what == "read_only" || what == "protected") {
    protect_pages(what == "protected");
    body = pages_are_protected;
  }
  return run(body, argc, argv);
}
