// Jobs whose ranks meet by a rendezvous, and what becomes of them when ranks end.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>

#include "tests/multiprocess/launcher_rendezvous.hpp"

namespace {

using driver::agent_beside;
using driver::come_as;
using driver::Environment;
using driver::expect_all_well;
using driver::free_address;
using driver::has;
using driver::kSecret;
using driver::Program;
using driver::Rendezvous;
using driver::Result;
using driver::Words;

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// --- what works ----------------------------------------------------------------------------------

TEST(Rendezvous, RanksOfOneHostAreAJobAsAnyOther) {
  for (const char* verb : {"exchange", "around", "ok"}) {
    Rendezvous rendezvous(4, {verb, "20"});
    rendezvous.start_all(1);
    expect_all_well(rendezvous.finish());
  }
}

class Spread : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Spread, BootstrapAndBarriersSpanTheHosts) {
  const auto [ranks, hosts] = GetParam();
  Rendezvous rendezvous(ranks, {"spread"});
  rendezvous.start_all(hosts);
  const std::vector<Result> results = rendezvous.finish();
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

TEST(Rendezvous, RankZeroAloneMustKnowTheSize) {
  for (const int hosts : {1, 2}) {
    Rendezvous rendezvous(4, {"spread"});
    rendezvous.start(0, 0);
    for (int i = 1; i < 4; ++i) {
      if (i == 2)
        rendezvous.start(i, i * hosts / 4);
      else
        rendezvous.start_without_size(i, i * hosts / 4);
    }
    const std::vector<Result> results = rendezvous.finish();
    expect_all_well(results);
    for (int i = 0; i < 4; ++i)
      EXPECT_TRUE(has(results[static_cast<std::size_t>(i)].out,
                      "rank " + std::to_string(i) + " of 4 on host"))
          << results[static_cast<std::size_t>(i)].out;
  }
}

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
    Rendezvous rendezvous(2, {"spread"});
    rendezvous.set_address("tcp://" + host + ":" + port);
    rendezvous.start_all(2);
    expect_all_well(rendezvous.finish());
  }
}

TEST(Rendezvous, ManyRanks) {
  Rendezvous rendezvous(24, {"spread"});
  rendezvous.start_all(5);
  expect_all_well(rendezvous.finish());
}

TEST(Rendezvous, AJobOfOneNeedsNoHub) {
  Rendezvous rendezvous(1, {"describe"});
  const Result result = rendezvous.start(0, 0).finish();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "rank 0 of 1"));
}

TEST(Rendezvous, ARankJoinsOnceAndItsProgramsAreNotIt) {
  Rendezvous second(2, {"second"});
  second.start_all(2);
  for (const Result& result : second.finish())
    EXPECT_TRUE(has(result.err, "cannot have a second Job")) << result.err;
  Rendezvous nested(2, {"nested"});
  nested.start_all(2);
  for (const Result& result : nested.finish())
    EXPECT_TRUE(has(result.err, "started by a rank of a job but is not that rank")) << result.err;
}

// --- ends of ranks -------------------------------------------------------------------------------

TEST(RendezvousLoss, AKilledRankIsLostOnEveryHost) {
  Rendezvous rendezvous(4, {"die", "3", std::to_string(SIGKILL)});
  rendezvous.start_all(2);
  const std::vector<Result> results = rendezvous.finish();
  EXPECT_EQ(results[3].code, 128 + SIGKILL);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(has(results[static_cast<std::size_t>(i)].out, "peer lost, lost, first 4"));
}

TEST(RendezvousLoss, AllKnowWithinTwoSeconds) {
  Rendezvous rendezvous(7, {"die-behind", "5"});
  rendezvous.start_all(3);
  const std::vector<Result> results = rendezvous.finish();
  for (std::size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i].code, i == 5 ? 128 + SIGKILL : 0) << results[i].out << results[i].err;
}

