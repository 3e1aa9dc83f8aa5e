#include "runtime/launcher/processes.hpp"

#include <dirent.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>

#include "runtime/src/control_group.hpp"
#include "runtime/src/launch_variables.hpp"
#include "runtime/src/pidfd.hpp"

namespace viaduct::launcher {
namespace {

constexpr long kPauseNs = 2'000'000;
// A process that forks while /proc is read can be missed; its child is found in the next pass, so
// that a few empty passes in a row mean that nothing is left.
constexpr int kEmptyPasses = 3;
// A process that cannot be killed (another user's, or stuck in the kernel) is given up after some
// seconds.
constexpr int kMostPasses = 2000;

void pause_a_moment() noexcept {
  const timespec moment{0, kPauseNs};
  ::nanosleep(&moment, nullptr);
}

struct Stat {
  char state = '\0';
  pid_t parent = 0;
  long threads = 0;
  unsigned long long start = 0;

  /// The state is the first thread's, which may have ended while others run on.
  [[nodiscard]] bool has_ended() const noexcept {
    return state == 'X' || (state == 'Z' && threads <= 1);
  }
};

Stat read_stat(pid_t pid) {
  const auto text = read_small_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return {};
  const std::size_t end_of_name = text->rfind(')');  // the name itself may hold anything
  if (end_of_name == std::string::npos || end_of_name + 2 >= text->size()) return {};
  std::istringstream fields(text->substr(end_of_name + 2));
  Stat stat;
  fields >> stat.state >> stat.parent;
  std::string skipped;
  constexpr int kBetween = 15;  // from the fifth field to the one before num_threads, the 20th
  for (int i = 0; i < kBetween; ++i) fields >> skipped;
  fields >> stat.threads >> skipped >> stat.start;
  return stat;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return pids;
  while (const dirent* entry = ::readdir(proc.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0)
      pids.push_back(std::atoi(entry->d_name));
  }
  return pids;
}

bool is_of_job(pid_t pid, const std::string& job_id) {
  const auto text = read_small_file("/proc/" + std::to_string(pid) + "/environ");
  if (!text) return false;
  const std::string wanted = std::string(launch::kJobId) + "=" + job_id;
  std::size_t at = 0;
  while (at < text->size()) {
    const std::size_t end = std::min(text->find('\0', at), text->size());
    const std::string_view entry(text->data() + at, end - at);
    // A job that a rank started has an id that goes on after a dot.
    if (entry.substr(0, wanted.size()) == wanted &&
        (entry.size() == wanted.size() || entry[wanted.size()] == '.')) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

/// Kills @p pid if @p still holds for it. The pidfd is opened before @p still is asked, so that
/// another process that has got the number meanwhile is not killed.
template <typename Condition>
void kill_if(pid_t pid, Condition still) {
  const FileDescriptor process = open_pidfd(pid);
  if (!still()) return;
  if (!process.is_open() ||
      ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) != 0)
    ::kill(pid, SIGKILL);
}

void reap_all() noexcept {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace

char process_state(pid_t pid) { return read_stat(pid).state; }

std::vector<Found> descendants_of(pid_t ancestor, const std::vector<pid_t>& except) {
  std::multimap<pid_t, Found> children;
  std::map<pid_t, bool> ended;
  for (const pid_t pid : all_processes()) {
    const Stat stat = read_stat(pid);
    if (stat.state == '\0') continue;
    children.emplace(stat.parent, Found{pid, stat.start});
    ended.emplace(pid, stat.has_ended());
  }
  std::vector<Found> found;
  std::vector<pid_t> open{ancestor};
  while (!open.empty()) {
    const auto [first, last] = children.equal_range(open.back());
    open.pop_back();
    for (auto child = first; child != last; ++child) {
      const pid_t pid = child->second.pid;
      if (std::find(except.begin(), except.end(), pid) != except.end()) continue;
      open.push_back(pid);
      if (!ended[pid]) found.push_back(child->second);
    }
  }
  return found;
}

std::vector<pid_t> processes_of_job(const std::string& job_id) {
  std::vector<pid_t> found;
  for (const pid_t pid : all_processes()) {
    if (pid != ::getpid() && is_of_job(pid, job_id)) found.push_back(pid);
  }
  return found;
}

std::size_t kill_descendants_once(const std::vector<pid_t>& except) {
  const std::vector<Found> victims = descendants_of(::getpid(), except);
  for (const Found& victim : victims) {
    kill_if(victim.pid, [&] { return read_stat(victim.pid).start == victim.start; });
  }
  return victims.size();
}

bool kill_descendants(const std::vector<pid_t>& except) {
  int empty = 0;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const bool found = kill_descendants_once(except) != 0;
    reap_all();
    if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD)
      return true;  // no child: nothing below
    empty = found ? 0 : empty + 1;
    if (!except.empty() && empty == kEmptyPasses) return true;
    pause_a_moment();
  }
  return false;
}

void kill_job(const std::string& job_id) {
  int empty = 0;
  for (int pass = 0; pass < kMostPasses && empty < kEmptyPasses; ++pass) {
    const std::vector<pid_t> victims = processes_of_job(job_id);
    for (const pid_t pid : victims) {
      kill_if(pid, [&] { return is_of_job(pid, job_id); });
    }
    empty = victims.empty() ? empty + 1 : 0;
    pause_a_moment();
  }
}

}  // namespace viaduct::launcher
