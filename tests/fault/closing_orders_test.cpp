// A row of the fault matrix: whatever a rank does at its end (closes its endpoint, leaves, fails,
// is killed) and whatever the others do meanwhile, with Active Messages and with Split-C, the job
// ends by itself: well, or with a sentence.

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/multiprocess/launcher_driver.hpp"
#include "tests/multiprocess/launcher_rendezvous.hpp"

namespace {

using Words = std::vector<std::string>;

struct Job {
  std::string program;
  Words options;
  std::string last;    // steps of the last rank
  std::string others;  // and of all others
  driver::Environment environment = {};
  std::string sentence = {};  // that must be said; empty: any one when the job fails
};

class Running {
 public:
  explicit Running(Job job) : job_(std::move(job)) {
    Words words{driver::viaduct_run(), "--timeout", std::to_string(driver::patience_seconds())};
    words.insert(words.end(), job_.options.begin(), job_.options.end());
    words.insert(words.end(), {driver::test_program(job_.program), job_.last, job_.others});
    program_ = std::make_unique<driver::Program>(words, job_.environment);
  }

  void expect_its_end() {
    const driver::Result result = program_->finish();
    const bool in_time = !driver::has(result.err, "time limit");
    const bool well = result.code == 0 && job_.sentence.empty();
    const bool told = result.code != 0 && driver::has(result.err, "viaduct") &&
                      driver::has(result.err, job_.sentence);
    EXPECT_TRUE(in_time && (well || told))
        << job_.program << " " << testing::PrintToString(job_.options) << " " << job_.last << " | "
        << job_.others << " answered " << result.code << " with:\n"
        << result.err;
  }

 private:
  Job job_;
  std::unique_ptr<driver::Program> program_;
};

/// Runs jobs, many at a time: they mostly wait.
void run_all(const std::vector<Job>& jobs) {
  constexpr std::size_t kTogether = 40;
  std::vector<std::unique_ptr<Running>> running;
  const auto finish = [&] {
    for (const auto& each : running) each->expect_its_end();
    running.clear();
  };
  for (const Job& job : jobs) {
    running.push_back(std::make_unique<Running>(job));
    if (running.size() == kTogether) finish();
  }
  finish();
}

/// Each of @p lasts with two of @p others; numbers of ranks and ways to start them take turns.
std::vector<Job> jobs_of(const std::string& program, const Words& lasts, const Words& others,
                         const std::vector<Words>& worlds,
                         const std::vector<driver::Environment>& environments) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < lasts.size(); ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      const std::size_t turn = 2 * i + j;
      jobs.push_back({program, worlds[turn % worlds.size()], lasts[i],
                      others[(3 * i + 7 * j) % others.size()],
                      environments[i % environments.size()]});
    }
  return jobs;
}

TEST(ClosingOrders, ActiveMessages) {
  run_all(jobs_of(
      "closing_am",
      {"",
       "pause",
       "open",
       "open,serve",
       "open,meet",
       "open,meet,serve",
       "open,shut,pause",
       "open,close,pause",
       "open,meet,shut,pause",
       "open,meet,close,pause",
       "open,meet,pause,close",
       "open,meet,kill",
       "open,meet,pause,kill",
       "open,meet,leave",
       "open,meet,exit",
       "open,meet,throw",
       "open,meet,return",
       "open,meet,serve,leave",
       "open,close,leave",
       "kill",
       "return",
       "open,throw",
       "open,shut,pause,kill",
       "open,meet,serve,shut,pause,kill"},
      {"open,ask", "open,meet,ask", "open,meet,much", "open,meet,medium", "open,bulk",
       "open,meet,bulk", "open,meet,get", "open,get", "open,meet,ask,pause,ask,unmap",
       "open,meet,ask,pause,ask,close", "open,ask,pause,ask,meet", "open,meet,meet", "fence",
       "open,meet,much,shut", "open,meet,ask,pause,bulk,get,meet", "open,meet,return", "pause"},
      {{"-n", "2"},
       {"-n", "3"},
       {"-n", "4"},
       {"-n", "3", "--mode", "threads"},
       {"-n", "3", "--keep-going"}},
      {{}}));
}

TEST(ClosingOrders, SplitC) {
  run_all(jobs_of("closing_splitc",
                  {"",
                   "pause",
                   "barrier",
                   "barrier,pause",
                   "barrier,serve",
                   "barrier,kill",
                   "barrier,pause,kill",
                   "barrier,leave",
                   "barrier,exit",
                   "barrier,throw",
                   "barrier,return",
                   "kill",
                   "leave",
                   "throw",
                   "return",
                   "notify",
                   "notify,pause,kill",
                   "notify,wait,return",
                   "lock,kill",
                   "stores",
                   "reduce,kill",
                   "bcast",
                   "store",
                   "bulk_put",
                   "serve,exit"},
                  {"barrier",
                   "barrier,barrier",
                   "notify,wait",
                   "reduce",
                   "to-one",
                   "bcast",
                   "stores",
                   "barrier,store,stores",
                   "barrier,pause,read",
                   "get,sync",
                   "write",
                   "put,sync",
                   "bulk_read",
                   "bulk_write",
                   "bulk_get,sync",
                   "bulk_put,sync,barrier",
                   "bulk_store,stores",
                   "add",
                   "atomic,pause,atomic",
                   "lock,unlock",
                   "pause",
                   "return",
                   "barrier,throw"},
                  {{"-n", "2"}, {"-n", "3"}, {"-n", "4"}, {"-n", "3", "--keep-going"}},
                  {{}, {{"VIADUCT_SPLITC_PATH", "message"}}}));
}

TEST(ClosingOrders, SplitCNamesWhatCannotComeAnyMore) {
  const Words two{"-n", "2"};
  const Words three{"-n", "3"};
  const std::string stores = "store_sync: no process will store more here";
  const std::string held = "lock: process 2 holds the lock and has returned from splitc_main";
  run_all({{"closing_splitc",
            two,
            "barrier,store_sync",
            "barrier,store",
            {},
            "store_sync: 8 of 100 bytes have come"},
           {"closing_splitc", two, "pause", "store_sync", {}, stores},
           {"closing_splitc", two, "barrier", "store_sync", {}, stores},
           {"closing_splitc", {"-n", "1"}, "store_sync", "", {}, stores},
           {"closing_splitc", three, "lock,barrier", "barrier,lock", {}, held},
           {"closing_splitc", three, "lock,barrier,barrier", "barrier,lock", {}, held},
           {"closing_splitc",
            three,
            "lock,barrier",
            "barrier,lock",
            {{"VIADUCT_SPLITC_PATH", "message"}},
            held},
           {"closing_splitc",
            three,
            "notify",
            "barrier",
            {},
            "splitc_main: returned between barrier_notify() and barrier_wait()"}});
}

}  // namespace
