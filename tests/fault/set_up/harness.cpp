#include "tests/fault/set_up/harness.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/fault/set_up/inject.hpp"

namespace set_up {
namespace {

constexpr std::size_t kMostComplaints = 12;

/// What the process that tries tells the one that waits for it.
struct Progress {
  long n;
  bool finished;
  char complaints[8000];
};

const Injection* g_injection = nullptr;
std::function<void()> g_begin;       // null: it has begun
std::atomic<bool> g_struck = false;  // ranks that are threads say so, each for itself

void complain(Progress& progress, const std::string& text) {
  const std::size_t used = std::strlen(progress.complaints);
  if (used + text.size() + 2 > sizeof progress.complaints) return;
  std::snprintf(progress.complaints + used, sizeof progress.complaints - used, "%s\n",
                text.c_str());
}

/// Everything that a failure may not leave.
std::vector<std::string> look(const Family& family) {
  std::vector<std::string> all = inject::mapped();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the descriptor that lists the others
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (!gone && target.string().find("/proc/") == std::string::npos)
      all.push_back("descriptor " + entry.path().filename().string() + " (" + target.string() +
                    ")");
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("memfd:") != std::string::npos) all.push_back("a mapping: " + line);
  const auto more = family.look();
  all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end());
  return all;
}

std::string differences(const Family& family, const std::vector<std::string>& before,
                        const std::vector<std::string>& after) {
  std::vector<std::string> left;
  std::vector<std::string> gone;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(left));
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(gone));
  std::string text;
  for (const std::string& each : left)
    if (!family.stays(each)) text += "; left: " + each;
  for (const std::string& each : gone) text += "; gone: " + each;
  return text;
}

std::string try_again(const Family& family) {
  ::alarm(kMostSeconds);
  try {
    family.again();
  } catch (const std::exception& problem) {
    return std::string("; not even the next time: ") + problem.what();
  }
  ::alarm(0);
  return {};
}

void try_one(const Family& family, const Injection& injection, long n, Progress& progress) {
  const auto before = look(family);
  std::string sentence;
  bool threw = false;
  bool finding = false;  // of the test
  g_struck = false;
  ::alarm(kMostSeconds);
  if (family.late)
    g_begin = [&] { injection.arm(n); };
  else
    injection.arm(n);
  try {
    family.attempt();
  } catch (const std::exception& problem) {
    threw = true;
    finding = dynamic_cast<const std::logic_error*>(&problem) != nullptr;
    is_done();
    sentence = problem.what();
  }
  is_done();
  ::alarm(0);
  std::string wrong;
  if (threw || !family.once || family.ends) wrong = differences(family, before, look(family));
  if (finding) wrong += "; the test finds it wrong";
  if (threw && !finding) wrong += try_again(family);
  if (threw && sentence.empty()) wrong += "; the exception has no sentence";
  if (threw && !g_struck) wrong += "; it failed without an injected failure";
  if (!wrong.empty())
    complain(progress,
             "number " + std::to_string(n) + " (" + (threw ? sentence : "went on") + ")" + wrong);
  progress.finished = !g_struck;
}

[[noreturn]] void try_from(const Family& family, const Injection& injection, long first,
                           Progress& progress) {
  g_injection = &injection;
  try {
    family.prepare();
  } catch (const std::exception& problem) {
    complain(progress, std::string("cannot be prepared: ") + problem.what());
    progress.finished = true;
  }
  for (long n = first; !progress.finished; n += family.stride) {
    progress.n = n;
    try_one(family, injection, n, progress);
    if (family.once) break;
  }
  std::fflush(nullptr);
  ::_exit(0);
}

/// Says how a process has ended that should have ended with @p most_code or less.
void look_at_end(Progress& progress, const char* process, int status, int most_code) {
  std::string end;
  if (WIFSIGNALED(status))
    end = WTERMSIG(status) == SIGALRM ? "hangs"
                                      : "crashes, by signal " + std::to_string(WTERMSIG(status));
  else if (WEXITSTATUS(status) > most_code)
    end = "ends with code " + std::to_string(WEXITSTATUS(status));
  if (!end.empty())
    complain(progress, "number " + std::to_string(progress.n) + ": " + process + " " + end);
}

}  // namespace

void begins() {
  if (g_begin) g_begin();
}

void is_done() noexcept {
  if (g_injection != nullptr && g_injection->disarm()) g_struck = true;
}

std::vector<std::string> try_all(const Family& family, const Injection& injection, long& attempts) {
  std::vector<std::string> wrong;
  void* const shared =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& progress = *static_cast<Progress*>(shared);
  progress.n = 1 - family.stride;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // of the processes that attempts fork
  attempts = 0;
  while (!progress.finished && wrong.size() < kMostComplaints) {
    const long first = progress.n + family.stride;
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) try_from(family, injection, first, progress);
    int status = 0;
    ::waitpid(child, &status, 0);
    attempts += (progress.n - first) / family.stride + 1;
    const bool stopped = family.may_stop && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    if (!stopped) look_at_end(progress, "it", status, family.may_end ? 1 : 0);
    while (::wait(&status) > 0) look_at_end(progress, "a process beside it", status, 1);
    std::string text(progress.complaints);
    progress.complaints[0] = '\0';
    for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
      wrong.push_back(family.name + ", " + injection.what + " " + text.substr(0, end));
  }
  ::munmap(shared, sizeof(Progress));
  return wrong;
}

Injection injection_of(const std::string& kind) {
  const inject::Kind which = kind == "memory"       ? inject::Kind::memory
                             : kind == "descriptor" ? inject::Kind::descriptor
                             : kind == "mapping"    ? inject::Kind::mapping
                                                    : inject::Kind::thread;
  return {kind, [which](long n) { inject::arm(which, n); }, [] { return inject::disarm(); }};
}

void try_family(Family family) {
  const long stride = family.stride;
  for (const char* kind : {"memory", "descriptor", "mapping", "thread"}) {
    family.stride = std::string(kind) == "memory" ? stride : 1;
    long attempts = 0;
    for (const std::string& wrong : try_all(family, injection_of(kind), attempts))
      ADD_FAILURE() << wrong;
    std::printf("%s: %ld attempts with one failing call, kind %s\n", family.name.c_str(), attempts,
                kind);
  }
}

}  // namespace set_up
