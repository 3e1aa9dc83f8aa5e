#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <tuple>

#include "benchmarks/common/logp_method.hpp"

// LogP's method on a simulated machine, whose clock moves by what the program does and by nothing
// else. So the values that the method finds are exact, whatever else the real machine does.

namespace viaduct::bench {
namespace {

/// The simulated clock of the sender, in ns.
double now = 0;

struct SimulatedMachine {
  struct Pair {
    void meet() noexcept {}
    [[nodiscard]] bool is_sender() const noexcept { return true; }
    double from_sender(double mine) noexcept { return mine; }
  };
  struct Stopwatch {
    [[nodiscard]] double elapsed_ns() const noexcept { return now - start; }
    double start = now;
  };
  static std::uint64_t steps_of(double ns) { return static_cast<std::uint64_t>(ns); }
  static double clock_ns() { return 0; }
  static void work(std::uint64_t steps) noexcept { now += static_cast<double>(steps); }
  static double works_ns(std::uint64_t times, std::uint64_t steps) noexcept {
    work(times * steps);
    return static_cast<double>(times * steps);
  }
  static void busy(double ns) noexcept { now += ns; }
};

struct LogP {
  double sending;    // o_s
  double receiving;  // o_r
  double latency;
  double gap;
};

/// The time per request of a long burst. A processor that sends a request handles a reply, too. The
/// slowest of the processors, of the network and of a credit's way there and back sets the pace.
double pace_of(const LogP& machine, std::uint32_t credits) {
  const double both = machine.sending + machine.receiving;
  return std::max({both, machine.gap, 2 * (machine.latency + both) / credits});
}

/// One direction of the network: messages leave at least a gap apart.
class Network {
 public:
  explicit Network(const LogP& machine) : machine_(machine) {}
  /// @return when a message arrives that its sender gives away at @p time.
  double carry(double time) {
    free_ = std::max(time, free_);
    const double arrival = free_ + machine_.latency;
    free_ += machine_.gap;
    return arrival;
  }

 private:
  LogP machine_;
  double free_ = 0;
};

/// Requests to a peer that does nothing but answer them, and their replies.
class SimulatedTraffic {
 public:
  explicit SimulatedTraffic(const LogP& machine)
      : machine_(machine), there_(machine), back_(machine) {}

  void begin() { sent_ = answered_ = 0; }
  void send(std::uint64_t) {
    while (sent_ - answered_ >= credits()) take_reply();
    now += machine_.sending;
    const double begins = std::max(there_.carry(now), peer_free_);
    peer_free_ = begins + machine_.receiving + machine_.sending;
    replies_.push_back(back_.carry(peer_free_));
    ++sent_;
    constexpr std::uint64_t kPollEvery = 8;
    if (sent_ % kPollEvery == 0) poll();
  }
  void poll() {
    while (!replies_.empty() && replies_.front() <= now) take_reply();
  }
  void await(std::uint64_t count) {
    while (answered_ < count) take_reply();
  }
  void end(std::uint64_t) {}
  void serve(std::uint64_t) {}
  [[nodiscard]] std::uint32_t credits() const { return 64; }

 private:
  /// Waits for the next reply, and handles it.
  void take_reply() {
    now = std::max(now, replies_.front()) + machine_.receiving;
    replies_.pop_front();
    ++answered_;
  }

  LogP machine_;
  Network there_;
  Network back_;
  double peer_free_ = 0;
  std::deque<double> replies_;
  std::uint64_t sent_ = 0;
  std::uint64_t answered_ = 0;
};

class Method : public testing::TestWithParam<std::tuple<double, double, double>> {};

TEST_P(Method, FindsTheSimulatedMachinesParameters) {
  const auto [overhead, latency, gap] = GetParam();
  const LogP machine{20 + overhead, 30 + overhead, 200 + latency, 10 + gap};
  SimulatedTraffic traffic(machine);
  SimulatedMachine::Pair pair;
  LogpMethod<SimulatedTraffic, SimulatedMachine> method(traffic, pair);

  const double both = machine.sending + machine.receiving;
  const double pace = pace_of(machine, traffic.credits());
  const double rtt_half = machine.latency + both;
  constexpr double kPart = 0.01;
  const Burst burst = method.long_burst(20'000);
  EXPECT_NEAR(burst.gap_ns, pace, kPart * pace);
  EXPECT_NEAR(burst.rate_mps, 1e3 / pace, 0.05 / pace * 1e3);
  EXPECT_NEAR(method.send_overhead_ns(100), machine.sending, kPart * machine.sending);
  EXPECT_NEAR(method.rtt_half_ns(500, 3 * pace), rtt_half, kPart * rtt_half);
  const double ample = 3 * std::max(pace, 2 * rtt_half);
  EXPECT_NEAR(method.both_overheads_ns(500, ample), both, kPart * both);
}

TEST_P(Method, ABurstsSignatureRisesFromTheOverheadToTheGap) {
  const auto [overhead, latency, gap] = GetParam();
  const LogP machine{20 + overhead, 30 + overhead, 200 + latency, 10 + gap};
  SimulatedTraffic traffic(machine);
  SimulatedMachine::Pair pair;
  LogpMethod<SimulatedTraffic, SimulatedMachine> method(traffic, pair);

  constexpr double kPart = 0.01;
  const double both = machine.sending + machine.receiving;
  EXPECT_NEAR(method.burst_ns(1, 20, {}), machine.sending, kPart * machine.sending);
  const double pace = pace_of(machine, traffic.credits());
  EXPECT_NEAR(method.burst_ns(4'096, 4, {}), pace, 0.05 * pace);
  // Between requests that are far enough apart nothing waits: the delay and both overheads are
  // left.
  const double ns = 5 * (machine.latency + both + machine.gap);
  const auto steps = static_cast<std::uint64_t>(ns);
  const double expected = static_cast<double>(steps) + both;
  EXPECT_NEAR(method.burst_ns(512, 4, {steps, static_cast<double>(steps)}), expected, kPart * both);
}

INSTANTIATE_TEST_SUITE_P(Injected, Method,
                         testing::Combine(testing::Values(0, 30'000, 40'000),
                                          testing::Values(0, 50'000, 100'000),
                                          testing::Values(0, 100'000, 150'000)));

}  // namespace
}  // namespace viaduct::bench
