#include "tests/multiprocess/launcher_driver.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace driver {
namespace {

using Clock = std::chrono::steady_clock;

std::string directory() {
  std::array<char, 4096> path{};
  const ssize_t bytes = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string file(path.data(), static_cast<std::size_t>(bytes));
  return file.substr(0, file.rfind('/'));
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void take(int& fd, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(got));
  } else if (got == 0 || errno != EINTR) {
    ::close(fd);
    fd = -1;
  }
}

}  // namespace

Program::Program(const std::vector<std::string>& command, const Environment& environment)
    : started_(Clock::now()) {
  std::array<std::array<int, 2>, 3> pipes{};
  for (auto& each : pipes) {
    if (::pipe2(each.data(), O_CLOEXEC) != 0) std::abort();
  }
  std::vector<char*> argv;
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(pipes[0][0], STDIN_FILENO);
    ::dup2(pipes[1][1], STDOUT_FILENO);
    ::dup2(pipes[2][1], STDERR_FILENO);
    ::signal(SIGHUP,
             SIG_DFL);  // nohup, by which the tests themselves may have been started, ignores it
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::execv(argv[0], argv.data());
    ::_exit(97);
  }
  in_ = pipes[0][1];
  out_ = pipes[1][0];
  err_ = pipes[2][0];
  ::close(pipes[0][0]);
  ::close(pipes[1][1]);
  ::close(pipes[2][1]);
}

Program::~Program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int fd : {in_, out_, err_}) {
    if (fd >= 0) ::close(fd);
  }
}

void Program::signal(int number) const { ::kill(pid_, number); }

void Program::write_stdin(const std::string& text) {
  if (::write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

void Program::close_stdin() {
  if (in_ >= 0) ::close(in_);
  in_ = -1;
}

/// Takes what comes next. False when both streams have ended or the time is up.
bool Program::read_some(int limit_ms) {
  if (out_ < 0 && err_ < 0) return false;
  std::array<pollfd, 2> fds{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
  const int ready = ::poll(fds.data(), fds.size(), limit_ms);
  if (ready == 0) return false;
  if (fds[0].revents != 0) take(out_, result_.out);
  if (fds[1].revents != 0) take(err_, result_.err);
  return true;
}

int patience_seconds() {
  constexpr int kSeconds = 120;
  const char* const said = std::getenv("TEST_PATIENCE");
  return said != nullptr ? std::atoi(said) : kSeconds;
}

bool Program::wait_in(const std::string& stream, const std::string& text, int wanted) {
  while (count(stream, text) < wanted) {
    if (!read_some(patience_seconds() * 1000)) return false;
  }
  return true;
}

bool Program::wait_for(const std::string& text, int wanted) {
  return wait_in(result_.out, text, wanted);
}
bool Program::wait_for_error(const std::string& text, int wanted) {
  return wait_in(result_.err, text, wanted);
}

bool Program::wait_until_full() const {
  return driver::wait_until_full(out_) && driver::wait_until_full(err_);
}

/// Pages of a pipe may stay half empty, so that no number of bytes tells.
bool wait_until_full(int pipe) {
  constexpr int kUnchanged = 25;  // looks, one every 10 ms
  const auto limit = Clock::now() + std::chrono::seconds(patience_seconds());
  int before = 0;
  for (int same = 0; same < kUnchanged;) {
    if (Clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    int held = 0;
    if (::ioctl(pipe, FIONREAD, &held) != 0) return false;
    same = held == before && held > ::fcntl(pipe, F_GETPIPE_SZ) / 2 ? same + 1 : 0;
    before = held;
  }
  return true;
}

Result Program::finish() {
  close_stdin();
  while (read_some(patience_seconds() * 1000)) {
  }
  int status = 0;
  // A program that has not even closed its output by now hangs, which is for the test to report.
  if (out_ >= 0 || err_ >= 0) ::kill(pid_, SIGKILL);
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  result_.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result_.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  return result_;
}

std::string viaduct_run() { return directory() + "/../../bin/viaduct-run"; }
std::string test_program(const std::string& name) { return directory() + "/" + name; }

std::string new_tag() {
  static int counter = 0;
  return "launcher-test-" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
}

std::vector<pid_t> processes_with(const std::string& tag) {
  std::vector<pid_t> found;
  DIR* const proc = ::opendir("/proc");
  while (const dirent* entry = ::readdir(proc)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    const std::string command = contents(std::string("/proc/") + entry->d_name + "/cmdline");
    if (command.find(tag) != std::string::npos) found.push_back(std::atoi(entry->d_name));
  }
  ::closedir(proc);
  return found;
}

bool all_gone(const std::string& tag) {
  const auto limit = Clock::now() + std::chrono::duration<double>(kHangSeconds);
  while (!processes_with(tag).empty()) {
    if (Clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::string name_of(pid_t pid) {
  const std::string text = contents("/proc/" + std::to_string(pid) + "/comm");
  return text.substr(0, text.find('\n'));
}

pid_t parent_of(pid_t pid) {
  const std::string text = contents("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 2, text.size())));
  char state = 0;
  pid_t parent = 0;
  fields >> state >> parent;
  return parent;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const pid_t pid : processes_with("")) {
    if (parent_of(pid) == parent) found.push_back(pid);
  }
  return found;
}

Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Words command(const Words& options, const std::string& tag, const Words& verb) {
  return Words{viaduct_run()} + options + Words{test_program("launcher_actor"), tag} + verb;
}

Result launched(const Words& options, const Words& verb, const Environment& environment) {
  const std::string tag = new_tag();
  Result result = Program(command(options, tag, verb), environment).finish();
  EXPECT_TRUE(all_gone(tag)) << "processes are left";
  return result;
}

Result launched_script(const Words& options, const std::string& script) {
  const std::string tag = new_tag();
  Result result = Program(Words{viaduct_run()} + options + Words{"sh", "-c", script, tag}).finish();
  EXPECT_TRUE(all_gone(tag)) << "processes are left";
  return result;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

}  // namespace driver
