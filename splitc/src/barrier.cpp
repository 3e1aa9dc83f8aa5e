/// Barriers: after round r a process knows of the arrival of the 2^(r + 1) - 1 processes before it.
/// All processes see after their barrier what each did before its own: a process writes its marks
/// after its earlier writes, and reads marks before its later reads.

#include "runtime/errors/codes.hpp"
#include "splitc/detail/machine.hpp"
#include "viaduct/splitc/detail/collective.hpp"
#include "viaduct/splitc/sync.hpp"

namespace viaduct::splitc {
namespace detail {

void CollectiveEngine::barrier_notify() {
  if (hot.procs != 1) {
    barrier_begin(kBarrierCall);
    show_arrival();  // this process may compute for long while others wait
  } else {
    alone(CollectiveKind::barrier);
  }
  barrier_round_ = 0;
  notified_ = true;
}

void CollectiveEngine::barrier_wait() {
  if (!notified_)
    stop(errors::barrier_order, "barrier_wait", "called without a barrier_notify() before");
  if (barrier_round_ != barrier_rounds_) barrier_rest(barrier_round_);
  notified_ = false;
}

bool CollectiveEngine::barrier_try() {
  if (!notified_)
    stop(errors::barrier_order, "barrier_try", "called without a barrier_notify() before");
  machine_.poll();
  while (barrier_round_ != barrier_rounds_) {
    if (!has_come(process_before(1U << barrier_round_), barrier_round_)) return false;
    if (++barrier_round_ != barrier_rounds_)
      send_mark(process_after(1U << barrier_round_), barrier_round_);
  }
  return true;
}

}  // namespace detail

void barrier() {
  detail::CollectiveEngine& c = detail::collective_engine("barrier");
  if (detail::hot.procs == 1) [[unlikely]]
    c.alone(detail::CollectiveKind::barrier);
  else
    c.barrier();
}

void barrier_notify() { detail::collective_engine("barrier_notify").barrier_notify(); }
void barrier_wait() { detail::collective_engine("barrier_wait").barrier_wait(); }
bool barrier_try() { return detail::collective_engine("barrier_try").barrier_try(); }

}  // namespace viaduct::splitc
