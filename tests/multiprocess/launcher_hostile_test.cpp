// Ranks and other users that do their worst to the launcher and the agents.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "runtime/src/agent.hpp"
#include "runtime/src/wire_format.hpp"

#include "tests/multiprocess/launcher_rendezvous.hpp"

namespace {

namespace wire_format = viaduct::wire_format;
using driver::agent_beside;
using driver::come_as;
using driver::has;
using driver::kSecret;
using driver::Program;
using driver::Rendezvous;
using driver::Result;
using driver::Words;

Result scribbled(int seed, const std::string& where, const std::string& then) {
  const std::string tag = driver::new_tag();
  Program job({driver::viaduct_run(), "-n", "3", driver::test_program("launcher_actor"), tag,
               "scribble", std::to_string(seed), where, then});
  Result result = job.finish();
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
  return result;
}

TEST(JobPage, RandomBytesEndTheJobAndNotTheLauncher) {
  constexpr int kSeeds = 12;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Result result = scribbled(seed, "page", "exit");
    EXPECT_EQ(result.code, 125) << result.err;
    EXPECT_TRUE(has(result.err, "viaduct-run: the job page holds nonsense (its head, 3 records)"))
        << result.err;
    EXPECT_FALSE(has(result.err, "the launcher process was killed")) << result.err;
    EXPECT_TRUE(has(result.err, "[VIA-1007]")) << result.err;
  }
}

TEST(JobPage, AFileSizeLimitIsNamed) {
  const Result result =
      Program({"/bin/sh", "-c", "ulimit -f 0; exec \"$0\" -n 2 /bin/true", driver::viaduct_run()})
          .finish();
  EXPECT_EQ(result.code, 125);
  EXPECT_TRUE(has(result.err, "the file size limit of 0 bytes is less than")) << result.err;
}

TEST(CommandLine, MpirunsOptionForTheNumberOfRanks) {
  const auto lines = [](const Words& words) {
    Words all{driver::viaduct_run()};
    all.insert(all.end(), words.begin(), words.end());
    const Result result = Program(all).finish();
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(lines({"--timeout", "60", "-np", "3", "/bin/echo", "x"}), "x\nx\nx\n");
  EXPECT_EQ(lines({"-n", "1", "/bin/echo", "-np", "4"}), "-np 4\n");
}

TEST(JobPage, TheRankOfADamagedRecordIsNamed) {
  for (const char* then : {"exit", "hang"}) {
    const Result result = scribbled(100, "record", then);
    EXPECT_EQ(result.code, 125) << result.err;
    EXPECT_TRUE(has(result.err, "viaduct-run: rank 1's record in the job page holds nonsense"))
        << result.err;
  }
}

TEST(JobPage, NobodyIsKilledOnItsWord) {
  Program victim({"/bin/sleep", "600"});
  Rendezvous rendezvous(2, {"name-victim", std::to_string(victim.pid())});
  const Program& first = rendezvous.start(0, 0);
  Program& second = rendezvous.start(1, 0);
  ASSERT_TRUE(second.wait_for("ready"));
  ::kill(agent_beside(rendezvous.tag(), {first.pid(), second.pid()}), SIGKILL);
  for (const Result& result : rendezvous.finish())
    EXPECT_EQ(result.code, 128 + SIGKILL) << result.err;
  victim.signal(SIGTERM);
  EXPECT_EQ(victim.finish().code, 128 + SIGTERM) << "the agent's watchdog has killed it";
}

// --- another user ------------------------------------------------------------------------------

constexpr uid_t kNobody = 65534;

double cpu_seconds(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 2, text.size())));
  std::string skipped;
  constexpr int kBefore = 11;  // utime and stime are the 14th and 15th
  for (int i = 0; i < kBefore; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// What the agent says at connection @p fd, before it ends it.
std::string refusal_at(int fd) {
  wire_format::Datagram datagram;
  if (wire_format::receive(fd, datagram, 0) != 0) return {};
  std::string problem;
  const auto message = wire_format::decode(datagram.bytes, problem);
  return message && message->kind == wire_format::Kind::refused ? std::string(message->key) : "";
}

/// Calls the agent so often as another user, and keeps what it can. Answers an exit code.
int throng(const std::string& job_id, int calls, int progress) try {
  const rlimit limit{static_cast<rlim_t>(calls) + 100, static_cast<rlim_t>(calls) + 100};
  const bool keeps = ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
  if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) return 2;
  std::vector<viaduct::FileDescriptor> kept;
  for (int i = 0; i < calls; ++i) {
    viaduct::FileDescriptor socket = viaduct::connect_to_agent(kSecret, job_id, 0);
    if (i == 0 &&
        !has(refusal_at(socket.get()), "this process is of user 65534, and the job is user 0's"))
      return 3;
    if (i == calls / 10 && ::write(progress, "x", 1) != 1) return 4;
    if (keeps) kept.push_back(std::move(socket));
  }
  return 0;
} catch (const std::exception&) {  // the agent listens no more
  return 5;
}

