#pragma once
/// @file
/// LogP's parameters as figures: the measurements of each round, and the figures derived from them.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "benchmarks/common/logp_method.hpp"
#include "benchmarks/common/measurements.hpp"
#include "benchmarks/common/pair.hpp"

namespace viaduct::bench {

/// The number of operations in a round of this run, for a figure that is defined with @p defined
/// operations.
using Iterations = std::function<std::uint64_t(std::uint64_t defined)>;

/// Requests in the burst that finds g.
inline constexpr std::uint64_t kLogpBurst = 100'000;

template <class Traffic>
class LogpParameters {
 public:
  /// Both ranks construct, at the same time.  @p prefix: of the figures' names.  @p against: the
  /// yardstick that they are read against.
  LogpParameters(std::string prefix, Traffic& traffic, Pair& pair, Iterations iterations,
                 std::string against = "hand_over_ns")
      : prefix_(std::move(prefix)),
        against_(std::move(against)),
        pair_(pair),
        method_(traffic, pair),
        iterations_(std::move(iterations)) {}

  /// Adds the measurements, beside the yardstick, which the list must have. Their order matters:
  /// each needs the values before it for its delay. PREFIXo_both_ns is o_s + o_r, from which
  /// differences give the figures.
  void add_to(Measurements& list) {
    add(list, "g_ns", [this] {
      burst_ = method_.long_burst(iterations_(kLogpBurst));
      return burst_.gap_ns;
    });
    add(list, "logp_rtt_half_ns", [this] {
      return rtt_half_ = method_.rtt_half_ns(iterations_(20'000), kAmple * burst_.gap_ns);
    });
    add(list, "o_s_ns", [this] { return method_.send_overhead_ns(400); });
    add(list, "o_both_ns",
        [this] { return method_.both_overheads_ns(iterations_(10'000), ample_ns()); });
  }

  /// The time per request by the length of the burst: without a delay between the requests, with
  /// one as long as a round trip, and with one longer than all other times.
  void add_signature_to(Measurements& list, const Iterations& iterations) {
    add_signature(list, iterations, "signature", [] { return 0.0; });
    add_signature(list, iterations, "signature_short", [this] { return 2 * rtt_half_; });
    add_signature(list, iterations, "signature_long", [this] { return ample_ns(); });
  }

  /// The long burst of this round.
  [[nodiscard]] const Burst& burst() const noexcept { return burst_; }

 private:
  static constexpr double kAmple = 3;  // times the least delay
  [[nodiscard]] double ample_ns() const { return kAmple * std::max(burst_.gap_ns, 2 * rtt_half_); }

  void add(Measurements& list, const std::string& name, std::function<double()> measure) const {
    list.add(prefix_ + name, "ns", against_, std::move(measure));
  }

  void add_signature(Measurements& list, const Iterations& iterations, const std::string& name,
                     const std::function<double()>& delay_ns) {
    constexpr std::uint64_t kLongest = 512;
    constexpr std::uint64_t kRequests = 2'048;     // at each length
    const auto delay = std::make_shared<Delay>();  // of this round, and of this curve
    if (name != "signature")
      add(list, name + "_delay_ns", [this, delay, delay_ns] {
        *delay = delay_of(delay_ns());
        return pair_.from_sender(delay->ns);
      });
    for (std::uint64_t length = 1; length <= kLongest; length *= 2)
      add(list, fmt::format("{}_{}_ns", name, length), [this, iterations, delay, length] {
        const std::uint64_t bursts = std::max<std::uint64_t>(iterations(kRequests) / length, 4);
        return method_.burst_ns(length, bursts, *delay);
      });
  }

  std::string prefix_;
  std::string against_;
  Pair& pair_;
  LogpMethod<Traffic> method_;
  Iterations iterations_;
  Burst burst_;          // of this round
  double rtt_half_ = 0;  // of this round
};

}  // namespace viaduct::bench
