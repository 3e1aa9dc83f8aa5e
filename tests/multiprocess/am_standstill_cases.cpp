/// Waits that let no requests run (set_wait_run), in a circle: they end within a second, each
/// request is handled or comes back, in order; and waits that only last are left alone.

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "viaduct/am/future.hpp"
#include "viaduct/runtime/clock.hpp"
#include "tests/multiprocess/am_rig.hpp"

namespace viaduct::am_test {
namespace {

thread_local std::uint32_t t_handled = 0;
thread_local bool t_may_run = true;
thread_local std::array<std::uint32_t, kMaxRanks> t_next{};

void take(const am::Token& token, std::uint32_t seq) {
  CHECK(t_may_run);
  std::uint32_t& next = t_next[index(token.source_rank())];
  CHECK(seq >= next);
  next = seq + 1;
  ++t_handled;
}
void on_short(am::Token& token, std::uint32_t seq) { take(token, seq); }
void on_medium(am::Token& token, std::span<const std::byte> data, std::uint32_t seq) {
  CHECK_EQ(first_wrong(data, seq), data.size());
  take(token, seq);
}
std::uint64_t on_call(am::Token& token, std::uint32_t seq) {
  take(token, seq);
  return 3 * std::uint64_t{seq} + 1;
}

void reset(Rig& rig) {
  t_handled = 0;
  t_next.fill(0);
  rig.barrier();
}

/// @p count requests to @p to, of which some are medium and some are calls, while no request runs.
class Stream {
 public:
  Stream(Rig& rig, am::Index to, std::uint32_t count) : rig_(rig) {
    calls_.reserve(count);
    std::vector<std::byte> data(1500);
    rig.endpoint().set_wait_run(am::Bundle::Run::replies);
    t_may_run = false;
    for (std::uint32_t seq = 0; seq < count; ++seq) {
      fill(data, seq);
      if (seq % 5 == 0)
        rig.ok(rig.endpoint().request_medium<on_medium>(to, std::span(data), seq));
      else if (seq % 3 == 0)
        calls_.push_back({rig.endpoint().call<on_call>(to, seq), seq});
      else
        rig.ok(rig.endpoint().request<on_short>(to, seq));
    }
    t_may_run = true;
    rig.endpoint().set_wait_run(am::Bundle::Run::all);
  }
  /// @return how many of them have come back.
  [[nodiscard]] std::uint32_t finish() {
    for (Call& call : calls_) rig_.until([&] { return call.future.ready(); });
    rig_.drain();
    auto back = static_cast<std::uint32_t>(rig_.back.size());
    for (const Back& b : rig_.back) {
      CHECK_EQ(b.status, am::Undeliverable::congestion);
      CHECK(b.direction == am::Direction::request);
      CHECK(!b.args.empty());
    }
    for (Call& call : calls_) {
      const auto result = call.future.wait();
      if (result) {
        CHECK_EQ(*result, 3 * std::uint64_t{call.seq} + 1);
        continue;
      }
      CHECK_EQ(result.error(), am::Undeliverable::congestion);
      ++back;
    }
    return back;
  }

 private:
  struct Call {
    am::Future<std::uint64_t> future;
    std::uint32_t seq;
  };
  Rig& rig_;
  std::vector<Call> calls_;
};

struct Count {
  std::uint32_t sent;
  std::uint32_t back;
  std::uint32_t handled;
};

/// All ranks send to @p to at once, so that no credit comes back to any.
void circle(Rig& rig, am::Index to) {
  reset(rig);
  rig.fence();
  const std::uint32_t count = 2 * rig.endpoint().credits() + 3;
  const std::uint64_t start = monotonic_ns();
  Stream stream(rig, to, count);
  const std::uint64_t took = monotonic_ns() - start;
  const std::uint32_t back = stream.finish();
  Count all{};
  for (const Count& each : rig.exchange(Count{count, back, t_handled})) {
    all.sent += each.sent;
    all.back += each.back;
    all.handled += each.handled;
  }
  CHECK_EQ(all.handled + all.back, all.sent);
  CHECK(all.back != 0);  // somebody's had to
  CHECK(all.handled != 0);
  // Three times it may come to a standstill, each found in a moment, on a busy machine later.
  CHECK(took < static_cast<std::uint64_t>(kLimitNs));
  rig.barrier();
  rig.expect_all_credits();
}

void all_in_one(Rig& rig) { circle(rig, rig.next()); }
void each_with_itself(Rig& rig) { circle(rig, am::Index{rig.rank()}); }
void in_pairs(Rig& rig) {
  const std::uint32_t peer = rig.rank() ^ 1U;
  circle(rig, am::Index{peer < rig.size() ? peer : rig.rank()});
}

/// Each rank waits for the next one, the last for nobody: it does not poll for a while. Nothing
/// comes back, however long they wait.
void in_a_row(Rig& rig) {
  reset(rig);
  rig.fence();
  const bool last = rig.rank() + 1 == rig.size();
  const std::uint32_t count = last ? 0 : 2 * rig.endpoint().credits() + 3;
  if (last) std::this_thread::sleep_for(std::chrono::milliseconds(450));
  Stream stream(rig, rig.next(), count);
  CHECK_EQ(stream.finish(), 0);
  rig.barrier();
  CHECK_EQ(t_handled, rig.rank() == 0 ? 0 : 2 * rig.endpoint().credits() + 3);
  rig.expect_all_credits();
}

constexpr std::array kCases{
    Case{"standstill.all_in_one", Needs::any, all_in_one},
    Case{"standstill.each_with_itself", Needs::any, each_with_itself},
    Case{"standstill.in_pairs", Needs::two, in_pairs},
    Case{"standstill.in_a_row", Needs::two, in_a_row},
};

}  // namespace

std::span<const Case> standstill_cases() { return kCases; }

}  // namespace viaduct::am_test
