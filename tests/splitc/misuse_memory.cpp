/// Frees of what is not to be freed, more memory than there is, and locks.

#include <array>

#include "tests/splitc/misuse.hpp"

namespace viaduct::splitc_test {
namespace {

using namespace splitc;

int g_static = 0;
lock_t g_lock;

constexpr std::size_t kHuge = std::size_t{1} << 44;
using Page = std::array<long, 512>;

/// In every process, as collective calls are.
void add_free(Misuses& all, const std::string& name, const std::string& operation,
              const std::string& allocates, void (*act)(), bool is_usual = false) {
  all.push_back(
      {name, kStopped,
       "rank [0-9]+. " + operation + ": process [0-9]+, address 0x[0-9a-f]+ is not where " +
           "an array begins that is allocated: pass what " + allocates + " answered, once",
       act, is_usual, true});
}
void add_exhausting(Misuses& all, const std::string& operation, void (*act)(),
                    const std::string& name = {}) {
  all.push_back({"exhaust_" + (name.empty() ? operation : name), kThrew,
                 "rank [0-9]+. error: " + operation + ": .* raise VIADUCT_SPREAD_BYTES", act, true,
                 true});
}

std::string the_lock(const std::string& operation, int process) {
  return rank_says(process, operation) + "the lock at 0x[0-9a-f]+ of process " + std::to_string(0) +
         " ";
}

}  // namespace

void add_memory_misuses(Misuses& all) {
  add_free(all, "free_of_local", "all_free", "all_malloc", [] {
    static int here;  // at the same address in all processes
    all_free(&here);
  });
  add_free(all, "free_of_middle", "all_free", "all_malloc",
           [] { all_free(all_malloc<int>(9) + 1); });
  add_free(
      all, "free_twice", "all_free", "all_malloc",
      [] {
        int* const p = all_malloc<int>(100);
        all_free(p);
        all_free(p);
      },
      true);
  add_free(all, "spread_free_of_middle", "all_spread_free", "all_spread_malloc",
           [] { all_spread_free(all_spread_malloc<int>(100) + PROCS); });
  add_free(all, "spread_free_of_second", "all_spread_free", "all_spread_malloc", [] {
    all_spread_free(spread_ptr<int>(toglobal(PROCS - 1, tolocal(all_spread_malloc<int>(100)) + 1)));
  });
  add_free(all, "spread_free_of_static", "all_spread_free", "all_spread_malloc",
           [] { all_spread_free(spread_ptr<int>(toglobal(0, &g_static))); });
  const auto add_own = [&](const std::string& name, void (*act)(), bool is_usual = false) {
    add_free(all, name, "spread_free", "spread_malloc", act, is_usual);
    all.back().everybody = false;
  };
  add_own(
      "own_free_twice",
      [] {
        const auto p = spread_malloc<int>(100);
        spread_free(p);
        spread_free(p);
      },
      true);
  add_own("own_free_of_middle", [] { spread_free(spread_malloc<int>(100) + PROCS); });
  add_own("own_free_of_static", [] { spread_free(spread_ptr<int>(toglobal(0, &g_static))); });
  add_free(all, "free_as_own", "spread_free", "spread_malloc",
           [] { spread_free(spread_ptr<int>(toglobal(0, all_malloc<int>(100)))); });

  add_exhausting(all, "all_malloc", [] { (void)all_malloc<char>(kHuge); });
  add_exhausting(all, "all_spread_malloc", [] { (void)all_spread_malloc<char>(kHuge * 16); });
  add_exhausting(all, "spread_malloc", [] { (void)spread_malloc<char>(kHuge * 16); });
  add_exhausting(
      all, "all_malloc", [] { (void)all_malloc<Page>(~std::size_t{0} / sizeof(Page) + 2); },
      "by_overflow");
  add_exhausting(
      all, "all_spread_malloc", [] { (void)all_spread_malloc<Page>(~std::size_t{0} / 4); },
      "spread_by_overflow");
}

void add_lock_misuses(Misuses& all) {
  static const auto l = [] { return toglobal(0, &g_lock); };
  const std::string not_here = ", not by this one .0.: unlock it once, in the process that has";
  all.push_back({"unlock_of_free", kStopped, the_lock("unlock", 0) + "is held by nobody" + not_here,
                 [] { unlock(l()); }, true});
  all.push_back(
      {"unlock_twice", kStopped, the_lock("unlock", 0) + "is held by nobody" + not_here, [] {
         lock(l());
         unlock(l());
         unlock(l());
       }});
  all.push_back({"lock_twice", kStopped,
                 the_lock("lock", 0) + "is held by this process already, .*: unlock it first",
                 [] {
                   lock(l());
                   lock(l());
                 },
                 true});
  for (const bool tries : {false, true})
    all.push_back({tries ? "try_what_is_no_lock" : "lock_what_is_no_lock", kStopped,
                   the_lock(tries ? "try_lock" : "lock", 0) +
                       "holds 0xdeadbeef, which is no process: a lock begins as zeros",
                   [tries] {
                     g_lock.holder = 0xdeadbeef;
                     if (tries)
                       (void)try_lock(l());
                     else
                       lock(l());
                   }});
  all.push_back({"lock_between_words", kStopped,
                 the_lock("lock", 0) + "is at no multiple of 8: it must be a lock_t", [] {
                   static lock_t locks[2];
                   auto* const between = reinterpret_cast<char*>(locks) + 4;
                   lock(toglobal(0, reinterpret_cast<lock_t*>(between)));
                 }});
  if (PROCS == 1) return;
  all.push_back({"unlock_of_anothers", kStopped,
                 the_lock("unlock", 1) +
                     "is held by process 0, not by this one .1.: unlock it once, in the process",
                 [] {
                   if (MYPROC == 0) lock(l());
                   barrier();
                   if (MYPROC == 1) unlock(l());
                   barrier();
                 },
                 true, true});
}

}  // namespace viaduct::splitc_test
