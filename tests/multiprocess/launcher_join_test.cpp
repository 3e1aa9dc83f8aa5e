// Jobs whose ranks nobody's viaduct-run has started: the rendezvous, and PMIx.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>

#include "runtime/src/address.hpp"
#include "runtime/src/handshake.hpp"
#include "tests/multiprocess/launcher_driver.hpp"

namespace {

using driver::Environment;
using driver::Program;
using driver::Result;
using Words = std::vector<std::string>;

constexpr const char* kSecret = "a secret of more than sixteen characters";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Listener {
  int fd = -1;
  std::string address;
  ~Listener() {
    if (fd >= 0) ::close(fd);
  }
};

/// A socket on a free port of 127.0.0.1, listening or only taken.
Listener take_port(bool listening) {
  Listener result;
  result.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof at;
  const bool works = ::bind(result.fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 &&
                     (!listening || ::listen(result.fd, 8) == 0) &&
                     ::getsockname(result.fd, reinterpret_cast<sockaddr*>(&at), &bytes) == 0;
  EXPECT_TRUE(works);
  result.address = "tcp://127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  return result;
}

std::string free_address() { return take_port(false).address; }

/// The ranks of one rendezvous, each to be started when the test wants it.
class Meeting {
 public:
  explicit Meeting(int size, Words verb, std::string limit = "20s")
      : size_(size), verb_(std::move(verb)), limit_(std::move(limit)) {}
  ~Meeting() {
    ranks_.clear();
    EXPECT_TRUE(driver::all_gone(tag_, 5)) << "processes are left";
  }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  /// Starts rank @p number on pretended host @p host.
  Program& start(int number, int host, const Environment& more = {}) {
    Words words{driver::test_program("launcher_actor"), tag_};
    words.insert(words.end(), verb_.begin(), verb_.end());
    Environment environment{{"VIADUCT_RENDEZVOUS", address_},
                            {"VIADUCT_RANK", std::to_string(number)},
                            {"VIADUCT_SIZE", std::to_string(size_)},
                            {"VIADUCT_JOB_SECRET", kSecret},
                            {"VIADUCT_HOST_KEY", "host " + std::to_string(host)},
                            {"VIADUCT_JOIN_TIMEOUT", limit_}};
    environment.insert(environment.end(), more.begin(), more.end());
    ranks_.push_back(std::make_unique<Program>(words, environment));
    return *ranks_.back();
  }

  /// All ranks, in blocks on @p hosts hosts.
  void start_all(int hosts) {
    for (int i = 0; i < size_; ++i) start(i, i * hosts / size_);
  }

  std::vector<Result> finish() {
    std::vector<Result> results;
    for (auto& rank : ranks_) results.push_back(rank->finish());
    return results;
  }

  [[nodiscard]] const std::string& tag() const { return tag_; }
  [[nodiscard]] const std::string& address() const { return address_; }
  void set_address(const std::string& address) { address_ = address; }

 private:
  int size_;
  Words verb_;
  std::string limit_;
  std::string tag_ = driver::new_tag();
  std::string address_ = free_address();
  std::vector<std::unique_ptr<Program>> ranks_;
};

void expect_all_well(const std::vector<Result>& results) {
  for (const Result& result : results) EXPECT_EQ(result.code, 0) << result.err << result.out;
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

/// The agent (not the guard) among the processes with a tag.
pid_t agent_beside(const std::string& tag, const std::vector<pid_t>& known) {
  for (const pid_t pid : driver::processes_with(tag)) {
    const bool is_known = std::find(known.begin(), known.end(), pid) != known.end();
    if (!is_known && driver::name_of(pid) == "viaduct-agent") return pid;
  }
  return 0;
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

// --- what goes wrong at the start
// ------------------------------------------------------------------

TEST(RendezvousRefusal, NobodyListens) {
  Meeting meeting(2, {"ok"}, "1s");
  const Result result = meeting.start(1, 0).finish();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "rank 1 of 2: no hub answers at tcp://127.0.0.1:")) << result.err;
  EXPECT_TRUE(has(result.err, "rank 0, which opens it, has not come within 1 s")) << result.err;
  EXPECT_LT(result.seconds, 10);
}

TEST(RendezvousRefusal, SomethingElseListens) {
  for (const bool talks : {false, true}) {
    const Listener stranger = take_port(true);
    Meeting meeting(2, {"ok"}, "1s");
    meeting.set_address(stranger.address);
    Program& rank = meeting.start(1, 0);
    const int caller = ::accept(stranger.fd, nullptr, nullptr);
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
    EXPECT_LT(result.seconds, 10);
  }
}

TEST(RendezvousRefusal, AddressInUseOrElsewhere) {
  const Listener stranger = take_port(true);
  Meeting taken(2, {"ok"}, "1s");
  taken.set_address(stranger.address);
  const Result in_use = taken.start(0, 0).finish();
  EXPECT_EQ(in_use.code, 1);
  EXPECT_TRUE(has(in_use.err, "another program listens there")) << in_use.err;
  Meeting away(2, {"ok"}, "1s");
  away.set_address("tcp://192.0.2.77:7777");  // documentation only: nobody's
  const Result elsewhere = away.start(0, 0).finish();
  EXPECT_EQ(elsewhere.code, 1);
  EXPECT_TRUE(has(elsewhere.err, "must be an address of the host that rank 0 runs on"))
      << elsewhere.err;
}

TEST(RendezvousRefusal, RanksThatDoNotComeAreNamedToAll) {
  Meeting meeting(4, {"ok"}, "1s");
  meeting.start(0, 0);
  meeting.start(2, 1);
  for (const Result& result : meeting.finish()) {
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(has(result.err, "ranks 1 and 3 of 4 have not come within 1 s")) << result.err;
    EXPECT_LT(result.seconds, 10);
  }
}

TEST(RendezvousRefusal, WrongSize) {
  Meeting meeting(3, {"ok"}, "3s");
  meeting.start(0, 0);
  meeting.start(1, 0);
  meeting.start(2, 0, {{"VIADUCT_SIZE", "4"}});
  const std::vector<Result> results = meeting.finish();
  for (const Result& result : results) EXPECT_EQ(result.code, 1);
  for (const std::size_t told : {0U, 2U})
    EXPECT_TRUE(has(results[told].err, "says that the job has 4 ranks, rank 0 says 3"))
        << results[told].err;
  // Rank 1 may come when all is over.
  const bool knows = has(results[1].err, "says that the job has 4 ranks, rank 0 says 3") ||
                     has(results[1].err, "no hub answers");
  EXPECT_TRUE(knows) << results[1].err;
}

TEST(RendezvousRefusal, ARankNumberThatComesTwice) {
  Meeting meeting(3, {"ok"}, "3s");
  Program& zero = meeting.start(0, 0);
  meeting.start(1, 0);
  Program& again = meeting.start(1, 0);
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
  Meeting meeting(2, {"hang"});
  Program& zero = meeting.start(0, 0);
  Program& one = meeting.start(1, 0);
  ASSERT_TRUE(zero.wait_for("ready") && one.wait_for("ready"));
  const Result late = meeting.start(1, 0).finish();
  EXPECT_EQ(late.code, 1);
  EXPECT_TRUE(has(late.err, "is late: the job has begun, with rank 1 (pid ")) << late.err;
  zero.signal(SIGKILL);
  one.signal(SIGKILL);
}

TEST(RendezvousRefusal, WrongSecret) {
  Meeting meeting(2, {"ok"}, "2s");
  Program& zero = meeting.start(0, 0);
  const Result one =
      meeting.start(1, 0, {{"VIADUCT_JOB_SECRET", "another secret, as long as it must be"}})
          .finish();
  EXPECT_EQ(one.code, 1);
  EXPECT_TRUE(has(one.err, "knows another secret than this process")) << one.err;
  const Result first = zero.finish();
  EXPECT_TRUE(has(first.err, "rank 1 of 2 has not come within 2 s")) << first.err;
  EXPECT_TRUE(has(first.err, "1 process came with a wrong secret")) << first.err;
}

TEST(RendezvousRefusal, ARankThatEndsWhileOthersAreAwaited) {
  Meeting meeting(3, {"ok"});
  Program& zero = meeting.start(0, 0);
  Program& one = meeting.start(1, 0);
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
    Meeting meeting(2, {"ok"}, "1s");
    const Result result = meeting.start(1, 0, environment).finish();
    EXPECT_EQ(result.code, 1) << sentence;
    EXPECT_TRUE(has(result.err, sentence)) << result.err;
  }
  const Result missing = Program({driver::test_program("launcher_actor"), driver::new_tag(), "ok"},
                                 {{"VIADUCT_RENDEZVOUS", "tcp://localhost:7777"}})
                             .finish();
  EXPECT_TRUE(has(missing.err, "VIADUCT_RENDEZVOUS is set and VIADUCT_SIZE is not")) << missing.err;
}

TEST(RendezvousRefusal, ProviderForSeveralHostsIsMissing) {
  Meeting meeting(2, {"nic"});
  meeting.start_all(2);
  for (const Result& result : meeting.finish()) {
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(has(result.err, "this job's 2 ranks are on 2 hosts")) << result.err;
    EXPECT_TRUE(has(result.err, "provider verbs is missing between them")) << result.err;
  }
}

// --- strangers at the hub's port, and hubs that end ---------------------------------------------

/// A connection to @p address, once somebody listens there.
int call(const std::string& address) {
  std::string problem;
  const auto limit = viaduct::link::Clock::now() + std::chrono::seconds(20);
  return viaduct::connect_to(viaduct::parse_addresses(address), limit, problem);
}

class Strangers {
 public:
  ~Strangers() {
    for (const int fd : calls_) ::close(fd);
  }
  void add(int fd, const std::string& words = "") {
    calls_.push_back(fd);
    EXPECT_EQ(::send(fd, words.data(), words.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(words.size()));
  }

 private:
  std::vector<int> calls_;
};

TEST(RendezvousStrangers, TheJobBeginsInSpiteOfThem) {
  Meeting meeting(2, {"spread"});
  meeting.start(0, 0);
  Strangers strangers;
  strangers.add(call(meeting.address()), std::string(1000, 'x'));
  strangers.add(call(meeting.address()), "GET / HTTP/1.1\r\n\r\n");
  strangers.add(call(meeting.address()), "VIADUCT3");
  {
    Strangers gone;
    gone.add(call(meeting.address()), "half a wo");
    gone.add(call(meeting.address()));
  }
  constexpr int kSilent = 400;  // more than are kept
  for (int i = 0; i < kSilent; ++i) strangers.add(call(meeting.address()));
  meeting.start(1, 1);
  expect_all_well(meeting.finish());
}

/// Comes as rank @p rank by the handshake, and does nothing more.
viaduct::link::Link come_as(const Meeting& meeting, std::uint32_t rank, std::uint32_t size,
                            const std::string& host) {
  viaduct::handshake::Caller caller{};
  caller.role = viaduct::handshake::Role::rank;
  caller.rank = rank;
  caller.size = size;
  caller.pid = ::getpid();
  caller.host_key = viaduct::handshake::fixed_text<64>(host);
  caller.host_name = viaduct::handshake::fixed_text<64>(std::string(300, 'h'));
  return viaduct::handshake::greet_hub(call(meeting.address()), caller, kSecret, meeting.address(),
                                       viaduct::link::Clock::now() + std::chrono::seconds(20));
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

TEST(RendezvousRefusal, ANameThatIsLongIsCut) {
  Meeting meeting(3, {"ok"}, "3s");
  Program& zero = meeting.start(0, 0);
  const auto link = come_as(meeting, 1, 3, std::string(300, 'k'));
  const Result result = zero.finish();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "rank 2 of 3 has not come within 3 s")) << result.err;
}

TEST(RendezvousRefusal, TheHubEndsWhileRanksWait) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    Meeting meeting(3, {"ok"}, "3s");
    Program& zero = meeting.start(0, 0);
    pid_t hub = 0;
    while ((hub = agent_beside(meeting.tag(), {})) == 0) ::usleep(1000);
    Program& one = meeting.start(1, 1);
    ::usleep(300'000);  // rank 1 may have come by now, and waits; else it finds nobody
    ::kill(hub, signal);
    for (Program* each : {&zero, &one}) {
      const Result result = each->finish();
      EXPECT_EQ(result.code, 1);
      const bool named = has(result.err, "while this rank waited for the others") ||
                         has(result.err, "no hub answers") || has(result.err, "is not the hub") ||
                         has(result.err, "ended while this process greeted it");
      EXPECT_TRUE(named) << result.err;
      EXPECT_LT(result.seconds, 20);
    }
    ::kill(hub, SIGKILL);
  }
}

