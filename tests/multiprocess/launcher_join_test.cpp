// Jobs whose ranks meet by a rendezvous, and what becomes of them when ranks end.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>

#include "tests/multiprocess/launcher_meeting.hpp"

namespace {

using driver::agent_beside;
using driver::come_as;
using driver::Environment;
using driver::expect_all_well;
using driver::free_address;
using driver::has;
using driver::kSecret;
using driver::Meeting;
using driver::Program;
using driver::Result;
using driver::Words;

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// --- what works ----------------------------------------------------------------------------------

TEST(Rendezvous, RanksOfOneHostAreAJobAsAnyOther) {
  for (const char* verb : {"exchange", "around", "ok"}) {
    Meeting meeting(4, {verb, "20"});
    meeting.start_all(1);
    expect_all_well(meeting.finish());
  }
}

class Spread : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Spread, BootstrapAndBarriersSpanTheHosts) {
  const auto [ranks, hosts] = GetParam();
  Meeting meeting(ranks, {"spread"});
  meeting.start_all(hosts);
  const std::vector<Result> results = meeting.finish();
  expect_all_well(results);
  for (int i = 0; i < ranks; ++i) {
    const std::string line = "rank " + std::to_string(i) + " of " + std::to_string(ranks) +
                             " on host " + std::to_string(i * hosts / ranks) + " of " +
                             std::to_string(hosts);
    EXPECT_TRUE(has(results[static_cast<std::size_t>(i)].out, line)) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, Spread,
                         testing::Values(std::pair(2, 2), std::pair(4, 2), std::pair(7, 3),
                                         std::pair(4, 1)),
                         [](const auto& info) {
                           return std::to_string(info.param.first) + "On" +
                                  std::to_string(info.param.second);
                         });

TEST(Rendezvous, ASecretMayBeInAFile) {
  const std::string path = testing::TempDir() + driver::new_tag();
  std::ofstream(path) << kSecret << "\n";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  const std::string verb = "ok";
  const std::string address = free_address();
  std::vector<std::unique_ptr<Program>> ranks;
  for (int i = 0; i < 2; ++i) {
    ranks.push_back(std::make_unique<Program>(
        Words{driver::test_program("launcher_actor"), driver::new_tag(), verb},
        Environment{{"VIADUCT_RENDEZVOUS", address},
                    {"VIADUCT_RANK", std::to_string(i)},
                    {"VIADUCT_SIZE", "2"},
                    {"VIADUCT_JOB_SECRET_FILE", path}}));
  }
  for (auto& rank : ranks) EXPECT_EQ(rank->finish().code, 0);
  ::unlink(path.c_str());
}

TEST(Rendezvous, AddressesOfEveryKind) {
  const std::string port = free_address().substr(std::string("tcp://127.0.0.1:").size());
  std::string own_name(256, '\0');
  ASSERT_EQ(::gethostname(own_name.data(), own_name.size()), 0);
  own_name.resize(own_name.find('\0'));
  std::vector<std::string> hosts{"127.0.0.1", "localhost", own_name};
  if (::access("/proc/net/if_inet6", R_OK) == 0 && !contents_of("/proc/net/if_inet6").empty())
    hosts.emplace_back("[::1]");
  for (const std::string& host : hosts) {
    Meeting meeting(2, {"spread"});
    meeting.set_address("tcp://" + host + ":" + port);
    meeting.start_all(2);
    expect_all_well(meeting.finish());
  }
}

TEST(Rendezvous, ManyRanks) {
  Meeting meeting(24, {"spread"});
  meeting.start_all(5);
  expect_all_well(meeting.finish());
}

TEST(Rendezvous, AJobOfOneNeedsNoHub) {
  Meeting meeting(1, {"describe"});
  const Result result = meeting.start(0, 0).finish();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "rank 0 of 1"));
}

TEST(Rendezvous, ARankJoinsOnceAndItsProgramsAreNotIt) {
  Meeting second(2, {"second"});
  second.start_all(2);
  for (const Result& result : second.finish())
    EXPECT_TRUE(has(result.err, "cannot have a second Job")) << result.err;
  Meeting nested(2, {"nested"});
  nested.start_all(2);
  for (const Result& result : nested.finish())
    EXPECT_TRUE(has(result.err, "started by a rank of a job but is not that rank")) << result.err;
}

// --- ends of ranks -------------------------------------------------------------------------------

TEST(RendezvousLoss, AKilledRankIsLostOnEveryHost) {
  Meeting meeting(4, {"die", "3", std::to_string(SIGKILL)});
  meeting.start_all(2);
  const std::vector<Result> results = meeting.finish();
  EXPECT_EQ(results[3].code, 128 + SIGKILL);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(has(results[static_cast<std::size_t>(i)].out, "peer lost, lost, first 4"));
}

TEST(RendezvousLoss, AllKnowWithinTwoSeconds) {
  Meeting meeting(7, {"die-behind", "5"});
  meeting.start_all(3);
  const std::vector<Result> results = meeting.finish();
  for (std::size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i].code, i == 5 ? 128 + SIGKILL : 0) << results[i].out << results[i].err;
}

