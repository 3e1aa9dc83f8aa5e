#pragma once
/// @file
/// The cost of a poll that finds no message, by the number of peers that could have sent one.

#include <cstdint>
#include <memory>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"

namespace viaduct::bench {

/// The peers' side: endpoints for rank 0 to connect to, in a bundle of their own, dealt out to the
/// other ranks in turn.
class PollTargets {
 public:
  /// @p most: connections of rank 0's largest IdlePoll; every rank gives the same.
  PollTargets(am::Context& context, std::uint32_t most);
  PollTargets(const PollTargets&) = delete;
  PollTargets& operator=(const PollTargets&) = delete;

  /// Answers rank 0 until every endpoint here has been told to stop.  Blocks in the kernel when
  /// there is no request to answer.
  void serve();

 private:
  am::Bundle bundle_;
  std::vector<std::unique_ptr<am::Endpoint>> endpoints_;
};

/// Rank 0's side: a bundle with a connection to each of some endpoints, all of which have answered
/// once.
class IdlePoll {
 public:
  /// @p first: number of the other ranks' first target. Blocks until all have answered; they must
  /// be in serve().  Throws std::runtime_error when one is lost.
  IdlePoll(am::Context& context, std::uint16_t first, std::uint32_t peers);
  IdlePoll(const IdlePoll&) = delete;
  IdlePoll& operator=(const IdlePoll&) = delete;

  /// The mean time of @p polls polls while no peer sends.
  [[nodiscard]] double poll_ns(std::uint64_t polls);
  /// Tells every connected endpoint to stop: of the largest IdlePoll, after all measuring.
  void stop_targets();

 private:
  void ask_all();

  am::Bundle bundle_;
  am::Endpoint endpoint_;
  std::uint32_t peers_;
};

}  // namespace viaduct::bench