// --- PMIx
// ------------------------------------------------------------------------------------------

class Pmix : public testing::Test {
 protected:
  void SetUp() override {
    if (::access(kMpirun, X_OK) != 0) GTEST_SKIP() << "no mpirun here (Debian: openmpi-bin)";
  }
  static Result mpirun(int ranks, const Words& verb) {
    const std::string tag = driver::new_tag();
    Words words{kMpirun,
                "-n",
                std::to_string(ranks),
                "--allow-run-as-root",
                "--oversubscribe",
                driver::test_program("launcher_actor"),
                tag};
    words.insert(words.end(), verb.begin(), verb.end());
    Result result = Program(words).finish();
    EXPECT_TRUE(driver::all_gone(tag, 5)) << "processes are left";
    return result;
  }
  static constexpr const char* kMpirun = "/usr/bin/mpirun";
};

TEST_F(Pmix, MpirunMakesOneJob) {
  for (const int ranks : {1, 2, 7}) {
    const Result result = mpirun(ranks, {"describe"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (int i = 0; i < ranks; ++i)
      EXPECT_EQ(driver::count(result.out,
                              "rank " + std::to_string(i) + " of " + std::to_string(ranks) + " "),
                1)
          << result.out;
  }
}

TEST_F(Pmix, MpirunsRanksShareMemoryAndBarriers) {
  for (const char* verb : {"exchange", "around", "ok", "nic"}) {
    const Result result = mpirun(4, {verb, "20"});
    EXPECT_EQ(result.code, 0) << verb << ": " << result.err << result.out;
  }
}

TEST_F(Pmix, ARankThatFailsEndsMpirun) {
  const Result result = mpirun(3, {"return", "1", "7"});
  EXPECT_EQ(result.code, 7) << result.err;
  const Result killed = mpirun(3, {"die", "1", std::to_string(SIGKILL)});
  EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
  EXPECT_TRUE(has(killed.err, "exited on signal 9")) << killed.err;
}

TEST_F(Pmix, MpirunThatIsEndedTakesItsRanksAlong) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const std::string tag = driver::new_tag();
    Program program({kMpirun, "-n", "3", "--allow-run-as-root", "--oversubscribe",
                     driver::test_program("launcher_actor"), tag, "hang"});
    ASSERT_TRUE(program.wait_for("ready", 3));
    program.signal(signal);
    EXPECT_TRUE(driver::all_gone(tag, 10)) << "processes are left";
    EXPECT_NE(program.finish().code, 0);
  }
}

