// Ranks of launcher_actor that have children.

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "tests/multiprocess/programs/launcher_actor.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

namespace actor {

using viaduct::Job;
using viaduct::Status;

void child_hang(char**) {
  say("ready");
  hang();
}

namespace {

pid_t fork_child(void (*body)(char**), char** argv) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    body(argv);
    ::_exit(1);
  }
  return pid;
}

void child_of_threads(char**) {
  std::thread(hang).detach();
  ::syscall(SYS_exit, 0);  // this thread alone
}

/// As ps shows it: also of a process whose other threads run.
bool is_shown_as_ended(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  return text.find(") Z ") != std::string::npos;
}

void child_in_own_session(char**) {
  ::setsid();
  if (::fork() == 0) child_hang(nullptr);  // an orphan, as daemons are
}

void child_with_empty_environment(char** argv) {
  std::string program = self();
  std::string verb = "sleep";
  std::array<char*, 4> arguments{program.data(), argv[1], verb.data(), nullptr};
  std::array<char*, 1> nothing{nullptr};
  ::execve(program.c_str(), arguments.data(), nothing.data());
}

}  // namespace

int children(Job& job, char** argv) {
  fork_child(child_hang, argv);
  fork_child(child_in_own_session, argv);
  if (std::string(argv[2]) == "children-cleared") fork_child(child_with_empty_environment, argv);
  say("ready");
  if (index(job.rank()) == 0) ::raise(SIGSTOP);
  hang();
}

int leave_child(Job& job, char** argv) {
  fork_child(child_hang, argv);
  say("rank " + std::to_string(index(job.rank())) + " ends");
  return 0;
}

int leave_thread(Job&, char** argv) {
  const pid_t pid = fork_child(child_of_threads, argv);
  while (!is_shown_as_ended(pid)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  say("child " + std::to_string(pid));
  return 0;
}

int misuse_in_child(Job& job, char**) {
  const auto try_in_child = [&](const char* name, auto call) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      try {
        call();
      } catch (const viaduct::Error& problem) {
        say(std::string(name) + ": " + problem.what());
        ::_exit(42);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    say(std::string(name) + (WIFSIGNALED(status) ? " signal " + std::to_string(WTERMSIG(status))
                                                 : " code " + std::to_string(WEXITSTATUS(status))));
  };
  try_in_child("window_of", [&] { static_cast<void>(job.window_of(job.rank())); });
  try_in_child("barrier", [&] { job.barrier_arrive(); });
  try_in_child("fence", [&] { job.bootstrap().fence(); });
  try_in_child("destructor", [&] { job.~Job(); });
  try_in_child("new Job", [] { const Job another; });
  try_in_child("exit", [] { ::_exit(7); });
  return barrier(job) == Status::ok ? 0 : 9;
}

}  // namespace actor
