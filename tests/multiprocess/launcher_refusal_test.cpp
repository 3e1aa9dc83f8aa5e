// What goes wrong when ranks are to meet by a rendezvous.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>
#include <fstream>

#include "tests/multiprocess/launcher_rendezvous.hpp"

namespace {

using driver::agent_beside;
using driver::call;
using driver::come_as;
using driver::Environment;
using driver::expect_all_well;
using driver::has;
using driver::Listener;
using driver::Program;
using driver::Rendezvous;
using driver::Result;
using driver::take_port;

TEST(RendezvousRefusal, NobodyListens) {
  Rendezvous rendezvous(2, {"ok"}, "1s");
  const Result result = rendezvous.start(1, 0).finish();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "rank 1 of 2: no hub answers at tcp://127.0.0.1:")) << result.err;
  EXPECT_TRUE(has(result.err, "rank 0, which opens it, has not come within 1 s")) << result.err;
  EXPECT_LT(result.seconds, driver::kHangSeconds);
}

TEST(RendezvousRefusal, SomethingElseListens) {
  for (const bool talks : {false, true}) {
    const Listener other = take_port(true);
    Rendezvous rendezvous(2, {"ok"}, "1s");
    rendezvous.set_address(other.address);
    Program& rank = rendezvous.start(1, 0);
    const int caller = ::accept(other.fd, nullptr, nullptr);
    const std::string words =
        "HTTP/1.1 400 Bad Request\r\nServer: something else altogether\r\n\r\n";
    if (talks) {
      EXPECT_EQ(::send(caller, words.data(), words.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(words.size()));
    }
    const Result result = rank.finish();
    ::close(caller);
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(has(result.err, "is not the hub of a Viaduct job")) << result.err;
    EXPECT_TRUE(has(result.err, "[VIA-0507]")) << result.err;
    EXPECT_LT(result.seconds, driver::kHangSeconds);
  }
}

TEST(RendezvousRefusal, AddressInUseOrElsewhere) {
  const Listener other = take_port(true);
  Rendezvous taken(2, {"ok"}, "1s");
  taken.set_address(other.address);
  const Result in_use = taken.start(0, 0).finish();
  EXPECT_EQ(in_use.code, 1);
  EXPECT_TRUE(has(in_use.err, "another program listens there")) << in_use.err;
  Rendezvous away(2, {"ok"}, "1s");
  away.set_address("tcp://192.0.2.77:7777");  // documentation only: nobody's
  const Result elsewhere = away.start(0, 0).finish();
  EXPECT_EQ(elsewhere.code, 1);
  EXPECT_TRUE(has(elsewhere.err, "must be an address of the host that rank 0 runs on"))
      << elsewhere.err;
}

TEST(RendezvousRefusal, RanksThatDoNotComeAreNamedToAll) {
  Rendezvous rendezvous(4, {"ok"}, "3s");
  rendezvous.start(0, 0);
  rendezvous.start(2, 1);
  for (const Result& result : rendezvous.finish()) {
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(has(result.err, "ranks 1 and 3 of 4 have not come within 3 s")) << result.err;
    EXPECT_LT(result.seconds, driver::kHangSeconds);
  }
}

TEST(RendezvousRefusal, WrongSize) {
  Rendezvous rendezvous(3, {"ok"}, "10s");
  rendezvous.start(0, 0);
  rendezvous.start(1, 0);
  rendezvous.start(2, 0, {{"VIADUCT_SIZE", "4"}});
  const std::vector<Result> results = rendezvous.finish();
  for (const Result& result : results) EXPECT_EQ(result.code, 1);
  for (const std::size_t told : {0U, 2U})
    EXPECT_TRUE(has(results[told].err, "says that the job has 4 ranks, rank 0 says 3"))
        << results[told].err;
  // Rank 1 may come when all is over.
  const bool knows = has(results[1].err, "says that the job has 4 ranks, rank 0 says 3") ||
                     has(results[1].err, "no hub answers");
  EXPECT_TRUE(knows) << results[1].err;
}

TEST(RendezvousRefusal, RanksWithoutASize) {
  Rendezvous rendezvous(2, {"ok"}, "4s");
  Program& zero = rendezvous.start_without_size(0, 0);
  const Result needed = zero.finish();
  EXPECT_EQ(needed.code, 1);
  EXPECT_TRUE(has(needed.err, "VIADUCT_RENDEZVOUS is set and VIADUCT_SIZE is not")) << needed.err;
  Program& nobody = rendezvous.start_without_size(1, 0);
  const Result alone = nobody.finish();
  EXPECT_EQ(alone.code, 1);
  EXPECT_TRUE(has(alone.err, "rank 1: no hub answers")) << alone.err;
  rendezvous.start(0, 0);
  Program& beyond = rendezvous.start_without_size(2, 0);
  const Result result = beyond.finish();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "is out of range: the job has ranks 0 to 1")) << result.err;
}

