// The lock of parallel bundles by itself: threads that go behind gates, with and without a
// reservation, and close them. Each guards plain words, and no check of the test is a locked
// instruction, which would do the work of a barrier that is missing.

#include "am/src/shared_calls.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "viaduct/runtime/wait.hpp"

namespace viaduct::am {
namespace {

/// Keeps the compiler from joining accesses; the processor may order them as it likes.
void compiler_fence() noexcept { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/// What is behind a gate. Plain accesses: the thread sanitizer judges them.
struct alignas(128) Part {
  Gate gate;
  std::uint64_t count = 0;  // changed in two steps behind the gate, or under the lock
};

/// Leaves stores in the processor's buffer, so that the ones behind them take their time.
class Clutter {
 public:
  void store() noexcept {
    constexpr std::size_t kStores = 8;
    for (std::size_t i = 0; i < kStores; ++i) {
      at_ = (at_ * 5 + 64 * 7 + 64) % bytes_.size();
      bytes_[at_] = static_cast<unsigned char>(at_);
      compiler_fence();
    }
  }

 private:
  std::vector<unsigned char> bytes_ = std::vector<unsigned char>(1 << 22);
  std::size_t at_ = 0;
};

void add_one(Part& part) noexcept {
  const std::uint64_t before = part.count;
  compiler_fence();
  __builtin_ia32_pause();
  compiler_fence();
  part.count = before + 1;
}

/// The handler that a bundle runs, for its gate.
class Handler {
 public:
  explicit Handler(Gate& gate) : gate_(gate) {
    gate_.depth = &depth_;
    gate_.depth_base = &kNone;
  }
  ~Handler() { gate_.depth = nullptr; }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  void begin() noexcept { depth_ = 1; }
  void end() noexcept { depth_ = 0; }

 private:
  static constexpr std::uint32_t kNone = 0;
  Gate& gate_;
  std::uint32_t depth_ = 0;
};

constexpr std::size_t kThreads = 3;
constexpr std::uint32_t kReserveAfter = 16;

class SharedCallsTest : public ::testing::Test {
 protected:
  SharedCallsTest() {
    for (Part& part : parts_) calls_.add(part.gate);
  }
  ~SharedCallsTest() override {
    for (Part& part : parts_) calls_.remove(part.gate);
  }

  /// A short call into @p part, by the long way where the gate does not let it pass.
  void call(Part& part) noexcept {
    if (calls_.try_pass(part.gate)) {
      add_one(part);
      calls_.go_out(part.gate);
      return;
    }
    calls_.enter(&part.gate);
    add_one(part);
    calls_.leave();
  }
  /// A long call into no bundle: adds to all parts but the @p parked one, and sees nobody else do
  /// so.  @return the parts.
  std::uint64_t close(const Part* parked) noexcept {
    calls_.enter(nullptr);
    std::uint64_t added = 0;
    for (Part& part : parts_) {
      if (&part == parked || part.gate.state.load() == Gate::kParked) continue;
      const std::uint64_t before = part.count;
      compiler_fence();
      for (int i = 0; i < 20; ++i) __builtin_ia32_pause();
      compiler_fence();
      if (part.count != before) ++disturbed_;
      part.count = before + 1;
      ++added;
    }
    calls_.leave();
    return added;
  }
  [[nodiscard]] bool is_reserved(const Part& part) const noexcept {
    return part.gate.owner.load() == detail::calling_thread;
  }
  /// Short calls until the gate is reserved for this thread, and the long one that does it.
  void reserve(Part& part) noexcept {
    for (std::uint32_t i = 0; i < 2 * kReserveAfter; ++i) call(part);
    calls_.enter(&part.gate);
    calls_.leave();
  }

  SharedCalls calls_{kReserveAfter};
  std::array<Part, kThreads> parts_{};
  std::atomic<std::uint64_t> disturbed_ = 0;
};

TEST_F(SharedCallsTest, AGateIsReservedForTheThreadThatAloneUsesIt) {
  if (!membarrier_register_process()) GTEST_SKIP() << "no barriers within the process";
  Part& part = parts_[0];
  for (std::uint32_t i = 0; i < kReserveAfter - 1; ++i) call(part);
  EXPECT_FALSE(calls_.would_reserve(part.gate));
  reserve(part);
  EXPECT_TRUE(is_reserved(part));
  EXPECT_FALSE(is_reserved(parts_[1]));
  ASSERT_TRUE(calls_.try_pass(part.gate));
  EXPECT_EQ(part.gate.state.load(), Gate::kOpen) << "it went in by a locked instruction";
  EXPECT_FALSE(calls_.try_pass(parts_[1].gate)) << "behind two gates";
  calls_.go_out(part.gate);
}

TEST_F(SharedCallsTest, AnotherThreadTakesTheReservationAway) {
  if (!membarrier_register_process()) GTEST_SKIP() << "no barriers within the process";
  Part& part = parts_[0];
  reserve(part);
  for (std::uint32_t i = 0; i < kReserveAfter; ++i) call(part);
  std::thread([&] { (void)close(nullptr); }).join();
  EXPECT_TRUE(is_reserved(part)) << "it has paid for the barrier";
  std::thread([&] { (void)close(nullptr); }).join();
  EXPECT_FALSE(is_reserved(part)) << "it had no call since the last barrier";
  reserve(part);
  EXPECT_TRUE(is_reserved(part));
  std::thread([&] { call(part); }).join();
  EXPECT_EQ(part.gate.owner.load(), nullptr) << "two threads use it";
}

TEST_F(SharedCallsTest, WithoutBarriersNoneIsReserved) {
  SharedCalls plain(0);
  Gate gate;
  plain.add(gate);
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(plain.try_pass(gate));
    EXPECT_EQ(gate.state.load(), Gate::kInside);
    plain.go_out(gate);
    plain.enter(&gate);
    plain.leave();
  }
  EXPECT_EQ(gate.owner.load(), nullptr);
  plain.remove(gate);
}

TEST_F(SharedCallsTest, AParkedHandlerKeepsItsBundleAndLetsOthersPass) {
  Part& part = parts_[0];
  reserve(part);
  ASSERT_TRUE(calls_.try_pass(part.gate));  // a handler runs
  calls_.enter(nullptr);
  EXPECT_EQ(part.gate.state.load(), Gate::kParked);
  const SharedCalls::Pause pause = calls_.pause();
  std::thread([&] {
    EXPECT_FALSE(calls_.try_enter(&part.gate));
    EXPECT_TRUE(calls_.try_enter(&parts_[1].gate));
    calls_.leave();
    (void)close(&part);
  }).join();
  calls_.resume(pause, nullptr);
  calls_.leave();
  EXPECT_EQ(part.gate.state.load(), Gate::kInside);
  calls_.go_out(part.gate);
  EXPECT_EQ(part.gate.state.load(), Gate::kOpen);
}

/// Whether another thread can take the lock for a call into the bundle of @p called.
bool can_enter(SharedCalls& calls, Gate* called) {
  bool can = false;
  std::thread([&] {
    if ((can = calls.try_enter(called))) calls.leave();
  }).join();
  return can;
}

/// A handler's wait serves another bundle, whose handler waits in turn.
TEST_F(SharedCallsTest, APauseParksEveryBundleWhoseHandlerTheThreadRuns) {
  Handler first(parts_[0].gate);
  Handler second(parts_[1].gate);
  ASSERT_TRUE(calls_.enter(&parts_[0].gate));
  first.begin();
  const SharedCalls::Pause outer = calls_.pause();
  EXPECT_FALSE(can_enter(calls_, &parts_[0].gate));
  EXPECT_TRUE(can_enter(calls_, &parts_[1].gate));
  ASSERT_TRUE(calls_.try_enter(&parts_[1].gate));
  second.begin();
  const SharedCalls::Pause inner = calls_.pause();
  EXPECT_FALSE(can_enter(calls_, &parts_[0].gate));
  EXPECT_FALSE(can_enter(calls_, &parts_[1].gate));
  EXPECT_TRUE(can_enter(calls_, &parts_[2].gate));
  ASSERT_TRUE(calls_.resume(inner, &parts_[1].gate));
  EXPECT_EQ(parts_[0].gate.state.load(), Gate::kParked) << "the outer pause lasts";
  EXPECT_EQ(parts_[1].gate.state.load(), Gate::kOpen);
  second.end();
  calls_.leave();
  ASSERT_TRUE(calls_.resume(outer, &parts_[0].gate));
  first.end();
  calls_.leave();
  for (Part& part : parts_) EXPECT_TRUE(can_enter(calls_, &part.gate));
}

/// The predicate of a wait polls a bundle whose handler waits in another thread.
TEST_F(SharedCallsTest, TheHolderGivesWayToAHandlerThatWaitsElsewhere) {
  Part& part = parts_[0];
  std::atomic<bool> ready = false;
  std::thread other([&] {
    ASSERT_TRUE(calls_.try_pass(part.gate));
    ASSERT_TRUE(calls_.enter(&part.gate));
    const SharedCalls::Pause pause = calls_.pause();
    ready = true;
    ASSERT_TRUE(calls_.resume(pause, &part.gate));  // blocks until the holder gives way
    calls_.leave();
    calls_.go_out(part.gate);
  });
  ASSERT_TRUE(calls_.enter(nullptr));
  while (!ready) {
    calls_.leave();
    std::this_thread::yield();
    ASSERT_TRUE(calls_.enter(nullptr));
  }
  for (Looks looks; !calls_.enter(&part.gate);) calls_.give_way(looks);
  EXPECT_TRUE(calls_.is_held());
  calls_.leave();
  calls_.leave();
  EXPECT_FALSE(calls_.is_held());
  other.join();
}

/// A handler's calls in its wait leave its bundle parked.
TEST_F(SharedCallsTest, AParkedHandlersCallsKeepItsBundleParked) {
  Part& part = parts_[0];
  ASSERT_TRUE(calls_.try_pass(part.gate));
  ASSERT_TRUE(calls_.enter(&part.gate));
  const SharedCalls::Pause pause = calls_.pause();
  ASSERT_TRUE(calls_.try_enter(&parts_[1].gate));
  calls_.leave();
  EXPECT_EQ(part.gate.state.load(), Gate::kParked);
  ASSERT_TRUE(calls_.resume(pause, &part.gate));
  EXPECT_EQ(part.gate.state.load(), Gate::kParked);
  calls_.leave();
  EXPECT_NE(part.gate.state.load(), Gate::kParked);
  calls_.go_out(part.gate);
  EXPECT_EQ(part.gate.state.load(), Gate::kOpen);
}

TEST_F(SharedCallsTest, RecordsOfThreadsThatHaveEndedAreUsedAgain) {
  const detail::CallingThread* first = nullptr;
  const detail::CallingThread* second = nullptr;
  const auto record = [&](const detail::CallingThread*& into) {
    call(parts_[0]);
    into = detail::calling_thread;
  };
  std::thread([&] { record(first); }).join();
  std::thread([&] { record(second); }).join();
  EXPECT_NE(first, &detail::no_thread);
  EXPECT_EQ(first, second);
}

/// One thread is behind its gate again and again, while another closes all gates: each closing is a
/// chance to see the owner's store too late.
TEST_F(SharedCallsTest, AThreadThatClosesSeesTheOwner) {
  constexpr std::uint32_t kClosings = 150'000;
  SharedCalls calls(1);
  Part part;
  calls.add(part.gate);
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> reserved = 0;
  std::uint64_t added = 0;
  std::thread owner([&] {
    Clutter clutter;
    std::uint64_t owned = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      if (part.gate.owner.load(kRelaxed) != detail::calling_thread) {
        calls.enter(&part.gate);
        calls.leave();
      } else {
        ++owned;
      }
      clutter.store();
      if (!calls.try_pass(part.gate)) continue;
      add_one(part);
      ++added;
      calls.go_out(part.gate);
    }
    reserved = owned;
  });
  for (std::uint32_t i = 0; i < kClosings; ++i) {
    calls.enter(nullptr);
    const std::uint64_t before = part.count;
    compiler_fence();
    for (int wait = 0; wait < 10; ++wait) __builtin_ia32_pause();
    compiler_fence();
    if (part.count != before) ++disturbed_;
    part.count = before + 1;
    calls.leave();
    for (std::uint32_t wait = 0; wait < i % 128; ++wait) __builtin_ia32_pause();
  }
  stop = true;
  owner.join();
  EXPECT_EQ(part.count, added + kClosings) << "an addition was lost: two threads were in one place";
  EXPECT_EQ(disturbed_.load(), 0U);
  if (membarrier_register_process()) {
    EXPECT_GT(reserved.load(), 1000U) << "the gate was not reserved often enough to tell";
  }
  calls.remove(part.gate);
}

/// Each thread is in its own part most of the time, so that the gate is reserved for it; now and
/// then it closes all gates, calls into another's part, or makes a long call in a handler.
TEST_F(SharedCallsTest, OneThreadAtATimeWhateverTheForm) {
  constexpr std::uint32_t kCalls = 120'000;
  std::array<std::uint64_t, kThreads> added{};
  std::atomic<std::uint64_t> reserved = 0;
  const auto run = [&](std::size_t me) {
    Clutter clutter;
    std::uint32_t dice = 12345 + static_cast<std::uint32_t>(me);
    std::uint64_t mine = 0;
    std::uint64_t owned = 0;
    for (std::uint32_t i = 0; i < kCalls; ++i) {
      dice = dice * 1664525 + 1013904223;
      const std::uint32_t face = dice >> 22;  // of 1024
      Part& own = parts_[me];
      clutter.store();
      owned += is_reserved(own);
      if (face < 24) {
        mine += close(nullptr);
      } else if (face < 26) {
        call(parts_[(me + 1) % kThreads]);
        ++mine;
      } else if (face < 30 && calls_.try_pass(own.gate)) {
        add_one(own);
        mine += 1 + close(&own);  // of a handler
        add_one(own);
        ++mine;
        calls_.go_out(own.gate);
      } else if (face < 40) {
        calls_.enter(&own.gate);
        add_one(own);
        ++mine;
        calls_.leave();
      } else {
        call(own);
        ++mine;
      }
    }
    added[me] = mine;
    reserved += owned;
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back(run, i);
  for (std::thread& thread : threads) thread.join();
  std::uint64_t wanted = 0;
  std::uint64_t counted = 0;
  for (std::size_t i = 0; i < kThreads; ++i) {
    wanted += added[i];
    counted += parts_[i].count;
  }
  EXPECT_EQ(counted, wanted) << "an addition was lost: two threads were in one place";
  EXPECT_EQ(disturbed_.load(), 0U);
  if (membarrier_register_process()) {
    EXPECT_GT(reserved.load(), kCalls / 10) << "the gates were not reserved often enough to tell";
  }
}

}  // namespace
}  // namespace viaduct::am
