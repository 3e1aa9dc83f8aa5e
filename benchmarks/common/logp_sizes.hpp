#pragma once
/// @file
/// The numbers of operations in a program that measures LogP's parameters.

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/logp_parameters.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/pair.hpp"

namespace viaduct::bench {

/// The numbers of operations and of rounds.
class LogpSizes {
 public:
  LogpSizes(Pair& pair, const Options& options)
      : asked_(options.iterations),
        rounds_(options.rounds),
        divisor_(asked_ == 0 ? pair.busy_divisor() : 1) {}

  [[nodiscard]] std::uint64_t of(std::uint64_t defined) const noexcept {
    return asked_ != 0 ? asked_ : std::max<std::uint64_t>(defined / divisor_, 100);
  }
  /// For the parameters: --iters gives the length of g's burst, and the other numbers change in
  /// proportion.
  [[nodiscard]] std::uint64_t of_parameter(std::uint64_t defined) const noexcept {
    constexpr std::uint64_t kFewest = 50;
    return asked_ == 0 ? of(defined) : std::max(asked_ * defined / kLogpBurst, kFewest);
  }
  [[nodiscard]] Iterations parameters() const {
    return [*this](std::uint64_t defined) { return of_parameter(defined); };
  }
  [[nodiscard]] std::uint32_t rounds() const noexcept {
    return divisor_ == 1 ? rounds_ : std::min(rounds_, kBusyRounds);
  }
  void add_note(Figures& figures) const {
    if (divisor_ != 1)
      figures.add_note(fmt::format(
          "other programs use these cores, so a hand-over waits for the scheduler: {} times fewer "
          "operations a round, and at most {} rounds; the ratios say little",
          divisor_, kBusyRounds));
  }

 private:
  static constexpr std::uint32_t kBusyRounds = 3;
  std::uint64_t asked_;  // 0: as each figure is defined
  std::uint32_t rounds_;
  std::uint64_t divisor_;  // of the numbers of operations
};

}  // namespace viaduct::bench
