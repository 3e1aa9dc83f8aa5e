#include "via/channel/engine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "via/channel/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/via/channel/group.hpp"

namespace viaduct::via::channel {
namespace {

/// A client that notes what the engine asks of it.
class Fake final : public Client {
 public:
  Fake(Engine& engine, via::channel::Nic& nic, via::channel::Group& queue,
       Kind kind = Kind::runs_handlers)
      : Client(nic, queue, kind), engine_(engine) {
    engine.add(*this);
  }
  ~Fake() { engine_.remove(*this); }

  int serves = 0;
  Run last_run = Run::replies;
  std::function<void()> while_served;
  std::atomic<bool> may_lock{true};
  int locks = 0;
  bool calm = true;
  bool in_handler = false;

 private:
  bool try_lock() noexcept override {
    if (!may_lock) return false;
    ++locks;
    return true;
  }
  void unlock() noexcept override { --locks; }
  std::uint32_t serve(Run run) noexcept override {
    ++serves;
    last_run = run;
    if (while_served) while_served();
    return 1;
  }
  bool before_sleep() noexcept override { return calm; }
  bool runs_handler() noexcept override { return in_handler; }

  Engine& engine_;
};

class EngineTest : public ::testing::Test {
 protected:
  Job job;
  std::shared_ptr<Engine> engine = Engine::of(job);
  via::channel::Nic nic{job, &engine->attention()};
  via::channel::Group queue{nic};
  via::channel::Group other_queue{nic};
  Fake self{*engine, nic, queue};

  static constexpr std::int64_t kShortNs = 1'000'000;
  static constexpr std::int64_t kForEver = -1;
};

TEST_F(EngineTest, IsOneForEachJob) { EXPECT_EQ(engine, Engine::of(job)); }

TEST_F(EngineTest, IsAloneWithOneClient) {
  EXPECT_TRUE(engine->is_alone());
  const Fake other(*engine, nic, other_queue);
  EXPECT_FALSE(engine->is_alone());
}

TEST_F(EngineTest, ServesTheOthers) {
  Fake other(*engine, nic, other_queue);
  EXPECT_EQ(engine->serve_others(self, Run::replies), 1U);
  EXPECT_EQ(self.serves, 0);
  EXPECT_EQ(other.serves, 1);
  EXPECT_EQ(other.last_run, Run::replies);
  EXPECT_EQ(other.locks, 0);
}

TEST_F(EngineTest, ServesInPlainPollsWhatIsPassive) {
  Fake active(*engine, nic, other_queue);
  Fake passive(*engine, nic, other_queue, Client::Kind::passive);
  engine->serve_passive(self);
  EXPECT_EQ(active.serves, 0);
  EXPECT_EQ(passive.serves, 1);
}

TEST_F(EngineTest, LeavesOutWhatAnotherThreadUses) {
  Fake other(*engine, nic, other_queue);
  other.may_lock = false;
  const Engine::Outcome outcome = engine->serve_others(self, Run::all, false);
  EXPECT_EQ(outcome.handled, 0U);
  EXPECT_TRUE(outcome.hot);  // what comes there shows in no word
  EXPECT_EQ(other.serves, 0);
}

TEST_F(EngineTest, ServesAtHomeOnly) {
  Fake other(*engine, nic, other_queue);
  std::thread([&] { EXPECT_EQ(engine->serve_others(self, Run::all), 0U); }).join();
  std::thread([&] { other.come_home(); }).join();
  EXPECT_EQ(engine->serve_others(self, Run::all), 0U);
  other.come_home();
  EXPECT_EQ(engine->serve_others(self, Run::all), 1U);
}

/// A handler that waits, in a client that is being served.
TEST_F(EngineTest, DoesNotServeAgainWhatItServes) {
  Fake other(*engine, nic, other_queue);
  other.while_served = [&] { (void)engine->serve_others(other, Run::all); };
  self.while_served = [&] { (void)engine->serve_others(self, Run::all); };
  (void)engine->serve_others(self, Run::all);
  EXPECT_EQ(other.serves, 1);
  EXPECT_EQ(self.serves, 1);
}

TEST_F(EngineTest, RemovesAClientWhenItIsServedNoMore) {
  std::atomic<bool> serving{false};
  std::atomic<bool> go_on{false};
  std::atomic<bool> removed{false};
  auto other = std::make_unique<Fake>(*engine, nic, other_queue);
  other->while_served = [&] {
    serving = true;
    while (!go_on) std::this_thread::yield();
    EXPECT_FALSE(removed);
  };
  std::thread remover([&] {
    while (!serving) std::this_thread::yield();
    go_on = true;
    other.reset();
    removed = true;
  });
  (void)engine->serve_others(self, Run::all);
  remover.join();
  EXPECT_TRUE(engine->is_alone());
}

TEST_F(EngineTest, KnowsOfHandlersOfItsThread) {
  Fake other(*engine, nic, other_queue);
  EXPECT_FALSE(engine->runs_handler());
  other.in_handler = true;
  EXPECT_TRUE(engine->runs_handler());
  std::thread([&] { EXPECT_FALSE(engine->runs_handler()); }).join();
}

TEST_F(EngineTest, OnlyTheWatcherClearsTheWord) {
  const Fake other(*engine, nic, other_queue);
  (void)engine->take_attention();
  engine->watch(true);
  engine->attention().store(1);
  std::thread([&] { (void)engine->serve_others(self, Run::all); }).join();
  EXPECT_TRUE(engine->asks());
  (void)engine->serve_others(self, Run::all);
  EXPECT_FALSE(engine->asks());
  engine->watch(false);
}

TEST_F(EngineTest, DoesNotBlockWhenAnotherClientHasSomething) {
  Fake other(*engine, nic, other_queue);
  other.calm = false;
  engine->block(self, kForEver, {});
  EXPECT_EQ(other.locks, 0);
}

TEST_F(EngineTest, DoesNotBlockWhenAllIsDone) {
  const Fake other(*engine, nic, other_queue);
  engine->block(self, kForEver, [] { return true; });
}

TEST_F(EngineTest, BlocksWithoutTheLocks) {
  Fake other(*engine, nic, other_queue);
  RankRecord& record = job.record(job.rank());
  std::thread ringer([&] {
    while (record.sleeping.load() == 0) std::this_thread::yield();
    ring_doorbell(record);
  });
  engine->block(self, kForEver, {});
  ringer.join();
  EXPECT_EQ(other.locks, 0);
  EXPECT_EQ(record.sleeping.load(), 0U);
}

TEST_F(EngineTest, BlocksForAShortTimeBesideWhatAnotherThreadUses) {
  Fake other(*engine, nic, other_queue);
  other.may_lock = false;
  engine->block(self, kForEver, {});  // capped, or this would never return
}

TEST_F(EngineTest, BlocksUntilTheTimeIsOver) { engine->block(self, kShortNs, {}); }

}  // namespace
}  // namespace viaduct::via::channel
