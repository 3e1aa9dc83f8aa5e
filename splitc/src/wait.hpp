#pragma once
// How operations wait.

#include "runtime/shown_wait.hpp"
#include "splitc/src/served.hpp"
#include "viaduct/runtime/settings.hpp"

namespace viaduct::splitc::detail {

template <class Done>
void Machine::Impl::wait(const char* operation, std::uint32_t process, Done&& done,
                         Activity activity) {
  bool finished = false;  // done() may have effects: no call after it has answered true
  const auto ask = [&] { return finished || (finished = done()); };
  constexpr std::uint32_t kEagerLooks = 32;  // before the wait is shown in the record
  constexpr std::uint32_t kOthersHotEvery = 8;
  constexpr std::uint32_t kOthersEvery = 64;  // the engine's word shows most arrivals
  if (ask()) return;
  check_may_wait(operation);
  for (std::uint32_t i = 0; i < kEagerLooks; ++i) {
    poll_now();
    if (ask()) return;
  }
  ShownWait waiting(job);
  waiting.show(operation, process < kNobody ? process : RankRecord::kNoPeer, activity);
  Backoff backoff(job.wait_policy());
  Backoff::Stage stage = Backoff::Stage::spun;
  for (std::uint32_t looks = 1; !ask(); ++looks) {
    const bool others = looks % (others_hot ? kOthersHotEvery : kOthersEvery) == 0;
    if (poll_now(stage != Backoff::Stage::spun || others) != 0) backoff.reset();
    if (ask()) return;
    stage = backoff.next();
    if (stage == Backoff::Stage::spun && looks % 64 != 0) continue;
    if (job.life_epoch() != 0) {
      if (ask()) return;  // a lost process may have completed the wait before its loss
      check_lost(operation, process);
    }
    if (broken != kNobody) check_broken(operation, process);
    if (stage != Backoff::Stage::block_now) continue;
    waiting.before_sleep();
    const std::int64_t report = job.settings().hang_report_ns;
    // No doorbell rings at the end of check_broken()'s grace, nor when a message was nonsense.
    std::int64_t longest = any_off_node ? 100'000'000 : 1'000'000'000;
    if (report != 0 && report < longest) longest = report;
    if (publish_withheld()) engine->block(*served, longest, ask);
  }
}

}  // namespace viaduct::splitc::detail