/// Joins as rank 1 does. Answers the job page's descriptor, or none.
viaduct::FileDescriptor join(int socket) {
  wire_format::Datagram answer;
  if (wire_format::send(socket, wire_format::encode({wire_format::Kind::join, 1}), -1, 0) != 0)
    return {};
  static_cast<void>(wire_format::receive(socket, answer, 0));
  return std::move(answer.fd);
}

TEST(AgentSocket, AnotherUserGetsNeitherInNorAProcessor) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  constexpr int kCalls = 20'000;
  Rendezvous rendezvous(2, {"await-loss"});
  Program& first = rendezvous.start(0, 0);
  auto hub = come_as(rendezvous, 1, 2, "host 0");
  const auto table = hub.receive_until(viaduct::link::Clock::now() + std::chrono::seconds(60));
  ASSERT_TRUE(table && table->kind == viaduct::link::Kind::table);
  const pid_t agent = agent_beside(rendezvous.tag(), {first.pid()});
  ASSERT_NE(agent, 0);

  std::array<int, 2> progress{};
  ASSERT_EQ(::pipe(progress.data()), 0);
  const double cpu_before = cpu_seconds(agent);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t attacker = ::fork();
  if (attacker == 0) ::_exit(throng(table->key, kCalls, progress[1]));
  ::close(progress[1]);
  char byte = 0;
  EXPECT_EQ(::read(progress[0], &byte, 1), 1) << "nobody was refused with the reason";
  int status = 0;
  ::waitpid(attacker, &status, 0);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double cpu = cpu_seconds(agent) - cpu_before;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_LT(cpu, 0.5 * seconds) << "the agent spins";
  RecordProperty("agent_cpu_percent", static_cast<int>(100 * cpu / seconds));

  // A rank of the job still gets in, while others call again.
  const pid_t again = ::fork();
  if (again == 0) ::_exit(throng(table->key, kCalls / 10, progress[0]));
  viaduct::FileDescriptor socket = viaduct::connect_to_agent(kSecret, table->key, 0);
  EXPECT_TRUE(join(socket.get()).is_open());
  ::kill(again, SIGKILL);
  ::waitpid(again, nullptr, 0);
  socket.reset();
  ::close(progress[0]);
  hub.close();
  rendezvous.finish();
}

/// A rank that is given the secret by this file.
Result rank_with_secret_file(const std::string& path) {
  return Program({"/usr/bin/env", "-u", "VIADUCT_JOB_SECRET",
                  driver::test_program("launcher_actor"), driver::new_tag(), "ok"},
                 {{"VIADUCT_RENDEZVOUS", driver::free_address()},
                  {"VIADUCT_RANK", "0"},
                  {"VIADUCT_SIZE", "2"},
                  {"VIADUCT_JOB_SECRET_FILE", path}})
      .finish();
}

TEST(AgentSocket, ASecretFileThatOthersCanReadIsRefused) {
  const std::string path = ::testing::TempDir() + driver::new_tag();
  std::ofstream(path) << kSecret << "\n";
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const Result result = rank_with_secret_file(path);
  ::unlink(path.c_str());
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "can be read or written by others (its mode is 640)")) << result.err;
}

TEST(AgentSocket, ASecretFileOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const std::string path = ::testing::TempDir() + driver::new_tag();
  std::ofstream(path) << kSecret << "\n";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  if (::chown(path.c_str(), 4321, static_cast<gid_t>(-1)) != 0) {
    ::unlink(path.c_str());
    GTEST_SKIP() << "no user 4321 in this user namespace";
  }
  const Result result = rank_with_secret_file(path);
  ::unlink(path.c_str());
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, path + " belongs to another user (number 4321")) << result.err;
  EXPECT_TRUE(has(result.err, ": chown 0 " + path)) << result.err;
}

}  // namespace
