// A ring of cache lines with the shape of the hot path, by which the check itself is tested: it has
// a cold call, a cold block, a tail call to a cold function, a call through a pointer, and none of
// what is forbidden.

#include <atomic>
#include <cstdint>

#include "tests/codegen/seed.hpp"

namespace {

struct alignas(64) Line {
  std::uint64_t words[7];
  std::atomic<std::uint64_t> header;
};

struct Ring {
  Line* lines;
  std::uint32_t mask;
  std::uint32_t next;
  std::uint32_t credits;
  std::uint32_t status;
  void (*handlers[16])(const Line&);
};

}  // namespace

extern "C" {
[[gnu::cold]] int viaduct_codegen_out_of_credit(Ring* ring);
[[gnu::cold, noreturn]] void viaduct_codegen_bad_header(const Ring* ring);

int viaduct_codegen_standin_send(Ring* ring, std::uint64_t word) {
  if (ring->credits == 0) [[unlikely]]
    return viaduct_codegen_out_of_credit(ring);
  --ring->credits;
  Line& line = ring->lines[ring->next & ring->mask];
  line.words[0] = word;
  viaduct::codegen::seed();
  line.header.store(ring->next | 1, std::memory_order_release);
  ++ring->next;
  return 0;
}

int viaduct_codegen_standin_poll(Ring* ring) {
  Line& line = ring->lines[ring->next & ring->mask];
  const std::uint64_t header = line.header.load(std::memory_order_acquire);
  if ((header & 1) == 0) return 0;
  if ((header >> 60) != 0) [[unlikely]]
    viaduct_codegen_bad_header(ring);
  if (ring->status != 0) [[unlikely]]
    ring->status = static_cast<std::uint32_t>(viaduct_codegen_out_of_credit(ring));
  viaduct::codegen::seed();
  ring->handlers[(header >> 32) & 15](line);
  ++ring->next;
  return 1;
}
}
