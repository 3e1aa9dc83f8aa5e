/// MYPROC, PROCS and the arithmetic of spread pointers outside the thread that runs splitc_main: in
/// threads, in forked children, and after the end.

#include <sys/wait.h>
#include <unistd.h>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "viaduct/job.hpp"
#include "viaduct/splitc.hpp"

namespace {

using namespace viaduct::splitc;

struct Numbers {
  int mine = 0;
  int all = 0;
  bool operator==(const Numbers&) const = default;
};
Numbers numbers() { return {myproc(), procs()}; }

bool fail(const char* where, const Numbers& found) {
  std::fprintf(stderr, "%s: %d of %d\n", where, found.mine, found.all);
  return false;
}

bool holds_in_thread(const Numbers& right) {
  constexpr std::ptrdiff_t kCount = 1000;
  const spread_ptr<int> array = all_spread_malloc<int>(kCount);
  const spread_range<int> range(array, kCount);
  const auto share = range.mine().size();
  const auto seventh = (array + 7).word();
  bool holds = true;
  std::thread([&] {
    if (numbers() != right) holds = fail("a thread", numbers());
    if (range.mine().size() != share || (array + 7).word() != seventh)
      holds = fail("spread pointers of a thread", numbers());
  }).join();
  return holds;
}

bool holds_in_child(const Numbers& right) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(numbers() == right ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 || fail("a forked child", right);
}

}  // namespace

int splitc_main(int, char**) {
  const Numbers right{static_cast<int>(index(job().rank())), static_cast<int>(job().size())};
  const bool holds = holds_in_thread(right) && holds_in_child(right);
  static Numbers at_end;
  at_end = right;
  // Runs after the end of Split-C.
  std::atexit([] {
    if (numbers() != at_end) {
      (void)fail("after the end", numbers());
      ::_exit(1);
    }
  });
  return holds ? 0 : 1;
}
