#include "benchmarks/common/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::bench {
namespace {

/// All that comes from @p pipe until its other end is closed.
std::string read_all(const FileDescriptor& pipe) {
  std::string all;
  std::array<char, 4096> some;
  for (;;) {
    const ssize_t n = read(pipe.get(), some.data(), some.size());
    if (n > 0) all.append(some.data(), static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return all;
  }
}

int code_of(int status) noexcept {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Ended run_child(const std::vector<std::string>& command) {
  Pipe pipe = open_pipe();
  if (!pipe.reading.is_open()) throw_errno("cannot make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe.writing.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe.writing.get(), STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int problem =
      posix_spawn(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw Error(problem, "cannot start " + command.front());
  pipe.writing.reset();
  Ended ended;
  ended.output = read_all(pipe.reading);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ended.code = code_of(status);
  return ended;
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
