#include "benchmarks/common/logp_method.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/statistics.hpp"
#include "benchmarks/common/stopwatch.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/token.hpp"

namespace viaduct::bench {
namespace {

constexpr am::Index kPeer{0};

// What the handlers of this rank (which may be a thread) do and have seen.
struct Seen {
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t sum = 0;
};
constinit thread_local Seen seen;

void busy(double ns) noexcept {
  const Stopwatch watch;
  while (watch.elapsed_ns() < ns) {
  }
}

void on_reply(am::Token&, std::uint64_t a, std::uint64_t b) {
  seen.sum += a + b;
  ++seen.replies;
}
void on_request(am::Token& token, std::uint64_t a, std::uint64_t b) {
  ++seen.requests;
  token.reply<on_reply>(a, b);
}
// What a stopwatch shows that is read at once.
double clock_ns() {
  std::vector<double> samples(1'000);
  for (double& sample : samples) sample = Stopwatch().elapsed_ns();
  return mean_between(samples, 0, 0.9);
}

// A delay that is work, each step of which needs the one before. A delay by the clock would go on
// while the processor waits for the line of a reply, and hide that.
void work(std::uint64_t steps) noexcept {
  std::uint64_t value = steps;
  for (std::uint64_t i = 0; i < steps; ++i) {
    value = value * 0x9e3779b97f4a7c15 + i;
    asm volatile("" : "+r"(value));
  }
}

// What @p steps of work take.
double work_ns(std::uint64_t steps) {
  std::vector<double> samples(64);
  for (double& sample : samples) {
    const Stopwatch watch;
    work(steps);
    sample = watch.elapsed_ns();
  }
  return median(samples);
}

// What @p times delays of @p steps take, one behind the other.
double works_ns(std::uint64_t times, std::uint64_t steps) noexcept {
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < times; ++i) work(steps);
  return watch.elapsed_ns();
}

// How many steps take @p ns, roughly.
std::uint64_t steps_of(double ns) {
  constexpr std::uint64_t kProbe = 1'000;
  return static_cast<std::uint64_t>(ns / work_ns(kProbe) * kProbe);
}

void require(Status status) {
  if (status != Status::ok)
    throw std::runtime_error(fmt::format("a request of LogP's bursts: {}", to_string(status)));
}

}  // namespace

Delay delay_of(double ns) {
  const std::uint64_t steps = steps_of(ns);
  return {steps, steps == 0 ? 0.0 : work_ns(steps)};
}

LogpMethod::LogpMethod(am::Context& context, Pair& pair, Rank peer, std::uint16_t number)
    : pair_(pair), bundle_(context), endpoint_(bundle_) {
  if (endpoint_.name().number != number)
    throw std::logic_error(fmt::format("LogP's endpoint has number {}, not {}: create it in turn",
                                       endpoint_.name().number, number));
  require(endpoint_.map(kPeer, {peer, number}, am::kTagAll));
  if (context.nic().transport() != nullptr) pair_.make_progress_by([this] { bundle_.poll(); });
  seen = Seen{};
  start(1);  // from here on the MAPs are made
  if (!pair_.is_sender()) return;
  send(0);
  await_replies(1);
}

// The sender returns and is to send @p requests; the peer returns when it has answered them.
void LogpMethod::start(std::uint64_t requests) {
  seen.requests = seen.replies = seen.sum = 0;
  pair_.meet();
  if (!pair_.is_sender()) serve(requests);
}

void LogpMethod::serve(std::uint64_t requests) {
  while (seen.requests < requests) bundle_.poll();
}

void LogpMethod::send(std::uint64_t value) {
  require(endpoint_.request<on_request>(kPeer, value, std::uint64_t{1}));
}

void LogpMethod::await_replies(std::uint64_t count) {
  while (seen.replies < count) bundle_.poll();
}

// The first requests find all credits there, and set no pace. Behind them in blocks longer than
// there are credits, of which the median is not changed by a few that an interrupt fell into.
Burst LogpMethod::long_burst(std::uint64_t requests) {
  start(requests);
  Burst burst;
  if (pair_.is_sender()) {
    const std::uint64_t block = std::max<std::uint64_t>(256, 2 * endpoint_.credits());
    std::vector<double> times;
    const Stopwatch all;
    std::uint64_t sent = 0;
    const auto send_until = [&](std::uint64_t end) {
      const Stopwatch watch;
      const auto count = static_cast<double>(end - sent);
      for (; sent < end; ++sent) send(sent);
      return watch.elapsed_ns() / count;
    };
    if (requests > endpoint_.credits()) (void)send_until(endpoint_.credits());
    while (sent < requests) times.push_back(send_until(std::min(sent + block, requests)));
    await_replies(requests);
    burst = {median(times), static_cast<double>(requests) * 1e3 / all.elapsed_ns()};
    if (seen.sum != requests * (requests - 1) / 2 + requests)
      throw std::runtime_error("the replies of LogP's long burst do not add up");
  }
  return {pair_.from_sender(burst.gap_ns), pair_.from_sender(burst.rate_mps)};
}

// A request polls now and then, and that poll may handle replies; bursts with one in them are no
// measure of sending. They are at most every second one, and the slower ones.
double LogpMethod::send_overhead_ns(std::uint32_t bursts) {
  constexpr std::uint32_t kLength = 4;
  const std::uint32_t length = std::min(kLength, endpoint_.credits());
  start(std::uint64_t{bursts} * length);
  double ns = 0;
  if (pair_.is_sender()) {
    std::vector<double> times(bursts);
    const double clock = clock_ns();
    for (std::uint32_t burst = 0; burst < bursts; ++burst) {
      const Stopwatch watch;
      for (std::uint32_t i = 0; i < length; ++i) send(i);
      times[burst] = (watch.elapsed_ns() - clock) / length;
      await_replies(std::uint64_t{burst + 1} * length);
    }
    ns = mean_between(times, 0, 0.5);
  }
  return pair_.from_sender(ns);
}

// In blocks, each beside one of the delays alone: the difference of two long times that lie apart
// would be that of the processor's pace. The median leaves out those that an interrupt fell into,
// so that a block of long delays has few of them.
double LogpMethod::both_overheads_ns(std::uint64_t requests, double delay_ns) {
  start(requests);
  double ns = 0;
  if (pair_.is_sender()) {
    constexpr double kMost = 16;
    constexpr double kBlockNs = 100'000;
    const auto length = static_cast<std::uint64_t>(std::clamp(kBlockNs / delay_ns, 1.0, kMost));
    const std::uint64_t steps = steps_of(delay_ns);
    std::vector<double> times;
    for (std::uint64_t sent = 0; sent < requests;) {
      const std::uint64_t block = std::min(length, requests - sent);
      const Stopwatch delays;
      for (std::uint64_t i = 0; i < block; ++i) work(steps);
      const double delays_ns = delays.elapsed_ns();
      const Stopwatch all;
      for (std::uint64_t i = 0; i < block; ++i) {
        send(sent + i);
        work(steps);
        bundle_.poll();
      }
      times.push_back((all.elapsed_ns() - delays_ns) / static_cast<double>(block));
      sent += block;
    }
    ns = median(times);
    await_replies(requests);
  }
  return pair_.from_sender(ns);
}

double LogpMethod::rtt_half_ns(std::uint64_t round_trips, double delay_ns) {
  start(round_trips);
  double ns = 0;
  if (pair_.is_sender()) {
    std::vector<double> times(round_trips);
    const double clock = clock_ns();
    for (std::uint64_t i = 0; i < round_trips; ++i) {
      busy(delay_ns);
      const Stopwatch watch;
      send(i);
      await_replies(i + 1);
      times[i] = (watch.elapsed_ns() - clock) / 2;
    }
    ns = mean_between(times, 0.1, 0.9);
  }
  return pair_.from_sender(ns);
}

// Each burst stands beside as many delays alone, as in both_overheads_ns(): the processor's pace
// may have changed since the delay was measured. A mean, since some requests poll and others do
// not; without the slowest tenth, which an interrupt fell into.
double LogpMethod::burst_ns(std::uint64_t length, std::uint64_t bursts, const Delay& delay) {
  start(length * bursts);
  double ns = 0;
  if (pair_.is_sender()) {
    const double clock = clock_ns();
    std::vector<double> times;
    for (std::uint64_t burst = 1; burst <= bursts; ++burst) {
      const double delays_ns = delay.steps != 0 ? works_ns(length, delay.steps) : clock;
      const Stopwatch watch;
      for (std::uint64_t i = 0; i < length; ++i) {
        send(i);
        if (delay.steps == 0) continue;
        work(delay.steps);
        bundle_.poll();
      }
      times.push_back((watch.elapsed_ns() - delays_ns) / static_cast<double>(length) + delay.ns);
      await_replies(burst * length);
    }
    ns = mean_between(times, 0, 0.9);
  }
  return pair_.from_sender(ns);
}

}  // namespace viaduct::bench
