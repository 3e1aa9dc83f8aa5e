// A row of the fault matrix: a rank closes its descriptors, or ends its connection, at any moment
// of its end, and no other rank waits for it.

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/multiprocess/launcher_driver.hpp"
#include "tests/multiprocess/launcher_rendezvous.hpp"

namespace {

using Words = std::vector<std::string>;

/// What is said at the end: nothing, or which rank is lost.
enum class Ends : bool { well, named };

struct Order {
  std::string last;    // steps of the last rank
  std::string others;  // and of all others
  Ends ends = Ends::named;
};

constexpr const char* kStandIn = "/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}";

struct World {
  int ranks;
  Words options;
};
const World kThreads{3, {"-n", "3", "--mode", "threads"}};
const std::vector<World> kWorlds{{2, {"-n", "2"}},
                                 {7, {"-n", "7"}},
                                 {2, {"--hosts", "a:1,b:1", "--remote-command", kStandIn}},
                                 {4, {"--hosts", "a:2,b:2", "--remote-command", kStandIn}}};

/// A job that must end by itself: its time limit would be a failure.
class Running {
 public:
  Running(const World& world, Order order)
      : order_(std::move(order)), last_("rank " + std::to_string(world.ranks - 1)) {
    Words words{driver::viaduct_run(), "--timeout", std::to_string(driver::patience_seconds())};
    words.insert(words.end(), world.options.begin(), world.options.end());
    words.insert(words.end(), {driver::test_program("closing"), order_.last, order_.others});
    for (const std::string& word : words) text_ += word + " ";
    program_ = std::make_unique<driver::Program>(words);
  }

  void expect_its_end() {
    const driver::Result result = program_->finish();
    const bool names_the_last = result.err.find(last_) != std::string::npos;
    const bool in_time = result.err.find("time limit") == std::string::npos;
    const bool well = result.code == 0 && result.err.find("viaduct-run:") == std::string::npos;
    EXPECT_TRUE(in_time && (order_.ends == Ends::well ? well : result.code != 0 && names_the_last))
        << text_ << "answered " << result.code << " with:\n"
        << result.err;
  }

 private:
  Order order_;
  std::string last_;
  std::string text_;
  std::unique_ptr<driver::Program> program_;
};

/// Runs jobs, many at a time: they mostly wait.
class Jobs {
 public:
  ~Jobs() { finish(); }
  void run(const World& world, const Order& order) {
    constexpr std::size_t kTogether = 45;
    running_.push_back(std::make_unique<Running>(world, order));
    if (running_.size() == kTogether) finish();
  }
  void finish() {
    for (const auto& job : running_) job->expect_its_end();
    running_.clear();
  }

 private:
  std::vector<std::unique_ptr<Running>> running_;
};

// Everything that the last rank does meets everything that the others do; worlds and ways to close
// take turns.
TEST(Closing, NobodyWaitsForARankThatHasClosedItsConnection) {
  Jobs jobs;
  std::size_t turn = 0;
  for (const std::string last :
       {"C,sleep", "C,job", "job,C,sleep", "job,pause,C,compute", "job,C,end",
        "job,pause,C,end,sleep", "job,C,exit", "job,exit", "job,C,barrier,end"}) {
    for (const char* others : {"job,fence,end", "job,pause,pause,fence,end", "job,end",
                               "job,pause,pause,end", "job,barrier,end"}) {
      const bool all = turn / kWorlds.size() % 2 != 0;
      std::string steps = last;
      if (const auto at = steps.find('C'); at != std::string::npos)
        steps.replace(at, 1, all ? "close-all" : "close-socket");
      jobs.run(kWorlds[turn++ % kWorlds.size()], {steps, others});
    }
  }
}

TEST(Closing, EndsInEveryOrder) {
  Jobs jobs;
  for (const World& world : kWorlds)
    for (const Order& order :
         std::vector<Order>{{"job,end,close-all,pause", "job,pause,end", Ends::well},
                            {"job,pause,end,close-socket,pause", "job,end", Ends::well},
                            {"job,fence,pause,end,close-all", "job,fence,end", Ends::well},
                            {"job,fence,close-all,end", "job,fence,end"},
                            {"job,fence,pause,close-socket,end", "job,fence,fence,end"},
                            {"job,end", "job,pause,fence,end"},
                            {"job,pause,end", "job,fence,end"}})
      jobs.run(world, order);
  // Ranks that are threads have no connection: only their ends matter.
  for (const Order& order : std::vector<Order>{{"close-all,end", "pause,end", Ends::well},
                                               {"pause,close-all,end", "end", Ends::well},
                                               {"close-all,fence,end", "fence,end", Ends::well},
                                               {"close-all,end", "fence,end"},
                                               {"end", "pause,fence,end"},
                                               {"close-all,throw", "fence,end"},
                                               {"pause,throw", "end"}})
    jobs.run(kThreads, order);
}

/// Without viaduct-run the agents that the ranks make themselves watch over the connections.
TEST(Closing, RanksThatMeetByARendezvousDoNotWaitEither) {
  struct Case {
    const char* last;
    const char* first;
    bool well;
  };
  for (const int hosts : {1, 2})
    for (const Case& c : {Case{"job,close-all,end,pause", "job,fence,end", false},
                          Case{"job,pause,close-all,end", "job,fence,end", false},
                          Case{"job,close-all,pause,end", "job,pause,end", true},
                          Case{"job,pause,end,close-all,pause", "job,end", true}}) {
      const std::string address = driver::free_address();
      std::vector<std::unique_ptr<driver::Program>> ranks;
      for (int i = 0; i < 2; ++i)
        ranks.push_back(std::make_unique<driver::Program>(
            Words{driver::test_program("closing"), c.last, c.first},
            driver::Environment{{"VIADUCT_RENDEZVOUS", address},
                                {"VIADUCT_RANK", std::to_string(i)},
                                {"VIADUCT_SIZE", "2"},
                                {"VIADUCT_JOB_SECRET", driver::kSecret},
                                {"VIADUCT_HOST_KEY", "host " + std::to_string(i % hosts)}}));
      const driver::Result first = ranks[0]->finish();
      EXPECT_EQ(first.code == 0, c.well) << c.last << " | " << c.first << "\n" << first.err;
      EXPECT_EQ(driver::has(first.err, "rank 1 was lost"), !c.well) << first.err;
      EXPECT_EQ(ranks[1]->finish().code, 0) << c.last;
    }
}

}  // namespace
