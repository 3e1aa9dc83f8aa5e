#include "splitc/src/held_threads.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::splitc::detail {
namespace {

// Of the handler. They may lie in the pages that are moved meanwhile: their contents and their
// address stay.
std::atomic<std::uint32_t> g_held{0};
std::atomic<bool> g_go{true};
struct sigaction g_before {};  // the program's own action for SIGURG

void pause_a_little() noexcept {
  const timespec moment{0, 20'000};
  ::syscall(SYS_nanosleep, &moment, nullptr);
}

/// The first signals of @p set, as the kernel has them.
SignalMask to_mask(const sigset_t& set) noexcept {
  SignalMask mask = 0;
  std::memcpy(&mask, &set, sizeof mask);
  return mask;
}

constexpr SignalMask kUrgent = SignalMask{1} << (SIGURG - 1);

/// Does with a SIGURG what would have been done with it without the hold. By default SIGURG is
/// ignored.
void act_as_before(int number, siginfo_t* info, void* context) {
  if (g_before.sa_handler == SIG_DFL || g_before.sa_handler == SIG_IGN) return;
  const SignalMask interrupted = to_mask(static_cast<const ucontext_t*>(context)->uc_sigmask);
  const bool defers = (g_before.sa_flags & SA_NODEFER) == 0;
  set_blocked_signals(interrupted | to_mask(g_before.sa_mask) | (defers ? kUrgent : 0));
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(number, info, context);
  } else {
    g_before.sa_handler(number);
  }
}

/// The handler of SIGURG. A signal that comes too late, or from elsewhere (out-of-band data), does
/// not hold the thread for longer than one of HeldThreads does. The program's handler may leave by
/// siglongjmp() or pthread_exit(), so it runs last.
void stand_still(int number, siginfo_t* info, void* context) {
  const int error = errno;
  const bool is_own = info->si_code == SI_QUEUE && info->si_value.sival_ptr == &g_held;
  if (!g_go.load()) {
    ++g_held;
    while (!g_go.load()) pause_a_little();
    --g_held;
  }
  errno = error;
  if (is_own) return;
  act_as_before(number, info, context);
  errno = error;
}

/// Sends SIGURG to thread @p id of this process, with a value that stand_still() knows.
void send_to(pid_t id) noexcept {
  siginfo_t info{};
  info.si_signo = SIGURG;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_ptr = &g_held;
  ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), id, SIGURG, &info);
}

/// Numbers of all threads but this one. No memory is allocated.
HeldThreads::Threads other_threads() noexcept {
  HeldThreads::Threads threads;
  const FileDescriptor folder(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return threads;
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  alignas(8) std::array<char, 4096> entries;
  long got = 0;
  while ((got = ::syscall(SYS_getdents64, folder.get(), entries.data(), entries.size())) > 0) {
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      const auto id = static_cast<pid_t>(std::atoi(entry->d_name));
      if (id == 0 || id == self) continue;
      if (threads.count == HeldThreads::kMostThreads) return threads;
      threads.id[threads.count++] = id;
    }
  }
  threads.are_known = got == 0;
  return threads;
}

/// Whether thread @p id takes SIGURG, or has ended.
bool takes_signal(pid_t id) noexcept {
  std::array<char, 64> path{"/proc/self/task/"};
  std::size_t end = std::strlen(path.data());
  for (pid_t power = 1'000'000'000; power != 0; power /= 10)
    if (id >= power) path[end++] = static_cast<char>('0' + id / power % 10);
  std::memcpy(path.data() + end, "/status", 8);
  const FileDescriptor file(::open(path.data(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return errno == ENOENT;
  std::array<char, 4096> text;
  const ssize_t got = ::read(file.get(), text.data(), text.size() - 1);
  if (got <= 0) return got < 0 && errno == ESRCH;
  text[static_cast<std::size_t>(got)] = '\0';
  constexpr std::string_view kBlocked = "\nSigBlk:";
  const char* const found = std::strstr(text.data(), kBlocked.data());
  if (found == nullptr) return false;
  const std::uint64_t blocked = std::strtoull(found + kBlocked.size(), nullptr, 16);
  return (blocked & kUrgent) == 0;
}

}  // namespace

HeldThreads::HeldThreads(std::uint64_t blocked_ns) noexcept : mask_before_(block_all_signals()) {
  g_go = false;
  all_ = hold(blocked_ns);
  if (!all_) g_go = true;
}

bool HeldThreads::hold(std::uint64_t blocked_ns) noexcept {
  Threads signalled;
  const std::uint64_t begin = monotonic_ns();
  for (std::uint64_t waited = 0; waited < kPatienceNs; waited = monotonic_ns() - begin) {
    const Threads others = other_threads();
    threads_ = others.are_known ? others.count + 1 : 0;
    if (!others.are_known) return false;
    if (others.count == g_held.load()) {
      // One of them may have made another before it stood still.
      const Threads again = other_threads();
      if (again.are_known && again.count == others.count) return true;
    }
    if (!signal(others, signalled) && waited >= blocked_ns) return false;
    pause_a_little();
  }
  return false;
}

/// Sends SIGURG to those of @p threads that have not had it. Answers whether no thread blocks it.
bool HeldThreads::signal(const Threads& threads, Threads& signalled) noexcept {
  if (!has_handler_) {
    ::sigaction(SIGURG, nullptr, &g_before);
    struct sigaction act {};
    act.sa_sigaction = stand_still;
    act.sa_flags = SA_SIGINFO | SA_RESTART | (g_before.sa_flags & SA_ONSTACK);
    // Those that the C library keeps for itself, too: a cancelled thread would run its cleanup.
    std::memset(&act.sa_mask, 0xff, sizeof act.sa_mask);
    has_handler_ = ::sigaction(SIGURG, &act, nullptr) == 0;
  }
  bool all_take = true;
  for (std::size_t i = 0; i < threads.count; ++i) {
    const pid_t id = threads.id[i];
    const auto end = signalled.id.begin() + static_cast<std::ptrdiff_t>(signalled.count);
    if (std::find(signalled.id.begin(), end, id) != end) continue;
    const bool takes = signalled.count != HeldThreads::kMostThreads && takes_signal(id);
    all_take = all_take && takes;
    if (!takes) {
      unheld_ = id;
      continue;
    }
    signalled.id[signalled.count++] = id;
    send_to(id);
  }
  return all_take;
}

HeldThreads::~HeldThreads() {
  g_go = true;
  while (g_held.load() != 0) pause_a_little();
  if (has_handler_) ::sigaction(SIGURG, &g_before, nullptr);
  set_blocked_signals(mask_before_);
}

}  // namespace viaduct::splitc::detail
