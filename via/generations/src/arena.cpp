#include "via/generations/src/arena.hpp"

#include <new>

#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::generations {

Arena::~Arena() {
  if (store_ != nullptr) store_->keep(std::move(region_));
}

Arena ArenaStore::make(std::size_t bytes) {
  constexpr std::uint64_t kKeepNs = 1'000'000'000;
  drop(kKeepNs);
  std::byte* memory = nullptr;
  try {
    memory = nic_.allocate(bytes);
  } catch (const std::exception&) {
    if (ended_.empty()) throw;
    drop(0);
    memory = nic_.allocate(bytes);
  }
  try {
    return {*this, nic_.register_memory(tag_, memory, bytes, Rights::rdma_write)};
  } catch (...) {
    nic_.release(memory);
    throw;
  }
}

void ArenaStore::keep(MemoryRegion ended) noexcept {
  const MemoryRegion region = std::move(ended);
  try {
    ended_.push_back({region.address(), monotonic_ns()});  // the region itself ends here
  } catch (const std::bad_alloc&) {                        // the memory stays until the job ends
  }
}

void ArenaStore::drop(std::uint64_t older_ns) noexcept {
  const std::uint64_t now = monotonic_ns();
  while (!ended_.empty() && now - ended_.front().at_ns >= older_ns) {
    nic_.release(ended_.front().memory);
    ended_.pop_front();
  }
}

}  // namespace viaduct::via::generations
