/// Collective calls that do not fit each other. usage: collective_wrong HOW
/// The last process does something else than the others; the job must end with a sentence.

#include <cstdio>
#include <string_view>
#include <vector>

#include "viaduct/splitc.hpp"

using namespace viaduct::splitc;

namespace {

volatile long sink;

struct First {
  int operator()(int a, int) const { return a; }
};
struct Last {
  int operator()(int, int b) const { return b; }
};

struct Case {
  std::string_view name;
  void (*others)();
  void (*last)();
};

template <class T>
void keep(T value) {
  sink = static_cast<long>(value);
}

constexpr Case kCases[] = {
    {"kind", barrier, [] { keep(all_reduce_add(1)); }},
    {"operator", [] { keep(all_reduce_add(1)); }, [] { keep(all_reduce_max(1)); }},
    {"type", [] { keep(all_reduce_add(1)); }, [] { keep(all_reduce_add(1.0)); }},
    {"sign", [] { keep(all_reduce_add(1)); }, [] { keep(all_reduce_add(1U)); }},
    {"other_operator", [] { keep(all_reduce(1, First{})); }, [] { keep(all_reduce(1, Last{})); }},
    {"bcast_root", [] { keep(all_bcast(1, 0)); }, [] { keep(all_bcast(1, PROCS - 1)); }},
    {"reduce_root", [] { keep(all_reduce_to_one_add(1, 0)); },
     [] { keep(all_reduce_to_one_add(1, PROCS - 1)); }},
    {"count",
     [] {
       std::vector<int> data(100);
       all_bcast(data.data(), 100, 0);
     },
     [] {
       std::vector<int> data(100);
       all_bcast(data.data(), 99, 0);
     }},
    {"array_count",
     [] {
       std::vector<int> data(100);
       all_reduce(data.data(), 100, Add{});
     },
     [] {
       std::vector<int> data(100);
       all_reduce(data.data(), 10, Add{});
     }},
    {"gather", [] { keep(all_gather(1).size()); }, [] { keep(all_gather_to_one(1).size()); }},
    {"scan", [] { keep(all_scan_add(1)); }, [] { keep(all_scan_before(1, Add{}, 0)); }},
    {"store_sync", barrier, all_store_sync},
    {"force_path", barrier, [] { force_path(Path::message); }},
    {"end", barrier, [] {}},
    {"end_short_bcast",
     [] {
       keep(all_bcast(1, 0));
       barrier();
     },
     [] {}},
    {"end_long_bcast",
     [] {
       std::vector<int> data(30'000);
       all_bcast(data.data(), data.size(), 0);
     },
     [] {}},
    // The last calls of the program, in which no process waits.
    {"end_roots", [] { keep(all_bcast(1, MYPROC)); }, [] { keep(all_bcast(1, MYPROC)); }},
    {"end_more", [] {}, [] { keep(all_bcast(1, MYPROC)); }},
    {"end_gather", [] {}, [] { keep(all_gather_to_one(1).size()); }},
    {"in_split",
     [] {
       barrier_notify();
       barrier_wait();
     },
     [] {
       barrier_notify();
       keep(all_reduce_add(1));
     }},
    {"wait_alone", [] {}, barrier_wait},
    {"try_alone", [] {}, [] { keep(barrier_try()); }},
    {"notify_twice", barrier_notify,
     [] {
       barrier_notify();
       barrier_notify();
     }},
    {"no_such_root", [] { keep(all_bcast(1, 0)); }, [] { keep(all_bcast(1, PROCS)); }},
    {"negative_root", [] { keep(all_reduce_to_one_add(1, 0)); },
     [] { keep(all_reduce_to_one_add(1, -1)); }},
};

}  // namespace

int splitc_main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  for (const Case& c : kCases) {
    if (c.name != how) continue;
    for (int i = 0; i < 5; ++i) barrier();
    keep(all_bcast(MYPROC, 0));
    (MYPROC == PROCS - 1 ? c.last : c.others)();
    // Whoever got through without hearing of it goes on.
    for (int i = 0; i < 5 && !how.starts_with("end"); ++i) barrier();
    return 0;
  }
  std::fprintf(stderr, "there is no case '%.*s'\n", static_cast<int>(how.size()), how.data());
  return 2;
}
