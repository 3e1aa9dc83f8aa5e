#include "splitc/src/heap_checks.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "splitc/detail/heap.hpp"
#include "splitc/src/checks.hpp"

namespace viaduct::splitc::detail {
namespace {

/// Freed blocks are withheld from malloc for a while: at most so many blocks, and so many bytes.
constexpr std::size_t kMostRetired = 4096;
constexpr std::size_t kMostRetiredBytes = std::size_t{16} << 20;
constexpr std::size_t kGrain = Checks::kGrain;

/// Never destroyed: static objects are deleted late. Allocates nothing.
struct Heap {
  std::uint8_t* states = nullptr;
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::mutex mutex;
  struct Retired {
    void* block;
    std::size_t grains;  // with the grain behind the block
  };
  std::array<Retired, kMostRetired> retired{};
  std::size_t oldest = 0;
  std::size_t count = 0;
  std::size_t retired_bytes = 0;
};
constinit Heap g_heap;

/// Null: the block is not of this heap.
std::uint8_t* states_at(const void* block) noexcept {
  const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(block) - g_heap.begin);
  return at < g_heap.bytes ? g_heap.states + at / kGrain : nullptr;
}

void note_block(void* block, std::size_t bytes) noexcept {
  std::uint8_t* const states = states_at(block);
  if (states == nullptr) return;
  const std::size_t whole = bytes / kGrain;
  std::memset(states, kGrain, whole);
  if (bytes % kGrain != 0) states[whole] = static_cast<std::uint8_t>(bytes % kGrain);
  states[(bytes + kGrain - 1) / kGrain] = Checks::kBehind;
}

/// The caller holds the mutex.
void release_oldest() noexcept {
  const Heap::Retired oldest = g_heap.retired[g_heap.oldest];
  g_heap.oldest = (g_heap.oldest + 1) % kMostRetired;
  --g_heap.count;
  g_heap.retired_bytes -= oldest.grains * kGrain;
  std::memset(states_at(oldest.block), Checks::kUnknown, oldest.grains);
  std::free(oldest.block);
}

void retire_block(void* block) noexcept {
  std::uint8_t* const states = states_at(block);
  if (states == nullptr || *states == Checks::kUnknown) return std::free(block);
  const std::lock_guard lock(g_heap.mutex);
  std::size_t grains = 0;
  while (states[grains] != Checks::kBehind && states[grains] != Checks::kUnknown) ++grains;
  std::memset(states, Checks::kFreed, grains);
  if (g_heap.count == kMostRetired) release_oldest();
  g_heap.retired[(g_heap.oldest + g_heap.count) % kMostRetired] = {block, grains + 1};
  ++g_heap.count;
  g_heap.retired_bytes += (grains + 1) * kGrain;
  while (g_heap.retired_bytes > kMostRetiredBytes) release_oldest();
}

constexpr HeapWatch kWatch{&note_block, &retire_block};

}  // namespace

constinit std::atomic<const HeapWatch*> heap_watch{nullptr};

void begin_heap_checks(std::uint8_t* states, std::byte* begin, std::size_t bytes) noexcept {
  g_heap.states = states;
  g_heap.begin = begin;
  g_heap.bytes = bytes;
  heap_watch.store(&kWatch, std::memory_order_release);
}

}  // namespace viaduct::splitc::detail
