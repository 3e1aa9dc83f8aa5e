#pragma once
/// @file
/// LogP's parameters, by the method of Culler, Liu, Martin, Yoshikawa, LogP performance assessment
/// of fast network interfaces, 1996: bursts of requests, each answered, with no delay between them,
/// or with one longer than all other times.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "benchmarks/common/pair.hpp"
#include "benchmarks/common/statistics.hpp"
#include "benchmarks/common/stopwatch.hpp"

namespace viaduct::bench {

struct Burst {
  double gap_ns = 0;    ///< between two requests, once the pace is set
  double rate_mps = 0;  ///< million requests a second, from the first one to the last reply
};

/// A delay of pure work, which LogpMethod puts between messages.
struct Delay {
  std::uint64_t steps = 0;  ///< 0: no delay
  double ns = 0;            ///< the measured time of the steps
};

/// A delay of about @p ns.  Cost: a few hundred such delays.
[[nodiscard]] Delay delay_of(double ns);

/// What the method needs of the machine that it runs on. Its unit test has a simulated machine.
struct OwnMachine {
  using Pair = bench::Pair;
  using Stopwatch = bench::Stopwatch;

  /// How many steps take @p ns, roughly.
  [[nodiscard]] static std::uint64_t steps_of(double ns);
  /// The time of @p times delays of @p steps, one behind the other.
  [[nodiscard]] static double works_ns(std::uint64_t times, std::uint64_t steps) noexcept;
  /// The reading of a stopwatch directly after its start.
  [[nodiscard]] static double clock_ns();
  /// A delay of pure work, each step of which needs the step before. A delay by the clock would go
  /// on while the processor waits for the cache line of a reply, and hide that wait.
  static void work(std::uint64_t steps) noexcept {
    std::uint64_t value = steps;
    for (std::uint64_t i = 0; i < steps; ++i) {
      value = value * 0x9e3779b97f4a7c15 + i;
      asm volatile("" : "+r"(value));
    }
  }
  /// A delay by the clock.
  static void busy(double ns) noexcept {
    const Stopwatch watch;
    while (watch.elapsed_ns() < ns) {
    }
  }
};

/// The method over any kind of request. A Traffic has
///   void begin()                forgets earlier requests and replies; both ranks call it
///   void send(uint64_t value)   the sender sends a request, and waits only for a credit; the
///                               values count from 0
///   void poll()                 handles messages that have come
///   void await(uint64_t count)  polls until all requests sent, @p count of them, are answered
///   void end(uint64_t count)    the sender has seen @p count replies: checks them, and tells the
///                               peer of the end if it needs to know
///   void serve(uint64_t count)  the peer answers @p count requests, then returns
///   uint32_t credits() const    requests that may be under way
template <class Traffic, class Machine = OwnMachine>
class LogpMethod {
  using Pair = typename Machine::Pair;
  using Stopwatch = typename Machine::Stopwatch;

 public:
  /// Both ranks construct, at the same time.  @p traffic and @p pair outlive the method.
  LogpMethod(Traffic& traffic, Pair& pair) : traffic_(traffic), pair_(pair) {
    run(1, [&] {  // makes connections
      traffic_.send(0);
      traffic_.await(1);
    });
  }

  // Both ranks call each of these functions, which measures one round and returns the same value at
  // both.

  /// g, by a burst so long that the slowest part sets the pace, with replies handled meanwhile.
  [[nodiscard]] Burst long_burst(std::uint64_t requests);
  /// o_s: the time per request of bursts so short that no reply is received meanwhile.
  [[nodiscard]] double send_overhead_ns(std::uint32_t bursts);
  /// o_s + o_r: the time per request of a burst in which each is followed by a delay of @p delay_ns
  /// and by a poll that finds the reply, without the delay. The delay must be above g and RTT.
  [[nodiscard]] double both_overheads_ns(std::uint64_t requests, double delay_ns);
  /// RTT/2 of requests that each start @p delay_ns after the reply before: a trimmed mean. The
  /// delay must be above g.
  [[nodiscard]] double rtt_half_ns(std::uint64_t round_trips, double delay_ns);
  /// A point of LogP's signature: the time per request of a burst of @p length requests, each
  /// followed by @p delay and by a poll, or by neither without a delay; a trimmed mean of @p
  /// bursts.
  [[nodiscard]] double burst_ns(std::uint64_t length, std::uint64_t bursts, const Delay& delay);

