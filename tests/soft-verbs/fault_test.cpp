/// Faults: what is lost, late, doubled or torn, and devices, ports and processes that end.

#include <sys/wait.h>

#include <csignal>

#include "tests/soft-verbs/rig.hpp"

namespace soft_verbs::test {
namespace {

void faults(const char* text) {
  std::string problem;
  ASSERT_TRUE(apply_faults(page(), text, problem)) << problem;
}

/// Requests of all kinds and many sizes arrive once, whole and in order.
void expect_traffic(Both& both) {
  both.a.fill(0, 8192, 3);
  std::uint64_t sum = 0;
  std::memset(both.b.memory.data() + 32768, 0, 8);
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::size_t bytes = i * 131 % 8000;
    std::memset(both.b.memory.data(), 0, 16384);
    ASSERT_EQ(both.b.receive(0, 8192, i), 0);
    ASSERT_EQ(both.a.send(0, bytes, i, 0), 0);
    ibv_sge from = both.a.at(0, bytes);
    ibv_send_wr write = both.a.request(IBV_WR_RDMA_WRITE, &from, 1, &both.b, 8192);
    write.send_flags = 0;
    ASSERT_EQ(both.a.post(write), 0);
    ibv_sge old = both.a.at(20'000, 8);
    ibv_send_wr add = both.a.request(IBV_WR_ATOMIC_FETCH_AND_ADD, &old, 1, &both.b, 32768);
    add.wr.atomic.compare_add = i;
    add.send_flags = 0;
    ASSERT_EQ(both.a.post(add), 0);
    ibv_sge back = both.a.at(30'000, bytes);
    ibv_send_wr read = both.a.request(IBV_WR_RDMA_READ, &back, 1, &both.b, 8192);
    ASSERT_EQ(both.a.post(read), 0);
    ASSERT_EQ(both.a.status(), IBV_WC_SUCCESS);
    const ibv_wc got = both.b.next();
    ASSERT_EQ(got.status, IBV_WC_SUCCESS);
    EXPECT_EQ(got.wr_id, i);
    EXPECT_EQ(got.byte_len, bytes);
    EXPECT_TRUE(both.b.holds(0, bytes, 3));
    EXPECT_TRUE(both.a.holds(30'000, bytes, 3));
    std::uint64_t before = 0;
    std::memcpy(&before, both.a.memory.data() + 20'000, sizeof before);
    EXPECT_EQ(before, sum) << "each addition is made once";
    sum += i;
  }
  EXPECT_TRUE(both.b.is_empty());
}

struct Strike {
  const char* faults;
  Counter counter;
};
class SoftFault : public testing::TestWithParam<Strike> {};

TEST_P(SoftFault, LosesNothing) {
  Sizes sizes;
  sizes.retries = 7;
  sizes.timeout = 8;  // 1 ms
  Both both(sizes);
  faults(GetParam().faults);
  expect_traffic(both);
  EXPECT_GT(page().counters[GetParam().counter], 0U) << "and it has struck";
}
INSTANTIATE_TEST_SUITE_P(
    Soft, SoftFault,
    testing::Values(Strike{"loss=10%,seed=1", kLost}, Strike{"loss=10%,seed=2", kSequenceErrors},
                    Strike{"loss=10%,seed=3", kRetries}, Strike{"duplicate=30%", kDuplicated},
                    Strike{"delay=20%:300us", kDelayed}, Strike{"late=50%:500us", kLateCompletions},
                    Strike{"torn=50%", kTornWrites}, Strike{"scattered=50%", kTornWrites},
                    Strike{"loss=3%,duplicate=5%,delay=5%:200us,late=20%:200us", kLost}));

TEST(SoftFaults, ATornWriteIsSeenByteByByte) {
  Both both;
  faults("torn=50%,scattered=50%");
  std::atomic<bool> ends{false};
  std::atomic<std::uint64_t> torn{0};
  auto* const word = reinterpret_cast<std::atomic<std::uint64_t>*>(both.b.memory.data());
  std::thread reader([&] {
    while (!ends) {
      const std::uint64_t seen = word->load();
      torn += seen != 0 && seen != ~0ULL ? 1 : 0;
    }
  });
  for (int i = 0; torn == 0 && i < 1'000'000; ++i) {  // mostly a few
    std::memset(both.a.memory.data(), i % 2 == 0 ? 0xff : 0, 8);
    ibv_sge from = both.a.at(0, 8);
    ibv_send_wr write = both.a.request(IBV_WR_RDMA_WRITE, &from, 1, &both.b, 0);
    ASSERT_EQ(both.a.post(write), 0);
    ASSERT_EQ(both.a.status(), IBV_WC_SUCCESS);
  }
  ends = true;
  reader.join();
  EXPECT_GT(torn, 0U);
}

TEST(SoftFaults, ACompletionComesTwice) {
  Both both;
  faults("again=100%");
  ibv_send_wr write = both.a.request(IBV_WR_RDMA_WRITE, nullptr, 0, &both.b, 0);
  write.wr_id = 5;
  ASSERT_EQ(both.a.post(write), 0);
  EXPECT_EQ(both.a.next().wr_id, 5U);
  EXPECT_EQ(both.a.next().wr_id, 5U);
}

TEST(SoftFaults, GarbageComesBehindADatagram) {
  Sizes sizes;
  sizes.type = IBV_QPT_UD;
  Both both(sizes);
  faults("garbage=100%,seed=4");
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_EQ(both.b.receive(i * 8192, 40 + 4096, i), 0);
  both.a.fill(0, 50, 1);
  ASSERT_EQ(both.a.send(0, 50), 0);
  EXPECT_EQ(both.b.next().byte_len, 90U);
  EXPECT_TRUE(both.b.holds(40, 50, 1));
  EXPECT_EQ(both.b.next().wr_id, 1U) << "something else";
}

TEST(SoftFaults, ACutIsNoticedAfterAllRepetitionsAndHeals) {
  for (const std::uint32_t what : {kCutRequests, kCutAnswers}) {
    page().cut = 0;
    Both both;
    ASSERT_EQ(both.b.receive(0, 8), 0);
    page().cut = what;
    ASSERT_EQ(both.a.send(0, 8), 0);
    EXPECT_EQ(both.a.status(), IBV_WC_RETRY_EXC_ERR);
    EXPECT_EQ(both.b.is_empty(), what == kCutRequests) << "it may have arrived";
  }
  page().cut = kCutAnswers;
  Sizes patient;
  patient.retries = 7;
  patient.timeout = 13;  // 34 ms
  Both both(patient);
  ASSERT_EQ(both.b.receive(0, 8), 0);
  ASSERT_EQ(both.a.send(0, 8), 0);
  EXPECT_EQ(both.b.status(), IBV_WC_SUCCESS);
  EXPECT_TRUE(both.a.is_empty());
  page().cut = 0;
  EXPECT_EQ(both.a.status(), IBV_WC_SUCCESS) << "the next repetition is answered";
  EXPECT_TRUE(both.b.is_empty()) << "and not received again";
}

TEST(SoftFaults, APortGoesDownAndComesUp) {
  Both both;
  ibv_port_attr port{};
  const std::string control = "PATH=" + std::string(SOFT_VERBS_FOLDER) + ":$PATH; ";
  const std::string page_name = "/proc/" + std::to_string(getpid()) + "/fd/";
  const std::string file = std::getenv("SOFT_VERBS_CONTROL");
  setenv("SOFT_VERBS_CONTROL", (page_name + file.substr(file.rfind('/') + 1)).c_str(), 1);
  ASSERT_EQ(std::system((control + "soft-verbs-control port down soft1").c_str()), 0);
  EXPECT_EQ(both.b.event(), IBV_EVENT_PORT_ERR);
  ASSERT_EQ(ibv_query_port(both.b.context, 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
  ASSERT_EQ(ibv_query_port(both.a.context, 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  EXPECT_TRUE(both.a.no_event());
  ASSERT_EQ(both.a.send(0, 8), 0);
  EXPECT_EQ(both.a.status(), IBV_WC_RETRY_EXC_ERR);
  ASSERT_EQ(std::system((control + "soft-verbs-control port up").c_str()), 0);
  EXPECT_EQ(both.b.event(), IBV_EVENT_PORT_ACTIVE);
  ASSERT_EQ(std::system((control + "soft-verbs-control die soft1").c_str()), 0);
  EXPECT_EQ(both.b.event(), IBV_EVENT_DEVICE_FATAL);
  EXPECT_EQ(both.b.receive(0, 8), EIO);
  EXPECT_EQ(open("soft1"), nullptr);
  EXPECT_NE(std::system((control + "soft-verbs-control port down none 2>/dev/null").c_str()), 0);
  EXPECT_NE(std::system((control + "soft-verbs-control faults x=1 2>/dev/null").c_str()), 0);
}

TEST(SoftFaults, ADeviceDiesAndItsPeersAreTold) {
  Both both;
  ASSERT_EQ(both.a.send(0, 8), 0);  // not ready: it is under way
  page().dead = 2;
  EXPECT_EQ(both.a.status(), IBV_WC_RETRY_EXC_ERR);
}

/// Another process with a pair that is connected to this one's.
class Other {
 public:
  explicit Other(const Sizes& sizes) {
    (void)page();
    int there[2];
    int back[2];
    EXPECT_EQ(pipe(there) | pipe(back), 0);
    child_ = fork();
    if (child_ == 0) serve(sizes, there[0], back[1]);
    end_ = std::make_unique<End>("soft0", sizes);
    std::uint32_t number = 0;
    EXPECT_EQ(write(there[1], &end_->pair->qp_num, sizeof number),
              static_cast<ssize_t>(sizeof number));
    EXPECT_EQ(read(back[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
    ibv_context* const far = open("soft1");
    end_->connect(number, End::route_to(far));
    ibv_close_device(far);
    char ready = 0;
    EXPECT_EQ(read(back[0], &ready, 1), 1);
  }
  ~Other() {
    if (child_ > 0) signal(SIGKILL);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  End& end() { return *end_; }
  void signal(int number) {
    kill(child_, number);
    int status = 0;
    if (number == SIGKILL) waitpid(std::exchange(child_, 0), &status, 0);
    if (number == SIGSTOP) waitpid(child_, &status, WUNTRACED);
  }

 private:
  [[noreturn]] static void serve(const Sizes& sizes, int in, int out) {
    End end("soft1", sizes);
    ibv_context* const far = open("soft0");
    std::uint32_t number = 0;
    bool good = read(in, &number, sizeof number) == sizeof number;
    good = good && write(out, &end.pair->qp_num, sizeof number) == sizeof number;
    end.connect(number, End::route_to(far));
    for (int i = 0; i < 16; ++i) good = good && end.receive(0, 1000) == 0;
    good = good && write(out, "", 1) == 1;
    while (good) pause();
    _exit(1);
  }
  pid_t child_ = 0;
  std::unique_ptr<End> end_;
};

TEST(SoftProcess, AStoppedOneIsNotLostAndAKilledOneIs) {
  Sizes sizes;
  sizes.timeout = 8;  // 1 ms
  Other other(sizes);
  ASSERT_EQ(other.end().send(0, 1000), 0);
  EXPECT_EQ(other.end().status(), IBV_WC_SUCCESS);
  other.signal(SIGSTOP);
  ASSERT_EQ(other.end().send(0, 1000), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // 30 times what repetitions take
  EXPECT_TRUE(other.end().is_empty()) << "its socket takes packets";
  other.signal(SIGCONT);
  EXPECT_EQ(other.end().status(), IBV_WC_SUCCESS);
  other.signal(SIGSTOP);
  ASSERT_EQ(other.end().send(0, 1000), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  other.signal(SIGKILL);
  EXPECT_EQ(other.end().status(), IBV_WC_RETRY_EXC_ERR);
}

TEST(SoftProcess, AChildKeepsNothingOfItsParentsAlive) {
  (void)page();
  const Sizes sizes;
  int line[2];
  int numbers[2];
  int answers[2];
  ASSERT_EQ(pipe(line) | pipe(numbers) | pipe(answers), 0);
  const pid_t parent = fork();  // before this process has threads
  if (parent == 0) {
    End end("soft1", sizes);
    ibv_context* const far = open("soft0");
    std::uint32_t number = 0;
    bool good = read(numbers[0], &number, 4) == 4;
    end.connect(number, End::route_to(far));
    good = good && end.receive(0, 8) == 0;
    const pid_t child = fork();
    if (child == 0) {  // lives on; what it calls answers at once
      good = end.receive(0, 8) == EIO && end.send(0, 8) == EIO;
      char any = 0;
      while (read(line[0], &any, 1) < 0) continue;
      _exit(good ? 0 : 1);
    }
    good = good && write(answers[1], &end.pair->qp_num, 4) == 4;
    while (good) pause();
    _exit(1);
  }
  close(answers[1]);
  End one("soft0", sizes);
  std::uint32_t number = 0;
  ASSERT_EQ(write(numbers[1], &one.pair->qp_num, 4), 4);
  ASSERT_EQ(read(answers[0], &number, 4), 4);
  ibv_context* const far = open("soft1");
  one.connect(number, End::route_to(far));
  ibv_close_device(far);
  ASSERT_EQ(one.send(0, 8), 0);
  EXPECT_EQ(one.status(), IBV_WC_SUCCESS);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  ASSERT_EQ(one.send(0, 8), 0);
  EXPECT_EQ(one.status(), IBV_WC_RETRY_EXC_ERR) << "though its child lives";
  EXPECT_EQ(write(line[1], "", 1), 1);
}

TEST(SoftFaults, ListsAreReadAndShown) {
  Control& control = page();
  std::string problem;
  EXPECT_TRUE(apply_faults(control, "loss=2.5%,delay=10%:500us,seed=7", problem));
  EXPECT_EQ(control.per_million[kLoss], 25'000U);
  EXPECT_EQ(control.time_ns[kDelay], 500'000U);
  EXPECT_EQ(control.seed, 7U);
  for (const char* wrong :
       {"loss", "loss=3", "loss=101%", "loss=3%:5", "x=1%", "seed=a", "loss=-1%"})
    EXPECT_FALSE(apply_faults(control, wrong, problem)) << wrong;
  EXPECT_NE(problem.find("duplicate"), std::string::npos) << "the names are shown";
  EXPECT_NE(describe_faults(control).find("seed=7"), std::string::npos);
}

}  // namespace
}  // namespace soft_verbs::test
