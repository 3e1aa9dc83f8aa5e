/// Bulk data between ranks that share memory: who copies them. A sender that writes into the peer's
/// memory takes each cache line from the peer, and the peer fetches each line back when its handler
/// reads the data. A receiver that copies the data itself has them in its cache. So the sender
/// shows its data, and the receiver copies them when it comes to the message. Where the receiver
/// does not come within a few microseconds, the sender copies: a bulk message never waits for a
/// receiver that computes.

#include "am/src/pull.hpp"

#include <sched.h>
#include <algorithm>
#include <ctime>

#include "via/channel/nic.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct::am::detail {

using State = MapBlock::PullState;

namespace {

MapBlock::Pull& own_pull(Map& map) {
  return reinterpret_cast<MapBlock*>(map.channel->prepare_extra())->pull;
}
MapBlock::Pull& peers_pull(Map& map) {
  return reinterpret_cast<MapBlock*>(map.channel->peer_extra())->pull;
}

Context& context_of(const Map& map) { return map.endpoint->bundle().context(); }

/// How long a sender waits for the receiver to come: a quarter of the time that it would take to
/// copy the data itself.
std::uint64_t patience_ns(const Map& map, std::size_t bytes) noexcept {
  constexpr std::uint64_t kLeastNs = 2'000;
  return std::max(kLeastNs, bytes / 1024 * map.pull_pace.push_ns_per_kib / 4);
}

/// Waits while @p pull is in @p state, in which the other rank copies: not for long, unless that
/// rank has lost its core, or is stopped. It may go on with its copy at any later time, so that no
/// limit ends the wait.  @return the state after it; @p state: the other rank is lost.
State wait_out(const Map& map, const MapBlock::Pull& pull, State state) {
  constexpr int kYields = 1'000;
  constexpr timespec kAWhile{0, 100'000};
  const Job& job = context_of(map).job();
  Backoff backoff(job.wait_policy());
  State now;
  for (int looks = 0; (now = pull.state.load(kAcquire)) == state; ++looks) {
    if (backoff.next() == Backoff::Stage::spun) continue;
    if (job.is_lost(map.name.rank)) break;
    if (looks < kYields)
      sched_yield();
    else
      nanosleep(&kAWhile, nullptr);
  }
  return now;
}

}  // namespace

bool show_for_pull(Map& map, const std::byte* from, std::size_t bytes) noexcept {
  Job& job = context_of(map).job();
  if (bytes < kLeastPull || bytes > kMostPull || map.channel->is_remote() ||
      map.state != Map::State::connected || map.name.rank == job.rank() ||
      job.wait_policy().spin_ticks == 0)
    return false;
  if (map.pull_pace.pushes_to_make != 0) {
    --map.pull_pace.pushes_to_make;
    return false;
  }
  MapBlock::Pull& pull = own_pull(map);
  const std::uint64_t source = context_of(map).nic().source_of(from, bytes);
  if (source == 0 || pull.state.load(kAcquire) != State::none) return false;
  pull.source.store(source, kRelaxed);
  pull.state.store(State::shown, kRelease);
  return true;
}

void take_back_pull(Map& map) noexcept { own_pull(map).state.store(State::none, kRelaxed); }

bool await_pull(Map& map, std::size_t bytes) noexcept {
  MapBlock::Pull& pull = own_pull(map);
  const std::uint64_t until = monotonic_ns() + patience_ns(map, bytes);
  constexpr int kLooksBetween = 16;
  State state = State::shown;
  for (int looks = 1; state == State::shown; ++looks) {
    if (looks % kLooksBetween == 0 && monotonic_ns() > until) break;
    __builtin_ia32_pause();
    state = pull.state.load(kAcquire);
  }
  if (state == State::shown && pull.state.compare_exchange_strong(state, State::pushing)) {
    Map::PullPace& pace = map.pull_pace;
    pace.pushes_to_make = pace.pushes_after_miss;
    pace.pushes_after_miss = std::min(2 * pace.pushes_after_miss, kMostPushesAfterMiss);
    return false;
  }
  if (state == State::pulling) state = wait_out(map, pull, state);
  map.pull_pace.pushes_after_miss = 1;
  pull.state.store(State::none, kRelaxed);
  return true;
}

void tell_pushed(Map& map, std::size_t bytes, std::uint64_t ns) noexcept {
  own_pull(map).state.store(State::pushed, kRelease);
  constexpr std::uint64_t kMost = 1'000;  // a sender that has lost its core meanwhile
  map.pull_pace.push_ns_per_kib =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(ns / (bytes / 1024), kMost));
}

void tell_failed(Map& map, Undeliverable why) noexcept {
  MapBlock::Pull& pull = own_pull(map);
  pull.source.store(static_cast<std::uint64_t>(why), kRelaxed);
  pull.state.store(State::failed, kRelease);
}

PullEnd pull(Map& map, std::byte* to, std::size_t bytes, Undeliverable& why) noexcept {
  via::channel::Nic& nic = context_of(map).nic();
  MapBlock::Pull& pull = peers_pull(map);
  State state = State::shown;
  if (pull.state.compare_exchange_strong(state, State::pulling)) {
    const Rank rank = map.name.rank;
    const via::RemotePlace place = nic.source_place(rank, pull.source.load(kRelaxed), bytes);
    const bool copied =
        to == nullptr || (place.status == 0 && nic.read_place(rank, place, to, bytes));
    pull.state.store(State::pulled, kRelease);
    return copied ? PullEnd::copied : PullEnd::broken;
  }
  if (state == State::pushing) state = wait_out(map, pull, state);
  if (state == State::failed && to != nullptr) {
    const std::uint64_t told = pull.source.load(kRelaxed);
    const bool is_known = told != 0 && told <= static_cast<std::uint64_t>(Undeliverable::no_access);
    why = is_known ? static_cast<Undeliverable>(told) : Undeliverable::bad_offset;
    return PullEnd::unpushed;
  }
  if (state != State::pushed && state != State::failed) return PullEnd::broken;
  pull.state.store(State::none, kRelease);
  return PullEnd::pushed;
}

}  // namespace viaduct::am::detail
