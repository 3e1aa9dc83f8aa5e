#pragma once
/// @file
/// A rank's use of Active Messages: its NIC, the agreed handlers, the settings.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "viaduct/am/registry.hpp"
#include "viaduct/am/settings.hpp"
#include "viaduct/am/types.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/owned.hpp"
#include "viaduct/runtime/types.hpp"

namespace viaduct {
class Job;
}  // namespace viaduct
namespace viaduct::via {
enum class ErrorCause : std::uint8_t;
}
namespace viaduct::via::channel {
class Nic;
}

namespace viaduct::am {

namespace detail {
struct Dispatcher;
struct EndpointCore;
struct Map;
}  // namespace detail

class Bundle;

/// Counters (VIADUCT_STATS=1).
enum Counter : std::uint32_t {
  kMapsMade,
  kRequestWaits,     // requests that had to wait for credit, room or a connection
  kReplyWaits,       // replies that had to wait for room
  kOverflowReplies,  // medium replies through the overflow block
  kDeferred,         // requests taken off a ring while only replies could run
  kReturned,         // messages that came back to a handler 0 here
  kRefused,          // messages that this rank sent back
  kBulkBytes,
  kPulledBytes,  // of bulk messages, which this rank copied as their receiver
  kGetBytes,
  kStandstills,  // ranks that waited for replies alone in a circle, found here
  kCounterCount,
};

/// Created once per rank, collectively, before any bundle; destroyed after them. An ended one keeps
/// 64 KiB of the rank's window until the job ends (open_nic()): make one for the whole job.
///
/// Its bundles share it and the NIC without a lock: they are used from one thread, or their calls
/// are serialised by the caller. Two threads that poll two bundles of one rank at the same time are
/// stopped with a sentence, unless both are parallel (Bundle::Threads). Any wait of a thread, also
/// in Split-C, is a use of the bundles that belong to it.
class Context {
 public:
  /// Collective: opens the NIC, agrees on the typed handlers.  Throws Error.  Progress: until all
  /// ranks make theirs, serves Split-C and the bundles of the thread's other Contexts.
  explicit Context(Job& job);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// @return the job whose ranks this rank talks to.
  [[nodiscard]] Job& job() noexcept { return job_; }
  /// @return the NIC that all its endpoints send through.
  [[nodiscard]] via::channel::Nic& nic() noexcept { return *nic_; }
  /// Keeps all other threads out of the calls of its parallel bundles, until unlock_calls(); the
  /// holder may lock again.  Blocks while others are in calls.
  void lock_calls() noexcept;
  /// Undoes one lock_calls().
  void unlock_calls() noexcept;
  /// @return the settings of Active Messages, with automatic values filled in.
  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }

 private:
  friend class Bundle;
  friend struct detail::Dispatcher;
  friend struct detail::EndpointCore;

  std::uint16_t add(detail::EndpointCore& endpoint, std::int32_t number);
  void remove(detail::EndpointCore& endpoint) noexcept;
  [[nodiscard]] detail::EndpointCore* find(std::uint16_t number) noexcept;
  void incoming(Rank from, std::uint64_t discriminator);
  void ended(detail::Map& map, via::ErrorCause cause);
  void count(Counter counter, std::uint64_t by = 1) noexcept {
    store_word(counters_[counter], load_word(counters_[counter], kRelaxed) + by, kRelaxed);
  }

  Job& job_;
  Settings settings_;
  std::span<const Thunk> typed_;
  struct Shared;  // by all bundles
  Owned<Shared> shared_;
  Owned<via::channel::Nic> nic_;
  std::vector<detail::EndpointCore*> endpoints_;  // by number
  std::uint16_t next_number_ = 0;
  std::array<std::uint64_t, kCounterCount> counters_{};
};

}  // namespace viaduct::am
