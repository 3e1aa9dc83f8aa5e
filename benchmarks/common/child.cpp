#include "benchmarks/common/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::bench {
namespace fs = std::filesystem;
namespace {

/// All bytes from @p pipe until its other end is closed.
std::string read_all(const FileDescriptor& pipe) {
  std::string all;
  std::array<char, 4096> some;
  for (;;) {
    const ssize_t n = read(pipe.get(), some.data(), some.size());
    if (n > 0) all.append(some.data(), static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return all;
  }
}

/// Starts @p command, with both outputs to @p output.
pid_t spawn(const std::vector<std::string>& command, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int problem =
      posix_spawn(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw Error(problem, "cannot start " + command.front());
  return child;
}

std::atomic<int> ending_signal{0};  // has come while a child ran, and ends this program after it
std::atomic<pid_t> running_child{0};

void end_child(int signal) noexcept {
  ending_signal = signal;
  if (const pid_t child = running_child.load(); child != 0) kill(child, SIGTERM);
}

void end_by_signal() {
  const int signal = ending_signal.load();
  if (signal == 0) return;
  (void)std::fflush(nullptr);
  (void)std::signal(signal, SIG_DFL);
  (void)raise(signal);
}

/// While one of these exists, a signal that asks this program to end asks the child first. What the
/// program has made is then removed as after a failure, and it ends by the same signal.
class SignalsForChild {
 public:
  SignalsForChild() {
    [[maybe_unused]] static const int once = std::atexit(end_by_signal);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action {};
      action.sa_handler = end_child;
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~SignalsForChild() {
    running_child = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalsForChild(const SignalsForChild&) = delete;
  SignalsForChild& operator=(const SignalsForChild&) = delete;

  static void name(pid_t child) noexcept {
    running_child = child;
    if (ending_signal != 0) kill(child, SIGTERM);  // it came before
  }

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// Its exit code; 128 + the signal's number when a signal ended it.
int await_end(pid_t child) noexcept {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Ended run_child(const std::vector<std::string>& command) {
  Pipe pipe = open_pipe();
  if (!pipe.reading.is_open()) throw_errno("cannot make a pipe");
  const SignalsForChild signals;
  const pid_t child = spawn(command, pipe.writing.get());
  SignalsForChild::name(child);
  pipe.writing.reset();
  Ended ended;
  ended.output = read_all(pipe.reading);
  ended.code = await_end(child);
  if (const int signal = ending_signal.load(); signal != 0)
    throw Error(std::errc::interrupted, fmt::format("signal {} has ended the measurement", signal));
  return ended;
}

void run_children(const std::vector<std::string>& command, std::uint32_t count) {
  const FileDescriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!nowhere.is_open()) throw_errno("cannot open /dev/null");
  std::vector<pid_t> children;
  children.reserve(count);
  int code = 0;
  try {
    while (children.size() < count) children.push_back(spawn(command, nowhere.get()));
  } catch (...) {
    for (const pid_t child : children) (void)await_end(child);
    throw;
  }
  for (const pid_t child : children) code = std::max(code, await_end(child));
  if (code != 0)
    throw Error(std::errc::protocol_error,
                fmt::format("{} ended with exit code {}", fmt::join(command, " "), code));
}

void require_no_job() {
  const char* const ranks = std::getenv("VIADUCT_SIZE");
  if (ranks == nullptr || std::string_view(ranks) == "1") return;
  throw Error(
      std::errc::invalid_argument,
      fmt::format("this benchmark starts jobs by itself and is a rank of a job of {}: start "
                  "it without viaduct-run",
                  ranks));
}

fs::path own_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

fs::path require_program(const fs::path& path, const char* remedy) {
  if (access(path.c_str(), X_OK) == 0) return path;
  throw_errno(fmt::format("cannot run {}: {}", path.string(), remedy));
}

ScratchFolder::ScratchFolder()
    : path_((std::filesystem::temp_directory_path() / "viaduct-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr)
    throw_errno("cannot make a folder in " + std::filesystem::temp_directory_path().string() +
                " (TMPDIR names another place)");
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace viaduct::bench
