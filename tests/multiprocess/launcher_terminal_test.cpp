// A job ends when its terminal goes away, however it was started there, unless that was with nohup
// or setsid.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/multiprocess/launcher_driver.hpp"

namespace {

// A job ends within 2 s; the rest is for a machine that is busy. Without an end, it is a minute.
constexpr int kRanks = 2;

/// A terminal with a session of its own, as a terminal's window or sshd makes one.
class Terminal {
 public:
  explicit Terminal(const std::vector<std::string>& command) {
    std::vector<char*> argv;
    for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_ = ::forkpty(&master_, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      ::signal(SIGHUP, SIG_DFL);
      ::execv(argv[0], argv.data());
      ::_exit(97);
    }
    ::fcntl(master_, F_SETFD, FD_CLOEXEC);
  }
  ~Terminal() {
    close();
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text) const {
    ASSERT_EQ(::write(master_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  /// Reads until @p text has come @p wanted times.
  [[nodiscard]] bool wait_for(const std::string& text, int wanted) {
    while (driver::count(seen_, text) < wanted) {
      pollfd ready{master_, POLLIN, 0};
      if (::poll(&ready, 1, driver::patience_seconds() * 1000) <= 0) return false;
      std::array<char, 4096> buffer{};
      const ssize_t got = ::read(master_, buffer.data(), buffer.size());
      if (got <= 0) return false;
      seen_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return true;
  }
  [[nodiscard]] const std::string& seen() const { return seen_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

  void close() {
    if (master_ >= 0) ::close(master_);
    master_ = -1;
  }

 private:
  int master_ = -1;
  pid_t pid_ = 0;
  std::string seen_;
};

std::string job(const std::string& tag, const std::string& options = "-n 2",
                const std::string& verb = "hang-ignoring") {
  return driver::viaduct_run() + " " + options + " " + driver::test_program("launcher_actor") +
         " " + tag + " " + verb;
}

std::vector<std::string> words_of(const std::string& tag) {
  return {driver::viaduct_run(),
          "-n",
          std::to_string(kRanks),
          driver::test_program("launcher_actor"),
          tag,
          "hang-ignoring"};
}

struct Start {
  const char* name;
  const char* shell;  // the session's leader; none: viaduct-run itself
  const char* before;
  const char* after;
};
void PrintTo(const Start& start, std::ostream* out) { *out << start.name; }

class TerminalCloses : public testing::TestWithParam<Start> {};

/// Ranks ignore SIGTERM, and are killed.
TEST_P(TerminalCloses, EndsTheJob) {
  const Start& start = GetParam();
  const std::string tag = driver::new_tag();
  const std::string line = start.before + job(tag) + start.after;
  const std::string after(start.after);
  const bool typed = !after.empty() && after.back() == '\n';
  Terminal terminal(start.shell == nullptr ? words_of(tag)
                    : typed                ? std::vector<std::string>{start.shell, "-i"}
                                           : std::vector<std::string>{start.shell, "-c", line});
  if (typed) terminal.type(line);
  ASSERT_TRUE(terminal.wait_for("ready", kRanks)) << terminal.seen();
  terminal.close();
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
}

INSTANTIATE_TEST_SUITE_P(
    Each, TerminalCloses,
    testing::Values(Start{"leader", nullptr, "", ""},
                    Start{"below_a_shell", "/bin/sh", "", "; true"},
                    Start{"background_of_a_script", "/bin/sh", "", " </dev/null & wait"},
                    Start{"foreground_of_dash", "/bin/dash", "", "\n"},
                    Start{"background_of_dash", "/bin/dash", "", " &\n"},
                    Start{"foreground_of_bash", "/bin/bash", "", "\n"},
                    Start{"background_of_bash", "/bin/bash", "", " &\n"}),
    [](const testing::TestParamInfo<Start>& info) { return std::string(info.param.name); });

/// At any moment of the job's start.
TEST(TerminalClosesEarly, EndsTheJob) {
  for (int delay_ms = 1; delay_ms <= 40; delay_ms += 3) {
    const std::string tag = driver::new_tag();
    Terminal terminal(words_of(tag));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    terminal.close();
    EXPECT_TRUE(driver::all_gone(tag)) << "after " << delay_ms << " ms";
  }
}

TEST(TerminalClosesOnHosts, EndsTheJob) {
  const std::string tag = driver::new_tag();
  const std::string options =
      "--hosts a,b --remote-command '/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}'";
  Terminal terminal({"/bin/sh", "-c", job(tag, options) + " & wait"});
  ASSERT_TRUE(terminal.wait_for("ready", kRanks)) << terminal.seen();
  terminal.close();
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
}

/// What is typed at the shell while the job is suspended is the shell's, and rank 0's input goes on
/// afterwards.
TEST(TerminalOfASuspendedJob, IsTheShells) {
  const std::string tag = driver::new_tag();
  Terminal terminal({"/bin/sh", "-mc",
                     driver::viaduct_run() +
                         " --hosts a:1 --remote-command 'sh -c {command}' sh -c 'while read x; do "
                         "echo rank read $x; done; exit 3' " +
                         tag + "; echo suspended $?; read x; echo shell read $x; fg"});
  terminal.type("one\n");
  ASSERT_TRUE(terminal.wait_for("rank read one", 1)) << terminal.seen();
  terminal.type("\x1a");
  ASSERT_TRUE(terminal.wait_for("suspended 14", 1)) << terminal.seen();
  terminal.type("two\n");
  ASSERT_TRUE(terminal.wait_for("shell read two", 1)) << terminal.seen();
  terminal.type("three\n");
  ASSERT_TRUE(terminal.wait_for("rank read three", 1)) << terminal.seen();
  terminal.type("\x04");
  EXPECT_TRUE(terminal.wait_for("exited with code 3", 1)) << terminal.seen();
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
}

/// script(1) and tmux(1) keep the terminal; killed, they take it along. Ranks ignore SIGHUP, too.
TEST(TerminalOfAProgram, EndsTheJob) {
  const std::string tag = driver::new_tag();
  driver::Program script(
      {"/usr/bin/script", "-qfec", job(tag, "-n 2", "hang-stubborn"), "/dev/null"});
  ASSERT_TRUE(script.wait_for("ready", kRanks));
  script.signal(SIGKILL);
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
}

TEST(TerminalOfTmux, EndsTheJob) {
  const std::string tmux = "/usr/bin/tmux";
  if (::access(tmux.c_str(), X_OK) != 0) GTEST_SKIP() << "no tmux here (Debian: tmux)";
  const std::string tag = driver::new_tag();
  const std::string socket = testing::TempDir() + tag + ".tmux";
  const std::string log = testing::TempDir() + tag + ".log";
  const auto tell = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {tmux, "-f", "/dev/null", "-S", socket});
    return driver::Program(words).finish();
  };
  const std::string window = "exec " + job(tag) + " >" + log + " 2>&1";
  const driver::Result started = tell({"new-session", "-d", "-s", "job", window});
  ASSERT_EQ(started.code, 0) << started.err;
  const auto ready = [&log] {
    std::ifstream file(log);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return driver::count(text, "ready") == kRanks;
  };
  for (int i = 0; i < driver::patience_seconds() * 100 && !ready(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(ready());
  EXPECT_EQ(tell({"kill-session", "-t", "job"}).code, 0);
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
  static_cast<void>(tell({"kill-server"}));
  std::filesystem::remove(log);
  std::filesystem::remove(socket);
}

/// Nothing but the terminal ends: these jobs live on, also with the terminal as their output.
TEST(TerminalCloses, JobsOfNohupAndSetsidLiveOn) {
  for (const char* shell : {"trap '' HUP; ", "exec nohup ", "exec setsid "}) {
    const std::string tag = driver::new_tag();
    const std::string file = testing::TempDir() + tag;
    // Told by a file of its own, after the end of the terminal.
    const std::string rank = "while ! test -e " + file + ".gone; do sleep 0.02; done; touch " +
                             file + ".$VIADUCT_RANK; sleep 600; true";
    Terminal terminal({"/bin/sh", "-c",
                       shell + driver::viaduct_run() + " -n 2 sh -c 'echo ready >&2; " + rank +
                           "' 2>" + file + ".err" +
                           (std::string(shell) == "exec nohup " ? " >/dev/null" : "") +
                           " & wait"});  // nohup would make a file for the output
    const auto exists = [](const std::string& path) {
      for (int i = 0; i < driver::patience_seconds() * 100; ++i) {
        if (std::filesystem::exists(path)) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      return false;
    };
    const auto both_ready = [&] {
      std::ifstream text(file + ".err");
      return driver::count(std::string(std::istreambuf_iterator<char>(text), {}), "ready") == 2;
    };
    for (int i = 0; i < driver::patience_seconds() * 100 && !both_ready(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    terminal.close();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // an end would come at once
    std::ofstream(file + ".gone") << "gone\n";
    EXPECT_TRUE(exists(file + ".0") && exists(file + ".1"))
        << shell << std::ifstream(file + ".err").rdbuf();
    for (const pid_t pid : driver::processes_with(tag)) {
      if (driver::name_of(pid) == "viaduct-run") ::kill(pid, SIGTERM);
    }
    EXPECT_TRUE(driver::all_gone(tag)) << shell;
    for (const char* end : {".gone", ".err", ".0", ".1"}) std::filesystem::remove(file + end);
  }
}

}  // namespace
