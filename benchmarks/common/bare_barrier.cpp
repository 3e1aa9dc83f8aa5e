#include "benchmarks/common/bare_barrier.hpp"

#include <pthread.h>
#include <sched.h>
#include <atomic>

#include "benchmarks/common/forked.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/types.hpp"

namespace viaduct::bench {
namespace {

struct BarrierBlock {
  alignas(kDestructivePairBytes) std::atomic<std::uint32_t> arrived;
  alignas(kDestructivePairBytes) std::atomic<std::uint32_t> turn;  // grows when all have arrived
  alignas(kDestructivePairBytes) std::atomic<std::uint32_t> over;
  pthread_barrier_t barrier;  // of the C library
  double ns;
};

void prepare(pthread_barrier_t& barrier, std::uint32_t count) {
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  const int problem = pthread_barrier_init(&barrier, &attributes, count);
  pthread_barrierattr_destroy(&attributes);
  if (problem != 0) throw Error(problem, "cannot make a barrier of the C library");
}

void meet(BarrierBlock& block, std::uint32_t count, BarrierWait wait) noexcept {
  if (wait == BarrierWait::futex) {
    pthread_barrier_wait(&block.barrier);
    return;
  }
  const std::uint32_t turn = block.turn.load(std::memory_order_acquire);
  if (block.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == count) {
    block.arrived.store(0, std::memory_order_relaxed);
    block.turn.store(turn + 1, std::memory_order_release);
    return;
  }
  while (block.turn.load(std::memory_order_acquire) == turn)
    if (wait == BarrierWait::yield) sched_yield();
}

}  // namespace

double bare_barrier_ns(std::uint32_t count, BarrierWait wait, std::uint32_t window_ms) {
  const MappedMemory memory = map_shared(sizeof(BarrierBlock));
  auto& block = *reinterpret_cast<BarrierBlock*>(memory.get());
  prepare(block.barrier, count);
  const std::uint64_t window_ns = std::uint64_t{window_ms} * 1'000'000;
  run_forked(count, "the bare barrier", [&](std::uint32_t number) {
    constexpr std::uint32_t kBlock = 16;  // barriers from one look at the clock to the next
    meet(block, count, wait);
    const std::uint64_t start = monotonic_ns();
    std::uint64_t barriers = 0;
    while (block.over.load(std::memory_order_relaxed) == 0) {
      for (std::uint32_t i = 0; i < kBlock; ++i) meet(block, count, wait);
      barriers += kBlock;
      if (number == 0 && monotonic_ns() - start > window_ns) block.over.store(1);
      meet(block, count, wait);  // behind this barrier all see the same `over`
      ++barriers;
    }
    if (number == 0)
      block.ns = static_cast<double>(monotonic_ns() - start) / static_cast<double>(barriers);
  });
  return block.ns;
}

}  // namespace viaduct::bench