TEST(RendezvousLoss, BarriersAreDecidedAlikeOnEveryHost) {
  Meeting arriving(4, {"die-arriving", "1"});
  arriving.start_all(2);
  std::vector<Result> results = arriving.finish();
  for (const int i : {0, 2, 3})
    EXPECT_TRUE(has(results[static_cast<std::size_t>(i)].out, "first ok, second peer lost"))
        << results[static_cast<std::size_t>(i)].out;
  Meeting twice(4, {"die-twice", "1"});
  twice.start_all(2);
  results = twice.finish();
  for (const int i : {0, 2, 3})
    EXPECT_TRUE(has(results[static_cast<std::size_t>(i)].out, "first peer lost, second peer lost"));
}

TEST(RendezvousLoss, ARankThatEndsItsJobIsNotWaitedForElsewhere) {
  Meeting meeting(4, {"desert", "0", "5"});
  meeting.start_all(2);
  const std::vector<Result> results = meeting.finish();
  EXPECT_EQ(results[0].code, 5);
  for (int i = 1; i < 4; ++i)
    EXPECT_TRUE(has(results[static_cast<std::size_t>(i)].out, "deserted: peer lost"));
}

/// Two ranks on two hosts that wait for a loss; @p victim's agent is killed. Results of both.
std::vector<Result> kill_agent_of(int victim) {
  Meeting meeting(2, {"await-loss"});
  Program& zero = meeting.start(0, 0);
  pid_t hub = 0;
  while ((hub = agent_beside(meeting.tag(), {})) == 0) ::usleep(1000);
  Program& one = meeting.start(1, 1);
  EXPECT_TRUE(zero.wait_for("ready") && one.wait_for("ready"));
  const pid_t other = agent_beside(meeting.tag(), {hub});
  EXPECT_NE(other, 0);
  ::kill(victim == 0 ? hub : other, SIGKILL);
  return meeting.finish();
}

TEST(RendezvousLoss, AnAgentsDeathEndsItsRanksAndNobodyElse) {
  for (const int victim : {1, 0}) {
    const std::vector<Result> results = kill_agent_of(victim);
    const Result& dead = results[static_cast<std::size_t>(victim)];
    const Result& survivor = results[static_cast<std::size_t>(1 - victim)];
    EXPECT_EQ(dead.code, 128 + SIGKILL) << dead.err;
    EXPECT_EQ(survivor.code, 0) << survivor.err;
    EXPECT_TRUE(has(survivor.out, "lost " + std::to_string(victim))) << survivor.out;
  }
}

/// Its watchdog is stopped first and killed after it: it can do nothing for the ranks.
TEST(RendezvousLoss, AnAgentsDeathWithItsWatchdogsEndsItsRanks) {
  for (const char* verb : {"await-loss", "hang-ignoring"}) {
    Meeting meeting(3, {verb});
    meeting.start_all(1);
    for (pid_t agent = 0, watchdog = 0; agent == 0 || watchdog == 0;) {
      for (const pid_t pid : driver::processes_with(meeting.tag())) {
        if (driver::name_of(pid) == "viaduct-agent") agent = pid;
        if (driver::name_of(pid) == "viaduct-guard") watchdog = pid;
      }
      if (agent == 0 || watchdog == 0 || !meeting.all_say("ready")) continue;
      ::kill(watchdog, SIGSTOP);
      ::kill(agent, SIGKILL);
      ::kill(watchdog, SIGKILL);
    }
    EXPECT_TRUE(driver::all_gone(meeting.tag())) << "ranks are left: " << verb;
    for (const Result& result : meeting.finish())
      EXPECT_EQ(result.code, 128 + SIGKILL) << verb << " " << result.err;
  }
}

/// Ranks that have ended their Jobs, or have none any more by an error, are not the agent's.
TEST(RendezvousLoss, AnAgentsEndLeavesProgramsAlone) {
  for (const char* verb : {"outlive", "outlive-abandoned"}) {
    Meeting meeting(2, {verb});
    meeting.start_all(1);
    for (const Result& result : meeting.finish()) EXPECT_EQ(result.code, 0) << verb << result.err;
  }
}

TEST(RendezvousLoss, ARankThatEndsOnItsWayToItsAgentIsLost) {
  for (const char* host : {"host 0", "host 1"}) {
    Meeting meeting(3, {"await-loss"});
    Program& zero = meeting.start(0, 0);
    Program& one = meeting.start(1, 1);
    {
      auto link = come_as(meeting, 2, 3, host);
      const auto limit = viaduct::link::Clock::now() + std::chrono::seconds(20);
      const auto table = link.receive_until(limit);
      const auto ready = link.receive_until(limit);
      ASSERT_TRUE(table && ready && ready->kind == viaduct::link::Kind::ready);
    }
    for (Program* each : {&zero, &one}) {
      const Result result = each->finish();
      const bool lost = has(result.out, "lost 2") || has(result.err, "rank 2");
      EXPECT_TRUE(lost) << result.out << result.err;
      EXPECT_LT(result.seconds, 30);  // the agent itself waits for it 40 s
    }
  }
}

}  // namespace
