#include "benchmarks/common/am2_threads.hpp"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "am/c/am.h"
#include "benchmarks/common/child.hpp"
#include "benchmarks/common/stopwatch.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

constexpr const char* kChild = "--am2-threads-child";

struct alignas(128) Seen {
  unsigned replies = 0;
};
constinit thread_local Seen seen;

void on_request(void* token, int a) { (void)AM_Reply1(token, 2, a); }
void on_reply(void* /*token*/, int /*a*/) { ++seen.replies; }

/// A bundle with an endpoint that is connected to itself.
struct Self {
  eb_t bundle = nullptr;
  ep_t endpoint = nullptr;
  bool open(int kind) {
    en_t name;
    return AM_AllocateBundle(kind, &bundle) == AM_OK &&
           AM_AllocateEndpoint(bundle, &endpoint, &name) == AM_OK &&
           AM_SetTag(endpoint, AM_ALL) == AM_OK &&
           AM_SetHandler(endpoint, 1, reinterpret_cast<AM_Handler>(on_request)) == AM_OK &&
           AM_SetHandler(endpoint, 2, reinterpret_cast<AM_Handler>(on_reply)) == AM_OK &&
           AM_Map(endpoint, 0, name, AM_ALL) == AM_OK && run(100);
  }
  bool run(unsigned rounds) {
    seen.replies = 0;
    for (unsigned i = 0; i < rounds; ++i) {
      if (AM_Request1(endpoint, 0, 1, 1) != AM_OK) return false;
      while (seen.replies <= i)
        if (AM_Poll(bundle) != AM_OK) return false;
    }
    return true;
  }
};

double mps(unsigned rounds, double ns) { return static_cast<double>(rounds) * 1e3 / ns; }

double one(int kind, unsigned rounds) {
  Self self;
  if (!self.open(kind)) return 0;
  const Stopwatch watch;
  return self.run(rounds) ? mps(rounds, watch.elapsed_ns()) : 0;
}

double alone(unsigned rounds) {
  std::atomic<bool> done{false};
  std::thread sleeper([&] { done.wait(false); });
  const double rate = one(AM_PAR, rounds);
  done.store(true);
  done.notify_one();
  sleeper.join();
  return rate;
}

/// The sum of both threads' rates, each from the common start to the thread's own end.
double two(unsigned rounds) {
  std::atomic<int> ready{0};
  std::atomic<bool> failed{false};
  double rates[2] = {};
  const auto body = [&](int at) {
    Self self;
    if (!self.open(AM_PAR)) failed.store(true);
    ready.fetch_add(1);
    while (ready.load() < 2 && !failed.load()) ::sched_yield();
    const Stopwatch watch;
    if (failed.load() || !self.run(rounds)) failed.store(true);
    rates[at] = mps(rounds, watch.elapsed_ns());
  };
  std::thread other(body, 1);
  body(0);
  other.join();
  return failed.load() ? 0 : rates[0] + rates[1];
}

}  // namespace

double am2_threads_mps(Am2Threads what, unsigned rounds) {
  std::vector<char> self(4096);
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size() - 1);
  if (length < 0) throw Error(std::errc::no_such_file_or_directory, "/proc/self/exe names nothing");
  const std::string path(self.data(), static_cast<std::size_t>(length));
  // Without the launcher's variables the child is a job of one rank.
  const Ended ended = run_child({"/usr/bin/env", "-i", path, kChild,
                                 std::to_string(static_cast<int>(what)), std::to_string(rounds)});
  const double rate = std::strtod(ended.output.c_str(), nullptr);
  if (ended.code != 0 || rate <= 0)
    throw Error(std::errc::io_error, "threads of AM-2 failed: " + ended.output);
  return rate;
}

bool is_am2_child(int argc, char** argv, int& exit_code) {
  if (argc != 4 || std::strcmp(argv[1], kChild) != 0) return false;
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  (void)::sched_setaffinity(0, sizeof all, &all);
  const auto what = static_cast<Am2Threads>(std::atoi(argv[2]));
  const auto rounds = static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10));
  exit_code = 1;
  if (AM_Init() != AM_OK) return true;
  const double rate = what == Am2Threads::sequential ? one(AM_SEQ, rounds)
                      : what == Am2Threads::alone    ? alone(rounds)
                                                     : two(rounds);
  std::printf("%.6f\n", rate);
  exit_code = AM_Terminate() == AM_OK && rate > 0 ? 0 : 1;
  return true;
}

}  // namespace viaduct::bench
