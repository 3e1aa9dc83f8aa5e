#include "compiler-shim/splitcc/driver/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>

extern char** environ;

namespace viaduct::splitcc {
namespace {

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::system_error(error, std::generic_category(), what);
}

// A file without a name: a child may write more into it than a pipe holds.
int scratch_file() {
  std::string name = (std::filesystem::temp_directory_path() / "splitcc-XXXXXX").string();
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0)
    fail("cannot make a file in " + std::filesystem::temp_directory_path().string(), errno);
  ::unlink(name.c_str());
  return fd;
}

std::string contents(int fd) {
  std::string text;
  ::lseek(fd, 0, SEEK_SET);
  char buffer[65536];
  for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(fd);
  return text;
}

// For the signal handler.
volatile std::sig_atomic_t running_child = 0;
volatile std::sig_atomic_t ending_signal = 0;

void end_child(int number) {
  ending_signal = number;
  if (running_child != 0) ::kill(-static_cast<pid_t>(running_child), SIGTERM);
}

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  return set;
}

int spawn(const posix_spawn_file_actions_t& actions, const std::vector<char*>& argv) {
  const sigset_t ending = ending_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &ending, &before);  // until the handler knows the child
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &before);
  pid_t child = 0;
  const int failed = ending_signal != 0 ? EINTR
                                        : ::posix_spawnp(&child, argv[0], &actions, &attributes,
                                                         argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  running_child = child;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return failed;
}

}  // namespace

void end_children_with_this_program() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = end_child;
    action.sa_mask = ending_signals();
    ::sigaction(number, &action, nullptr);
  }
}

Outcome run_program(const std::vector<std::string>& command, Keep keep) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int out = keep == Keep::output_and_errors ? scratch_file() : -1;
  const int err = keep == Keep::nothing ? -1 : scratch_file();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (out >= 0) posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (err >= 0) posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  const int failed = spawn(actions, argv);
  posix_spawn_file_actions_destroy(&actions);
  if (ending_signal != 0 && failed != 0) throw Ended{ending_signal};
  if (failed != 0)
    fail(fmt::format("cannot run {}: is it installed and in PATH?", command[0]), failed);
  int status = 0;
  const auto child = static_cast<pid_t>(running_child);
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running_child = 0;
  if (ending_signal != 0) {
    ::kill(-child, SIGKILL);  // what its group has left
    throw Ended{ending_signal};
  }
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (out >= 0) outcome.output = contents(out);
  if (err >= 0) outcome.errors = contents(err);
  return outcome;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "splitcc-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    fail("cannot make a folder in " + std::filesystem::temp_directory_path().string(), errno);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(const std::string& name) {
  const std::string folder = fmt::format("{}/{}", path_, count_++);
  std::filesystem::create_directory(folder);
  return folder + "/" + name;
}

}  // namespace viaduct::splitcc