TEST(RendezvousRefusal, ARankNumberThatComesTwice) {
  Rendezvous rendezvous(3, {"ok"}, "3s");
  Program& zero = rendezvous.start(0, 0);
  rendezvous.start(1, 0);
  Program& again = rendezvous.start(1, 0);
  const Result second = again.finish();
  const Result first = zero.finish();
  EXPECT_TRUE(has(first.err, "rank 2 of 3 has not come within 3 s")) << first.err;
  EXPECT_TRUE(has(first.err, "although rank 1 (pid ")) << first.err;
  // Which of the two comes second is not settled.
  const bool told =
      has(second.err, "comes second: rank 1 (pid ") || has(second.err, "rank 2 of 3 has not come");
  EXPECT_TRUE(told) << second.err;
}

TEST(RendezvousRefusal, ALateRank) {
  Rendezvous rendezvous(2, {"hang"});
  Program& zero = rendezvous.start(0, 0);
  Program& one = rendezvous.start(1, 0);
  ASSERT_TRUE(zero.wait_for("ready") && one.wait_for("ready"));
  const Result late = rendezvous.start(1, 0).finish();
  EXPECT_EQ(late.code, 1);
  EXPECT_TRUE(has(late.err, "is late: the job has begun, with rank 1 (pid ")) << late.err;
  zero.signal(SIGKILL);
  one.signal(SIGKILL);
}

TEST(RendezvousRefusal, WrongSecret) {
  Rendezvous rendezvous(2, {"ok"}, "4s");
  Program& zero = rendezvous.start(0, 0);
  const Result one =
      rendezvous.start(1, 0, {{"VIADUCT_JOB_SECRET", "another secret, as long as it must be"}})
          .finish();
  EXPECT_EQ(one.code, 1);
  EXPECT_TRUE(has(one.err, "knows another secret than this process")) << one.err;
  EXPECT_TRUE(has(one.err, "[VIA-0506]")) << one.err;
  const Result first = zero.finish();
  EXPECT_TRUE(has(first.err, "rank 1 of 2 has not come within 4 s")) << first.err;
  EXPECT_TRUE(has(first.err, "1 process came with a wrong secret")) << first.err;
}