 private:
  /// The sender runs @p body, which sends @p requests and awaits their replies; the peer serves.
  template <class Body>
  void run(std::uint64_t requests, const Body& body) {
    traffic_.begin();
    pair_.meet();
    if (!pair_.is_sender()) return traffic_.serve(requests);
    body();
    traffic_.end(requests);
  }
  Traffic& traffic_;
  Pair& pair_;
};

// The first requests find all credits there, and set no pace. The later requests are timed in
// blocks longer than the number of credits. A block may begin with more free credits than the next
// one, and is then too fast by as much as that one is too slow: a mean of the blocks is right where
// a median would take one of them. The mean leaves out the fastest and the slowest tenth, where
// interrupts fall.
template <class Traffic, class Machine>
Burst LogpMethod<Traffic, Machine>::long_burst(std::uint64_t requests) {
  Burst burst;
  run(requests, [&] {
    const std::uint64_t credits = traffic_.credits();
    const std::uint64_t block = std::max<std::uint64_t>(256, 2 * credits);
    std::vector<double> times;
    const Stopwatch all;
    std::uint64_t sent = 0;
    const auto send_until = [&](std::uint64_t end) {
      const Stopwatch watch;
      const auto count = static_cast<double>(end - sent);
      for (; sent < end; ++sent) traffic_.send(sent);
      return watch.elapsed_ns() / count;
    };
    if (requests > credits) (void)send_until(credits);
    while (sent < requests) times.push_back(send_until(std::min(sent + block, requests)));
    traffic_.await(requests);
    const double left_out = times.size() < 10 ? 0 : 0.1;
    burst = {mean_between(times, left_out, 1 - left_out),
             static_cast<double>(requests) * 1e3 / all.elapsed_ns()};
  });
  return {pair_.from_sender(burst.gap_ns), pair_.from_sender(burst.rate_mps)};
}

// A request polls now and then, and that poll may handle replies; a burst with such a poll is no
// measure of sending. At most every second burst has one, and these are the slower ones.
template <class Traffic, class Machine>
double LogpMethod<Traffic, Machine>::send_overhead_ns(std::uint32_t bursts) {
  constexpr std::uint32_t kLength = 4;
  const std::uint32_t length = std::min(kLength, traffic_.credits());
  double ns = 0;
  run(std::uint64_t{bursts} * length, [&] {
    std::vector<double> times(bursts);
    const double clock = Machine::clock_ns();
    std::uint64_t sent = 0;
    for (double& time : times) {
      const Stopwatch watch;
      for (std::uint32_t i = 0; i < length; ++i) traffic_.send(sent + i);
      time = (watch.elapsed_ns() - clock) / length;
      traffic_.await(sent += length);
    }
    ns = mean_between(times, 0, 0.5);
  });
  return pair_.from_sender(ns);
}

// Measured in blocks, each beside a block of the delays alone: between two long times that lie far
// from each other the processor's pace may change. The median leaves out blocks with an interrupt;
// blocks of long delays are short, so that few have one.
template <class Traffic, class Machine>
double LogpMethod<Traffic, Machine>::both_overheads_ns(std::uint64_t requests, double delay_ns) {
  double ns = 0;
  run(requests, [&] {
    constexpr double kMost = 16;
    constexpr double kBlockNs = 100'000;
    const auto length = static_cast<std::uint64_t>(std::clamp(kBlockNs / delay_ns, 1.0, kMost));
    const std::uint64_t steps = Machine::steps_of(delay_ns);
    std::vector<double> times;
    for (std::uint64_t sent = 0; sent < requests;) {
      const std::uint64_t block = std::min(length, requests - sent);
      const double delays_ns = Machine::works_ns(block, steps);
      const Stopwatch all;
      for (std::uint64_t i = 0; i < block; ++i) {
        traffic_.send(sent + i);
        Machine::work(steps);
        traffic_.poll();
      }
      times.push_back((all.elapsed_ns() - delays_ns) / static_cast<double>(block));
      sent += block;
    }
    ns = median(times);
    traffic_.await(requests);
  });
  return pair_.from_sender(ns);
}

template <class Traffic, class Machine>
double LogpMethod<Traffic, Machine>::rtt_half_ns(std::uint64_t round_trips, double delay_ns) {
  double ns = 0;
  run(round_trips, [&] {
    std::vector<double> times(round_trips);
    const double clock = Machine::clock_ns();
    for (std::uint64_t i = 0; i < round_trips; ++i) {
      Machine::busy(delay_ns);
      const Stopwatch watch;
      traffic_.send(i);
      traffic_.await(i + 1);
      times[i] = (watch.elapsed_ns() - clock) / 2;
    }
    ns = mean_between(times, 0.1, 0.9);
  });
  return pair_.from_sender(ns);
}

// Each burst stands beside as many delays alone, as in both_overheads_ns(): the processor's pace
// may have changed since the delay was measured. The result is a mean, since some requests poll and
// others do not; it leaves out the slowest tenth, where interrupts fall.
template <class Traffic, class Machine>
double LogpMethod<Traffic, Machine>::burst_ns(std::uint64_t length, std::uint64_t bursts,
                                              const Delay& delay) {
  double ns = 0;
  run(length * bursts, [&] {
    const double clock = Machine::clock_ns();
    std::vector<double> times;
    std::uint64_t sent = 0;
    while (sent < length * bursts) {
      const double delays_ns = delay.steps != 0 ? Machine::works_ns(length, delay.steps) : clock;
      const Stopwatch watch;
      for (std::uint64_t i = 0; i < length; ++i) {
        traffic_.send(sent + i);
        if (delay.steps == 0) continue;
        Machine::work(delay.steps);
        traffic_.poll();
      }
      times.push_back((watch.elapsed_ns() - delays_ns) / static_cast<double>(length) + delay.ns);
      traffic_.await(sent += length);
    }
    ns = mean_between(times, 0, 0.9);
  });
  return pair_.from_sender(ns);
}

}  // namespace viaduct::bench
