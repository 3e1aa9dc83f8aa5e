#include "benchmarks/common/logp_method.hpp"

namespace viaduct::bench {
namespace {

// The time of @p steps of work.
double work_ns(std::uint64_t steps) {
  std::vector<double> samples(64);
  for (double& sample : samples) {
    const Stopwatch watch;
    OwnMachine::work(steps);
    sample = watch.elapsed_ns();
  }
  return median(samples);
}

}  // namespace

double OwnMachine::clock_ns() {
  std::vector<double> samples(1'000);
  for (double& sample : samples) sample = Stopwatch().elapsed_ns();
  return mean_between(samples, 0, 0.9);
}

double OwnMachine::works_ns(std::uint64_t times, std::uint64_t steps) noexcept {
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < times; ++i) work(steps);
  return watch.elapsed_ns();
}

std::uint64_t OwnMachine::steps_of(double ns) {
  constexpr std::uint64_t kProbe = 1'000;
  return static_cast<std::uint64_t>(ns / work_ns(kProbe) * kProbe);
}

Delay delay_of(double ns) {
  const std::uint64_t steps = OwnMachine::steps_of(ns);
  return {steps, steps == 0 ? 0.0 : work_ns(steps)};
}

}  // namespace viaduct::bench