TEST(RendezvousRefusal, ARankThatEndsWhileOthersAreAwaited) {
  Rendezvous rendezvous(3, {"ok"});
  Program& zero = rendezvous.start(0, 0);
  Program& one = rendezvous.start(1, 0);
  // It has come when its connection is there, which nothing shows: it is killed after a moment, and
  // with any luck later. Killed before, it has not come, which the limit finds.
  ::usleep(500'000);
  one.signal(SIGKILL);
  const Result first = zero.finish();
  EXPECT_EQ(first.code, 1);
  const bool named = has(first.err, "rank 1 (pid ") || has(first.err, "ranks 1 and 2 of 3");
  EXPECT_TRUE(named) << first.err;
}

TEST(RendezvousRefusal, MalformedSettings) {
  const std::vector<std::pair<Environment, std::string>> bad{
      {{{"VIADUCT_RENDEZVOUS", "localhost"}}, "tcp://HOST:PORT"},
      {{{"VIADUCT_RENDEZVOUS", "tcp://localhost:0"}}, "tcp://HOST:PORT"},
      {{{"VIADUCT_RENDEZVOUS", "tcp://localhost:77777"}}, "tcp://HOST:PORT"},
      {{{"VIADUCT_RENDEZVOUS", "tcp://no-such-host.invalid:7777"}}, "is not known"},
      {{{"VIADUCT_RENDEZVOUS", "tcp://" + std::string(300, 'n') + ":7777"}}, "is not known"},
      {{{"VIADUCT_RENDEZVOUS", "tcp://::1:7777"}}, "tcp://HOST:PORT"},
      {{{"VIADUCT_RENDEZVOUS", "tcp://:7777"}}, "tcp://HOST:PORT"},
      {{{"VIADUCT_RENDEZVOUS", ""}}, "tcp://HOST:PORT"},
      {{{"VIADUCT_RANK", "2"}}, "a whole number from 0 to 1"},
      {{{"VIADUCT_RANK", "-1"}}, "a whole number from 0 to 1"},
      {{{"VIADUCT_RANK", ""}}, "a whole number from 0 to 1"},
      {{{"VIADUCT_RANK", "x"}}, "a whole number from 0 to 1"},
      {{{"VIADUCT_SIZE", "0"}}, "a whole number from 1 to"},
      {{{"VIADUCT_JOB_SECRET", "short"}}, "could be guessed"},
      {{{"VIADUCT_HOST_KEY", ""}}, "1 to 63 characters"},
      {{{"VIADUCT_HOST_KEY", std::string(64, 'k')}}, "1 to 63 characters"},
      {{{"VIADUCT_JOIN_TIMEOUT", "never"}}, "VIADUCT_JOIN_TIMEOUT=never is not accepted"}};
  for (const auto& [environment, sentence] : bad) {
    Rendezvous rendezvous(2, {"ok"}, "1s");
    const Result result = rendezvous.start(1, 0, environment).finish();
    EXPECT_EQ(result.code, 1) << sentence;
    EXPECT_TRUE(has(result.err, sentence)) << result.err;
  }
}

/// An actor with this environment and no other variable of a rendezvous.
Result actor_with(const Environment& environment) {
  return Program({driver::test_program("launcher_actor"), driver::new_tag(), "ok"}, environment)
      .finish();
}

TEST(RendezvousRefusal, TheVariableThatIsMissingIsNamed) {
  const std::string address = "tcp://localhost:7777";
  const Result both = actor_with({{"VIADUCT_RENDEZVOUS", address}});
  EXPECT_TRUE(has(both.err, "VIADUCT_RENDEZVOUS is set and VIADUCT_RANK is not")) << both.err;
  EXPECT_TRUE(has(both.err, "rank 0 needs VIADUCT_SIZE, the number of ranks, too")) << both.err;
  const Result rank = actor_with({{"VIADUCT_RENDEZVOUS", address}, {"VIADUCT_SIZE", "2"}});
  EXPECT_TRUE(has(rank.err, "VIADUCT_RENDEZVOUS is set and VIADUCT_RANK is not")) << rank.err;
  const Result size = actor_with({{"VIADUCT_RENDEZVOUS", address}, {"VIADUCT_RANK", "0"}});
  EXPECT_TRUE(has(size.err, "VIADUCT_RENDEZVOUS is set and VIADUCT_SIZE is not")) << size.err;
  const Result secret = actor_with({{"VIADUCT_RENDEZVOUS", address}, {"VIADUCT_RANK", "1"}});
  EXPECT_TRUE(has(secret.err, "VIADUCT_RENDEZVOUS is set and VIADUCT_JOB_SECRET is not"))
      << secret.err;
}

TEST(RendezvousRefusal, ARankWithoutAnAddress) {
  const std::vector<Environment> halves{
      {{"VIADUCT_RANK", "1"}, {"VIADUCT_SIZE", "4"}},
      {{"VIADUCT_RANK", "1"}, {"VIADUCT_SIZE", "4"}, {"VIADUCT_JOB_SECRET", driver::kSecret}},
      {{"VIADUCT_RANK", "0"}},
      {{"VIADUCT_SIZE", "4"}}};
  for (const Environment& half : halves) {
    const Result result = actor_with(half);
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(has(result.err,
                    half[0].first + "=" + half[0].second + " is set and VIADUCT_RENDEZVOUS is not"))
        << result.err;
    EXPECT_TRUE(has(result.err, "would silently make many jobs of one rank")) << result.err;
    EXPECT_TRUE(has(result.err, "[VIA-0503]")) << result.err;
  }
  EXPECT_EQ(actor_with({{"VIADUCT_RANK", "0"}, {"VIADUCT_SIZE", "1"}}).code, 0);
  // A rank has started this program, and has unset VIADUCT_JOB_ID as VIA-0102 says.
  const Result inside =
      Program({driver::viaduct_run(), "-n", "2", "/usr/bin/env", "-u", "VIADUCT_JOB_ID",
               driver::test_program("launcher_actor"), driver::new_tag(), "ok"})
          .finish();
  EXPECT_EQ(inside.code, 0) << inside.err;
}

TEST(RendezvousRefusal, ASecretThatIsNoFile) {
  const std::string folder = testing::TempDir();
  const std::string pipe = folder + driver::new_tag();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::pair<std::string, std::string>> bad{
      {pipe, "a pipe"}, {"/dev/zero", "a device"}, {folder, "a folder"}};
  for (const auto& [path, kind] : bad) {
    const Result result = actor_with({{"VIADUCT_RENDEZVOUS", "tcp://localhost:7777"},
                                      {"VIADUCT_RANK", "1"},
                                      {"VIADUCT_JOB_SECRET_FILE", path}});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(
        has(result.err, "VIADUCT_JOB_SECRET_FILE=" + path + " is not a regular file but " + kind))
        << result.err;
    EXPECT_TRUE(has(result.err, "[VIA-0503]")) << result.err;
  }
  EXPECT_EQ(::unlink(pipe.c_str()), 0);
}

TEST(RendezvousRefusal, ProviderForSeveralHostsIsMissing) {
  Rendezvous rendezvous(2, {"nic"});
  rendezvous.start_all(2);
  for (const Result& result : rendezvous.finish()) {
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(has(result.err, "this job's 2 ranks are on 2 hosts")) << result.err;
    EXPECT_TRUE(has(result.err, "provider verbs is missing between them")) << result.err;
  }
}

// --- unauthenticated callers at the hub's port, and hubs that end
// ---------------------------------------------

class Unauthenticated {
 public:
  void add(viaduct::FileDescriptor call, const std::string& words = "") {
    EXPECT_EQ(::send(call.get(), words.data(), words.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(words.size()));
    calls_.push_back(std::move(call));
  }

 private:
  std::vector<viaduct::FileDescriptor> calls_;
};

TEST(RendezvousUnauthenticated, TheJobBeginsInSpiteOfThem) {
  Rendezvous rendezvous(2, {"spread"});
  rendezvous.start(0, 0);
  Unauthenticated unauthenticated;
  unauthenticated.add(call(rendezvous.address()), std::string(1000, 'x'));
  unauthenticated.add(call(rendezvous.address()), "GET / HTTP/1.1\r\n\r\n");
  unauthenticated.add(call(rendezvous.address()), "VIADUCT3");
  {
    Unauthenticated gone;
    gone.add(call(rendezvous.address()), "half a wo");
    gone.add(call(rendezvous.address()));
  }
  constexpr int kSilent = 400;  // more than are kept
  for (int i = 0; i < kSilent; ++i) unauthenticated.add(call(rendezvous.address()));
  rendezvous.start(1, 1);
  expect_all_well(rendezvous.finish());
}

TEST(RendezvousRefusal, ANameThatIsLongIsCut) {
  Rendezvous rendezvous(3, {"ok"}, "3s");
  Program& zero = rendezvous.start(0, 0);
  const auto link = come_as(rendezvous, 1, 3, std::string(300, 'k'));
  const Result result = zero.finish();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "rank 2 of 3 has not come within 3 s")) << result.err;
}

TEST(RendezvousRefusal, TheHubEndsWhileRanksWait) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    Rendezvous rendezvous(3, {"ok"}, "3s");
    Program& zero = rendezvous.start(0, 0);
    pid_t hub = 0;
    while ((hub = agent_beside(rendezvous.tag(), {})) == 0) ::usleep(1000);
    Program& one = rendezvous.start(1, 1);
    ::usleep(300'000);  // rank 1 may have come by now, and waits; else it finds nobody
    ::kill(hub, signal);
    for (Program* each : {&zero, &one}) {
      const Result result = each->finish();
      EXPECT_EQ(result.code, 1);
      const bool named = has(result.err, "while this rank waited for the others") ||
                         has(result.err, "no hub answers") || has(result.err, "is not the hub") ||
                         has(result.err, "ended while this process greeted it");
      EXPECT_TRUE(named) << result.err;
      EXPECT_LT(result.seconds, driver::kHangSeconds);
    }
    ::kill(hub, SIGKILL);
  }
}

}  // namespace