TEST(RendezvousLoss, BarriersAreDecidedAlikeOnEveryHost) {
  Rendezvous arriving(4, {"die-arriving", "1"});
  arriving.start_all(2);
  std::vector<Result> results = arriving.finish();
  for (const int i : {0, 2, 3})
    EXPECT_TRUE(has(results[static_cast<std::size_t>(i)].out, "first ok, second peer lost"))
        << results[static_cast<std::size_t>(i)].out;
  Rendezvous twice(4, {"die-twice", "1"});
  twice.start_all(2);
  results = twice.finish();
  for (const int i : {0, 2, 3})
    EXPECT_TRUE(has(results[static_cast<std::size_t>(i)].out, "first peer lost, second peer lost"));
}

TEST(RendezvousLoss, ARankThatEndsItsJobIsNotWaitedForElsewhere) {
  Rendezvous rendezvous(4, {"desert", "0", "5"});
  rendezvous.start_all(2);
  const std::vector<Result> results = rendezvous.finish();
  EXPECT_EQ(results[0].code, 5);
  for (int i = 1; i < 4; ++i)
    EXPECT_TRUE(has(results[static_cast<std::size_t>(i)].out, "deserted: peer lost"));
}

/// Two ranks on two hosts that wait for a loss; @p victim's agent is killed. Results of both.
std::vector<Result> kill_agent_of(int victim) {
  Rendezvous rendezvous(2, {"await-loss"});
  Program& zero = rendezvous.start(0, 0);
  pid_t hub = 0;
  while ((hub = agent_beside(rendezvous.tag(), {})) == 0) ::usleep(1000);
  Program& one = rendezvous.start(1, 1);
  EXPECT_TRUE(zero.wait_for("ready") && one.wait_for("ready"));
  const pid_t other = agent_beside(rendezvous.tag(), {hub});
  EXPECT_NE(other, 0);
  ::kill(victim == 0 ? hub : other, SIGKILL);
  return rendezvous.finish();
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

/// The process with @p name among those with @p tag in their command line. 0: none.
pid_t process_named(const std::string& name, const std::string& tag) {
  for (const pid_t pid : driver::processes_with(tag)) {
    if (driver::name_of(pid) == name) return pid;
  }
  return 0;
}

/// The agent's watchdog is stopped before the agent is killed, and killed after it: the watchdog
/// can do nothing for the ranks.
TEST(RendezvousLoss, AnAgentsDeathWithItsWatchdogsEndsItsRanks) {
  for (const char* verb : {"await-loss", "hang-ignoring"}) {
    Rendezvous rendezvous(3, {verb});
    rendezvous.start_all(1);
    ASSERT_TRUE(rendezvous.all_say("ready"));
    pid_t watchdog = 0;
    while ((watchdog = process_named("agent-watchdog", rendezvous.tag())) == 0) ::usleep(1000);
    // Until the watchdog has its own name it has the agent's: the agent is looked for after it.
    const pid_t agent = agent_beside(rendezvous.tag(), {});
    ASSERT_NE(agent, 0);
    ::kill(watchdog, SIGSTOP);
    ::kill(agent, SIGKILL);
    ::kill(watchdog, SIGKILL);
    EXPECT_TRUE(driver::all_gone(rendezvous.tag())) << "ranks are left: " << verb;
    for (const Result& result : rendezvous.finish())
      EXPECT_EQ(result.code, 128 + SIGKILL) << verb << " " << result.err;
  }
}

/// Ranks that have ended their Jobs, or have none any more by an error, are not the agent's.
TEST(RendezvousLoss, AnAgentsEndLeavesProgramsAlone) {
  for (const char* verb : {"outlive", "outlive-abandoned"}) {
    Rendezvous rendezvous(2, {verb});
    rendezvous.start_all(1);
    for (const Result& result : rendezvous.finish())
      EXPECT_EQ(result.code, 0) << verb << result.err;
  }
}

TEST(RendezvousLoss, ARankThatEndsOnItsWayToItsAgentIsLost) {
  for (const char* host : {"host 0", "host 1"}) {
    Rendezvous rendezvous(3, {"await-loss"});
    Program& zero = rendezvous.start(0, 0);
    Program& one = rendezvous.start(1, 1);
    {
      auto link = come_as(rendezvous, 2, 3, host);
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
