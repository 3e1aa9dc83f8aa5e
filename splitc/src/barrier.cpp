/// Barriers: in round r a process hears of the 2^r processes before the one that it has heard of
/// already. All that a process did before its barrier is seen by all after theirs: the marks go out
/// after what was written before and are followed by whatever is read afterwards.

#include "splitc/detail/collective.hpp"
#include "splitc/detail/machine.hpp"
#include "splitc/sync.hpp"

namespace viaduct::splitc {
namespace detail {
namespace {

constexpr CollectiveCall kBarrierCall = make_plain_collective(CollectiveKind::barrier);

}  // namespace

void Collector::barrier_begin(const CollectiveCall& call) {
  begin(call, true);
  barrier_round_ = 0;
  barrier_send();
}

void Collector::barrier_rest() {
  for (;;) {
    await(barrier_source(), barrier_round_);
    if (++barrier_round_ == barrier_rounds_) return;
    barrier_send();
  }
}

void Collector::barrier(const CollectiveCall& call) {
  barrier_begin(call);
  barrier_rest();
}

void Collector::barrier_notify() {
  if (hot.procs != 1)
    barrier_begin(kBarrierCall);
  else
    alone(CollectiveKind::barrier);
  notified_ = true;
}

void Collector::barrier_wait() {
  if (!notified_) stop("barrier_wait", "called without a barrier_notify() before");
  if (hot.procs != 1 && barrier_round_ != barrier_rounds_) barrier_rest();
  notified_ = false;
}

bool Collector::barrier_try() {
  if (!notified_) stop("barrier_try", "called without a barrier_notify() before");
  machine_.poll();
  if (hot.procs == 1) return true;
  while (barrier_round_ != barrier_rounds_) {
    if (!has_come(barrier_source(), barrier_round_)) return false;
    if (++barrier_round_ != barrier_rounds_) barrier_send();
  }
  return true;
}

}  // namespace detail

void barrier() {
  detail::Collector& c = detail::collector("barrier");
  if (detail::hot.procs == 1) [[unlikely]]
    c.alone(detail::CollectiveKind::barrier);
  else
    c.barrier(detail::kBarrierCall);
}

void barrier_notify() { detail::collector("barrier_notify").barrier_notify(); }
void barrier_wait() { detail::collector("barrier_wait").barrier_wait(); }
bool barrier_try() { return detail::collector("barrier_try").barrier_try(); }

}  // namespace viaduct::splitc
