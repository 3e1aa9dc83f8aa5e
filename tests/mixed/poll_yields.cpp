/// @file
/// Calls that look once, in loops: each of them yields the core now and then when it finds nothing.
/// Run by ranks that outnumber their cores (VIADUCT_SPIN_NS=0). The program has a sched_yield() of
/// its own, which counts.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/splitc.hpp"

namespace {

std::atomic<int> g_yields{0};

}  // namespace

extern "C" int sched_yield() noexcept {
  ++g_yields;
  return 0;
}

int splitc_main(int, char**) {
  using namespace viaduct;
  constexpr int kLooks = 6400;
  int wrong = 0;
  const auto judge = [&](const char* call, auto look) {
    const int before = g_yields;
    for (int i = 0; i < kLooks; ++i) look();
    const int yields = g_yields - before;
    const bool right = yields >= kLooks / 128 && yields <= kLooks / 32;
    std::printf("%s: %d yields in %d looks\n", call, yields, kLooks);
    if (!right) ++wrong;
  };
  judge("splitc::poll", [] { splitc::poll(); });
  judge("is_stored", [] { (void)splitc::is_stored(8); });
  judge("store_counter::is_stored", [] { (void)splitc::store_counter(0).is_stored(8); });
  auto* const told = splitc::all_malloc<std::int64_t>(1);
  splitc::barrier();
  if (MYPROC == 0) {
    splitc::barrier_notify();
    judge("barrier_try", [] { (void)splitc::barrier_try(); });
    splitc::write(splitc::toglobal(1, told), std::int64_t{1});
    splitc::barrier_wait();
  } else {
    while (__atomic_load_n(told, __ATOMIC_ACQUIRE) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    splitc::barrier();
  }
  {
    am::Context context(splitc::job());
    am::Bundle bundle(context);
    judge("Bundle::poll", [&] { (void)bundle.poll(); });
  }
  splitc::barrier();
  return wrong;
}
