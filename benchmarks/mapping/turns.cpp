#include "benchmarks/mapping/turns.hpp"

#include <sched.h>
#include <algorithm>
#include <utility>

#include "benchmarks/common/statistics.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct::bench {
namespace {

using Ticks = double (*)();

/// The median of @p ticks, which answers the mean ticks of an empty interval.
double cost_of(Ticks ticks) {
  constexpr std::uint32_t kSeries = 200;
  std::vector<double> costs(kSeries);
  std::generate(costs.begin(), costs.end(), ticks);
  return median(costs);
}

constexpr std::uint32_t kEmptyIntervals = 100;

#ifdef VIADUCT_INSTRUMENT
void add(parts::Row& sum, const parts::Row& row) noexcept {
  sum.ticks += row.ticks;
  sum.boundaries += row.boundaries;
}
#endif

}  // namespace

void Turns::start() noexcept {
  pair_.meet();  // the other rank has read the last word of the series before
  pair_.page().ping.value.store(0, std::memory_order_relaxed);
  pair_.page().pong.value.store(0, std::memory_order_relaxed);
  turn_ = 0;
  pair_.meet();
}

void Turns::await() {
  constexpr std::uint32_t kSpins = 1'000'000;
  constexpr std::uint32_t kProgressEvery = 100'000;
  PairPage& page = pair_.page();
  const std::atomic<std::uint64_t>& word = pair_.is_sender() ? page.pong.value : page.ping.value;
  const std::uint64_t wanted = pair_.is_sender() ? turn_ : turn_ + 1;
  for (std::uint32_t looks = 0; word.load(std::memory_order_acquire) != wanted; ++looks) {
    if (looks < kSpins) continue;
    // Called seldom: its work is done outside a turn.
    if (looks % kProgressEvery == 0) progress_();
    sched_yield();
  }
}

void Turns::pass() noexcept {
  PairPage& page = pair_.page();
  std::atomic<std::uint64_t>& word = pair_.is_sender() ? page.ping.value : page.pong.value;
  word.store(++turn_, std::memory_order_release);
}

#ifdef VIADUCT_INSTRUMENT
void Turns::begin(parts::Part first) noexcept {
  const std::size_t kind = batches_.size() % kKinds;
  first_ = static_cast<std::size_t>(first);
  parts::state.current = static_cast<std::uint8_t>(first);
  parts::state.live = static_cast<std::uint8_t>(kind);  // the last kind: no part
  began_ = ticks();
}
#endif

void Turns::end() noexcept {
  const std::uint64_t turn = ticks() - began_;
  batch_.ticks += turn;
  ++batch_.turns;
#ifdef VIADUCT_INSTRUMENT
  batch_.turns_of[first_].ticks += turn;
  ++batch_.turns_of[first_].boundaries;  // one of the turn's two clock readings is in its time
  if (parts::state.live == first_) ++parts::state.rows.entries;
  parts::state.live = parts::kNoPart;
  parts::state.current = parts::kNoPart;
#endif
}

void Turns::operation_done() {
  if (++in_batch_ != kBatch) return;
  in_batch_ = 0;
#ifdef VIADUCT_INSTRUMENT
  batch_.rows = std::exchange(parts::state.rows, {});
#endif
  batches_.push_back(batch_);
  batch_ = {};
}

/// The batches whose times are neither short nor long: in a long batch the kernel or the host took
/// the processor.
Turns::Sum Turns::sum_of(std::size_t kind) const {
  constexpr double kFrom = 0.1, kTo = 0.6;  // in the order of their times
  std::vector<Batch> sorted;
  for (std::size_t i = kind; i < batches_.size(); i += kKinds) sorted.push_back(batches_[i]);
  std::sort(sorted.begin(), sorted.end(),
            [](const Batch& a, const Batch& b) { return a.ticks < b.ticks; });
  const auto place = [&](double part) {
    return static_cast<std::size_t>(part * static_cast<double>(sorted.size()));
  };
  const std::size_t from = place(kFrom), to = std::max(place(kTo), from + 1);
  Sum sum;
  for (std::size_t i = from; i < to && i < sorted.size(); ++i) {
    const Batch& batch = sorted[i];
    sum.operations += kBatch;
    sum.all.ticks += batch.ticks;
    sum.all.turns += batch.turns;
#ifdef VIADUCT_INSTRUMENT
    sum.all.rows.entries += batch.rows.entries;
    for (std::size_t part = 0; part < parts::kParts; ++part) {
      add(sum.all.turns_of[part], batch.turns_of[part]);
      add(sum.all.rows.inside[part], batch.rows.inside[part]);
    }
#endif
  }
  return sum;
}

Work Turns::result() const {
  const double per_ns = ticks_per_ns();
  const double clock = cost_of([] {
    std::uint64_t sum = 0;
    for (std::uint32_t k = 0; k < kEmptyIntervals; ++k) {
      const std::uint64_t before = ticks();
      sum += ticks() - before;
    }
    return static_cast<double>(sum) / kEmptyIntervals;
  });
  // The time of one operation, without the cost of the readings of the clock in @p its_ticks.
  const auto of_one = [&](std::uint64_t its_ticks, double cost, std::uint64_t times,
                          double operations) {
    return (static_cast<double>(its_ticks) - cost * static_cast<double>(times)) /
           (per_ns * operations);
  };
  const Sum quiet = sum_of(kKinds - 1);
  Work work;
  work.total_ns = of_one(quiet.all.ticks, clock, quiet.all.turns, quiet.operations);
  work.boundary_ns = clock / per_ns;
#ifdef VIADUCT_INSTRUMENT
  const double boundary = cost_of([] {
    parts::State& state = parts::state;
    state = {};
    state.live = static_cast<std::uint8_t>(parts::Part::read_data);
    for (std::uint32_t k = 0; k < kEmptyIntervals; ++k) {
      VIADUCT_PART(read_data);
    }
    const parts::Row row = state.rows.inside[parts::kNoPart];
    state = {};
    return static_cast<double>(row.ticks) / static_cast<double>(row.boundaries);
  });
  work.boundary_ns = boundary / per_ns;
  for (std::size_t part = 0; part < parts::kParts; ++part) {
    // Time of a turn in no other part counts for the part that the turn began with.
    const parts::Row& turns = quiet.all.turns_of[part];
    work.parts[part].ns += of_one(turns.ticks, clock, turns.boundaries, quiet.operations);
    const Sum its = sum_of(part);
    work.parts[part].entries = static_cast<double>(its.all.rows.entries) / its.operations;
    for (std::size_t outer = 0; outer < parts::kParts; ++outer) {
      const parts::Row& row = its.all.rows.inside[outer];
      const double ns = of_one(row.ticks, boundary, row.boundaries, its.operations);
      work.parts[part].ns += ns;
      work.parts[outer].ns -= ns;
    }
  }
#endif
  return work;
}

}  // namespace viaduct::bench