/// With nobody to reap them, its ranks go as well.
TEST_F(Pmix, MpirunThatIsKilledTakesItsRanksAlong) {
  const std::string tag = driver::new_tag();
  Program program({kMpirun, "-n", "3", "--allow-run-as-root", "--oversubscribe",
                   driver::test_program("launcher_actor"), tag, "hang"});
  ASSERT_TRUE(program.wait_for("ready", 3));
  program.signal(SIGKILL);
  EXPECT_TRUE(driver::all_gone(tag, 2)) << "processes are left";
}

TEST_F(Pmix, ARankWithoutAJobIsNamed) {
  const std::string tag = driver::new_tag();
  const Result result = Program({kMpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2",
                                 driver::test_program("launcher_actor"), tag, "ok", ":", "-n", "1",
                                 "/bin/sleep", "20"},
                                {{"VIADUCT_JOIN_TIMEOUT", "2s"}})
                            .finish();
  EXPECT_NE(result.code, 0);
  EXPECT_TRUE(has(result.err, "rank 2 of 3 has not come within 2 s")) << result.err;
  EXPECT_LT(result.seconds, 15);
  EXPECT_TRUE(driver::all_gone(tag, 5)) << "processes are left";
}

TEST(PmixRefusal, AServerThatIsNotThere) {
  for (const char* uri : {"", "space.0;tcp4://127.0.0.1:1"}) {
    Environment environment{{"PMIX_NAMESPACE", "space"}, {"PMIX_RANK", "0"}};
    if (*uri != '\0') environment.emplace_back("PMIX_SERVER_URI41", uri);
    const Result result =
        Program({driver::test_program("launcher_actor"), driver::new_tag(), "ok"}, environment)
            .finish();
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(
        has(result.err, "PMIX_NAMESPACE=space speaks of a PMIx server that does not answer"))
        << result.err;
    EXPECT_LT(result.seconds, 30);
  }
}

TEST(PmixRefusal, ALibraryThatCannotBeLoaded) {
  const std::string folder = testing::TempDir() + driver::new_tag();
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  const std::string library = folder + "/libpmix.so.2";
  std::ofstream(library) << "this is no library";
  const Result result = Program({driver::test_program("launcher_actor"), driver::new_tag(), "ok"},
                                {{"PMIX_NAMESPACE", "space"}, {"LD_LIBRARY_PATH", folder}})
                            .finish();
  ::unlink(library.c_str());
  ::rmdir(folder.c_str());
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "libpmix.so.2 cannot be loaded")) << result.err;
  EXPECT_TRUE(has(result.err, "Debian: libpmix2")) << result.err;
}

}  // namespace
