#pragma once
/// @file
/// Two ranks that measure together, over a block of memory that both have mapped: barriers,
/// exchange of values, and the choice of valid rounds.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/types.hpp"

namespace viaduct::bench {

/// Rank 0 is the sender, whose clock is read; rank 1 is the peer.
enum class Role : std::uint8_t { sender, peer };

/// The head of the shared block: lines that one side writes and the other reads, each on its own
/// pair of lines.
struct PairPage {
  struct alignas(kDestructivePairBytes) Word {
    std::atomic<std::uint64_t> value;
  };
  struct alignas(kDestructivePairBytes) Doorbell {
    AtomicWord<std::uint32_t> value;  // a futex
  };
  Doorbell arrived[2];  // how often each side has come to meet()
  Word ping;            // written by the sender
  Word pong;            // written by the peer
  Word head;            // written by the peer: messages consumed
  Doorbell wake[2];     // futex_wake_ns(): written by the other side
  Word told[2];         // tell(): a double's bits, by each side
};

class Pair {
 public:
  /// @p page: memory that both ranks have mapped, zeroed before its first Pair; it stays the
  /// caller's. One Pair may follow another on the same page.
  Pair(PairPage* page, Role role) noexcept;

  [[nodiscard]] Role role() const noexcept { return role_; }
  [[nodiscard]] bool is_sender() const noexcept { return role_ == Role::sender; }
  [[nodiscard]] PairPage& page() const noexcept { return *page_; }

  /// A barrier of both ranks. Spins for some 50 us, then yields, then blocks, so that a rank that
  /// waits for long leaves its core to others.
  void meet() noexcept;
  /// From now on meet() calls @p progress while it waits, and does not block: for providers whose
  /// messages leave only while their sender makes progress. A blocked sender's last message would
  /// not leave.
  void make_progress_by(std::function<void()> progress) { progress_ = std::move(progress); }

  /// Both call it; both get the sender's value.
  double from_sender(double mine) noexcept;
  /// Both call it; each gets the other's value.
  double exchange(double mine) noexcept;

  /// A quick raw ping-pong through the cache: RTT/2 in ns, the same at both.
  double hand_over_ns(std::uint64_t round_trips) noexcept;

  /// The time of 200 instructions that do nothing, in ns, the longer of the two ranks' times: the
  /// same at both. It is longer while another program, a guest of the same host, say, uses the
  /// second hardware thread of a core.
  double idle_code_ns() noexcept;

  /// By how much a round's numbers of operations should be divided, the same at both: 1 where both
  /// ranks have their cores to themselves; up to 1000 where other programs want them too, since
  /// each hand-over then waits for the scheduler.
  std::uint64_t busy_divisor() noexcept;

 private:
  PairPage* page_;
  Role role_;
  std::uint32_t encounters_;
  std::uint64_t ticks_sent_;  // the count in ping and pong
  std::function<void()> progress_;
};

/// Whether a round is valid, or why not.
enum class Verdict : std::uint8_t {
  sound,
  shared_core,  ///< RTT/2 so short that both virtual CPUs must be on one physical core
  interrupted,  ///< the pace changed from before the round to after it, or other programs took a
                ///< core meanwhile
};

/// The rule (a pure function). @p before_ns and @p after_ns: RTT/2 of the probe; @p preemptions:
/// how often either rank lost its core to another thread during the round of @p round_ns.
[[nodiscard]] Verdict judge_round(double before_ns, double after_ns, double preemptions,
                                  double round_ns) noexcept;

/// Below this RTT/2 two virtual CPUs share a physical core: such pairs show 9 to 35 ns, distinct
/// cores of one cluster 45 and more.
inline constexpr double kSharedCoreNs = 40;

/// One value per figure from each round that counts. During all of these rounds the two cores were
/// at one distance.
struct Rounds {
  /// By figure, then by round: one index for all values of a round.
  std::vector<std::vector<double>> values;
  std::uint32_t shared_core = 0;  ///< rounds discarded, by reason
  std::uint32_t interrupted = 0;
  /// Of the rounds that count, those in which another program used a core, or its second hardware
  /// thread; how much longer instructions took then, at most.
  std::uint32_t shared_pipeline = 0;
  double slowest = 1;
  bool kept_unsound = false;  ///< no round was sound, so that discarded ones are used after all
  double probe_ns = 0;        ///< median RTT/2 of these rounds' probes
  /// The sound rounds with the cores at other distances, most rounds first.
  std::vector<Rounds> elsewhere;

  /// A sentence about discarded rounds and their reasons, and about rounds at other distances;
  /// empty when there were none.
  [[nodiscard]] std::string note() const;
};

/// Sorts rounds by the distance of the cores (a pure function). @p probes_ns: RTT/2 of each.
/// @return the indices of the rounds of each distance: the distance with the most rounds first, of
/// two with as many the nearer one; a round's probe is at most half longer than its distance's
/// least
[[nodiscard]] std::vector<std::vector<std::size_t>> by_distance(std::span<const double> probes_ns);

/// Runs @p round at both ranks until @p wanted sound rounds of one distance are there: at most
/// twice as many in all, and no more than @p wanted once a minute has passed. @p round returns one
/// value for each of its figures, always as many; the sender's values count. A first round warms up
/// and is not counted. Both ranks get the same result.
/// @return the rounds of the distance that has the most; discarded ones when none was sound
[[nodiscard]] Rounds measure_rounds(Pair& pair, std::uint32_t wanted,
                                    const std::function<std::vector<double>()>& round);

}  // namespace viaduct::bench
