#include "compiler-shim/splitcc/driver/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "viaduct/runtime/file_descriptor.hpp"

extern char** environ;

namespace viaduct::splitcc {
namespace {

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::system_error(error, std::generic_category(), what);
}

/// The folder for temporary files: TMPDIR, or /tmp where it is not set or empty.
std::string place_for_temporaries() {
  const char* const told = std::getenv("TMPDIR");
  if (told == nullptr || *told == '\0') return "/tmp";
  std::error_code ignored;
  if (!std::filesystem::is_directory(told, ignored))
    throw std::runtime_error(fmt::format(
        "TMPDIR is {}, which is no folder: set it to a folder for temporary files, or unset it",
        told));
  return told;
}

/// A file without a name: a child may write more into it than a pipe holds.
class ScratchFile {
 public:
  explicit ScratchFile(bool wanted) {
    if (!wanted) return;
    const std::string place = place_for_temporaries();
    std::string name = place + "/splitcc-XXXXXX";
    file_ = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (!file_.is_open()) fail("cannot make a file in " + place, errno);
    ::unlink(name.c_str());
  }

  [[nodiscard]] int fd() const { return file_.get(); }
  [[nodiscard]] std::string contents() const {
    std::string text;
    if (!file_.is_open()) return text;
    ::lseek(fd(), 0, SEEK_SET);
    char buffer[65536];
    for (ssize_t got = 0; (got = ::read(fd(), buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
    return text;
  }

 private:
  FileDescriptor file_;
};

/// The child and the folders that end with this program. The mutex is held while any of them
/// changes, and for ever once a signal has begun to end the program, so that no more are made.
struct Belongings {
  std::mutex mutex;
  pid_t child = 0;  // and its process group
  std::vector<std::string> folders;
  sigset_t mask{};        // of signals, for children
  sigset_t to_default{};  // signals that this program ignores and children do not
};

/// Never destroyed: the thread that waits for signals may outlive main().
Belongings& belongings() {
  static auto* const one = new Belongings;
  return *one;
}

int spawn(const posix_spawn_file_actions_t& actions, const std::vector<char*>& argv, pid_t& child) {
  Belongings& ours = belongings();
  const std::lock_guard lock(ours.mutex);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &ours.mask);
  posix_spawnattr_setsigdefault(&attributes, &ours.to_default);
  const int failed = ::posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed == 0) ours.child = child;
  return failed;
}

/// Whether the whole process group of @p leader has ended in time. Processes whose parents have
/// ended are children of this program.
bool is_gone(pid_t leader, std::chrono::milliseconds limit) {
  constexpr auto kMoment = std::chrono::milliseconds(5);
  for (auto waited = std::chrono::milliseconds(0); waited < limit; waited += kMoment) {
    while (::waitpid(-leader, nullptr, WNOHANG) > 0) {
    }
    if (::kill(-leader, 0) != 0) return true;
    std::this_thread::sleep_for(kMoment);
  }
  return false;
}

/// Runs in the thread that waits for signals. The main thread may be waiting for a child, or in a
/// long read or write.
[[noreturn]] void end_by(int signal) {
  constexpr auto kGrace = std::chrono::milliseconds(500);
  Belongings& ours = belongings();
  ours.mutex.lock();
  if (ours.child != 0) {
    ::kill(-ours.child, SIGTERM);  // compilers remove their own files then
    if (!is_gone(ours.child, kGrace)) {
      ::kill(-ours.child, SIGKILL);
      static_cast<void>(is_gone(ours.child, kGrace));
    }
  }
  for (const std::string& folder : ours.folders) {
    std::error_code problem;
    for (int i = 0; i < 10 && std::filesystem::exists(folder, problem); ++i)
      std::filesystem::remove_all(folder, problem);  // the main thread may be writing into it
  }
  std::signal(signal, SIG_DFL);  // so that the parent sees the signal
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(signal);
  ::_exit(128 + signal);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN;
}

}  // namespace

void end_with_children() {
  Belongings& ours = belongings();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigemptyset(&ours.to_default);
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    if (is_ignored(signal)) continue;
    sigaddset(&ours.to_default, signal);
    std::signal(signal, SIG_IGN);  // writing fails then, and the error path removes the files
  }
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (!is_ignored(signal)) sigaddset(&ending, signal);
  ::pthread_sigmask(SIG_BLOCK, &ending, &ours.mask);
  try {
    std::thread([ending] {
      int signal = 0;
      while (::sigwait(&ending, &signal) != 0) {
      }
      end_by(signal);
    }).detach();
  } catch (const std::system_error&) {  // ulimit -u: a signal ends this program alone
    ::pthread_sigmask(SIG_SETMASK, &ours.mask, nullptr);
  }
}

bool ends_of_broken_pipe() { return sigismember(&belongings().to_default, SIGPIPE) == 1; }

Outcome run_program(const std::vector<std::string>& command, Keep keep) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const ScratchFile out(keep == Keep::output_and_errors);
  const ScratchFile err(keep != Keep::nothing);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (out.fd() >= 0) posix_spawn_file_actions_adddup2(&actions, out.fd(), STDOUT_FILENO);
  if (err.fd() >= 0) posix_spawn_file_actions_adddup2(&actions, err.fd(), STDERR_FILENO);
  pid_t child = 0;
  const int failed = spawn(actions, argv, child);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    fail(fmt::format("cannot run {}: is it installed and in PATH?", command[0]), failed);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  {
    const std::lock_guard lock(belongings().mutex);
    belongings().child = 0;
  }
  Outcome outcome;
  outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + outcome.signal;
  outcome.output = out.contents();
  outcome.errors = err.contents();
  return outcome;
}

TemporaryFolder::TemporaryFolder(const std::string& name) {
  const std::string folders = place_for_temporaries();
  path_ = folders + "/splitcc-" + name;
  const std::lock_guard lock(belongings().mutex);
  if (::mkdir(path_.c_str(), S_IRWXU) != 0) {
    path_ = folders + "/splitcc-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) fail("cannot make a folder in " + folders, errno);
  }
  belongings().folders.push_back(path_);
}

/// Removes the files known by name first: listing a folder needs a descriptor, and none may be
/// free.
TemporaryFolder::~TemporaryFolder() {
  const std::lock_guard lock(belongings().mutex);
  for (const std::string& file : files_) {
    ::unlink(file.c_str());
    ::rmdir(std::filesystem::path(file).parent_path().c_str());
  }
  std::error_code ignored;
  if (::rmdir(path_.c_str()) != 0) std::filesystem::remove_all(path_, ignored);
  auto& folders = belongings().folders;
  folders.erase(std::remove(folders.begin(), folders.end(), path_), folders.end());
}

std::string TemporaryFolder::file(const std::string& name) {
  const std::string folder = fmt::format("{}/{}", path_, files_.size());
  std::filesystem::create_directory(folder);
  files_.push_back(folder + "/" + name);
  return files_.back();
}

}  // namespace viaduct::splitcc
