#pragma once
/// @file
/// LogP's parameters of Active Messages, by the method of Culler, Liu, Martin, Yoshikawa, LogP
/// performance assessment of fast network interfaces, 1996: bursts of requests, each answered, with
/// a delay between them that is nothing, or longer than all else.

#include <cstdint>

#include "benchmarks/common/pair.hpp"
#include "benchmarks/common/stopwatch.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"

namespace viaduct::bench {

struct Burst {
  double gap_ns = 0;    ///< between two requests, once the pace is set
  double rate_mps = 0;  ///< million requests a second, from the first one to the last reply
};

/// A delay that is work, as LogpMethod puts it between messages.
struct Delay {
  std::uint64_t steps = 0;  ///< 0: no delay
  double ns = 0;            ///< what the steps take, measured
};

/// A delay of about @p ns.  Cost: a few hundred such delays.
[[nodiscard]] Delay delay_of(double ns);

class LogpMethod {
 public:
  /// Both ranks construct, at the same time, as the context's endpoint @p number of each.
  LogpMethod(am::Context& context, Pair& pair, Rank peer, std::uint16_t number);
  LogpMethod(const LogpMethod&) = delete;
  LogpMethod& operator=(const LogpMethod&) = delete;

  // Each is called by both ranks, measures one round and returns the same value at both. Two words
  // of 8 bytes each way.

  /// g, by a burst so long that what is slowest sets the pace, replies handled meanwhile.
  [[nodiscard]] Burst long_burst(std::uint64_t requests);
  /// o_s: the time per request of bursts so short that nothing is received meanwhile.
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
  void start(std::uint64_t requests);
  void serve(std::uint64_t requests);
  void send(std::uint64_t value);
  void await_replies(std::uint64_t count);

  Pair& pair_;
  am::Bundle bundle_;
  am::Endpoint endpoint_;
};

}  // namespace viaduct::bench
