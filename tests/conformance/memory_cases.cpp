#include <sys/mman.h>
#include <algorithm>
#include <limits>
#include <vector>

#include "tests/conformance/buffer.hpp"
#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::conformance {
namespace {

void tags_differ(Rig& rig) {
  std::vector<via::ProtectionTag> tags;
  for (int i = 0; i < 20; ++i) {
    const via::ProtectionTag tag = rig.nic().create_tag();
    CHECK(tag != via::ProtectionTag::none);
    CHECK(tag != rig.tag());
    for (const via::ProtectionTag earlier : tags) CHECK(tag != earlier);
    tags.push_back(tag);
  }
  for (const via::ProtectionTag tag : tags) rig.nic().destroy_tag(tag);
}

void tag_in_use(Rig& rig) {
  const via::ProtectionTag tag = rig.nic().create_tag();
  {
    const Buffer buffer(rig, 64, Memory::shared, via::Rights::none, tag);
    CHECK_THROWS(rig.nic().destroy_tag(tag));
  }
  {
    via::ViAttributes attributes = vi_attributes(4);
    attributes.tag = tag;
    const Link link(rig, attributes);
    CHECK_THROWS(rig.nic().destroy_tag(tag));
  }
  rig.nic().destroy_tag(tag);
}

void tag_destroyed(Rig& rig) {
  const via::ProtectionTag tag = rig.nic().create_tag();
  rig.nic().destroy_tag(tag);
  CHECK_THROWS(Buffer(rig, 64, Memory::shared, via::Rights::none, tag));
  CHECK_THROWS(rig.nic().destroy_tag(tag));
  CHECK_THROWS(rig.nic().destroy_tag(via::ProtectionTag::none));
}

void allocate(Rig& rig) {
  std::vector<std::byte*> all;
  for (const std::size_t bytes : {1U, 64U, 100U, 4096U, 70000U, 1U << 20}) {
    Note note("{} bytes", bytes);
    std::byte* const at = rig.nic().allocate(bytes);
    REQUIRE(at != nullptr);
    CHECK_EQ(reinterpret_cast<std::uintptr_t>(at) % 128, 0);
    CHECK(std::all_of(at, at + bytes, [](std::byte b) { return b == std::byte{0}; }));
    std::fill(at, at + bytes, std::byte{0xff});
    all.push_back(at);
  }
  for (std::byte* at : all) rig.nic().release(at);
  // Memory that was used before is zero again.
  std::byte* const again = rig.nic().allocate(1 << 20);
  CHECK(std::all_of(again, again + (1 << 20), [](std::byte b) { return b == std::byte{0}; }));
  rig.nic().release(again);
}

void region_describes_itself(Rig& rig) {
  for (const Memory memory : kMemories) {
    Note note("{} memory", name_of(memory));
    std::vector<std::byte> heap(5000);
    std::byte* const at = memory == Memory::shared ? rig.nic().allocate(5000) : heap.data();
    {
      const via::MemoryRegion region =
          rig.nic().register_memory(rig.tag(), at, 5000, via::Rights::rdma_write);
      CHECK(region.handle() != via::MemoryHandle::none);
      CHECK_EQ(region.address(), at);
      CHECK_EQ(region.bytes(), 5000);
      // Regions may overlap; each has a handle of its own.
      const via::MemoryRegion inner =
          rig.nic().register_memory(rig.tag(), at + 1, 1, via::Rights::none);
      CHECK(inner.handle() != region.handle());
    }
    if (memory == Memory::shared) rig.nic().release(at);
  }
}

void bad_ranges(Rig& rig) {
  std::vector<std::byte> heap(100);
  const auto attempt = [&](std::byte* at, std::size_t bytes,
                           via::Rights rights = via::Rights::none) {
    return rig.nic().register_memory(rig.tag(), at, bytes, rights);
  };
  CHECK_THROWS(attempt(nullptr, 100));
  CHECK_THROWS(attempt(heap.data(), 0));
  CHECK_THROWS(attempt(heap.data(), std::numeric_limits<std::size_t>::max()));
  CHECK_THROWS(
      rig.nic().register_memory(via::ProtectionTag::none, heap.data(), 100, via::Rights::none));
  // Pages that are not there.
  constexpr std::size_t kBytes = 3 * 4096;
  void* const pages =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  munmap(static_cast<std::byte*>(pages) + 4096, 4096);
  CHECK_THROWS(attempt(static_cast<std::byte*>(pages), kBytes));
  munmap(pages, kBytes);
}

void atomic_rights(Rig& rig) {
  if (!rig.limits().atomics) rig.skip("no atomic operations");
  alignas(8) std::byte own[64];
  CHECK_THROWS(rig.nic().register_memory(rig.tag(), own, sizeof own, via::Rights::atomic));
  CHECK(Buffer(rig, 64, Memory::shared, via::Rights::all).handle() != via::MemoryHandle::none);
}

void region_limit(Rig& rig) {
  const std::uint32_t most = rig.limits().max_regions;
  if (most > 100'000) rig.skip("more regions than one would try");
  std::vector<std::byte> heap(64);
  std::vector<via::MemoryRegion> regions;
  bool refused = false;
  try {
    for (std::uint32_t i = 0; i < most + 1; ++i) {
      regions.push_back(
          rig.nic().register_memory(rig.tag(), heap.data(), heap.size(), via::Rights::none));
    }
  } catch (const Error&) {
    refused = true;
  }
  CHECK(refused);
  CHECK(regions.size() + 64 >= most);  // the provider may keep some for itself
  regions.resize(regions.size() / 2);
  CHECK(
      rig.nic().register_memory(rig.tag(), heap.data(), heap.size(), via::Rights::none).handle() !=
      via::MemoryHandle::none);
}

void handles_are_not_reused(Rig& rig) {
  std::vector<std::byte> heap(64);
  via::MemoryHandle last = via::MemoryHandle::none;
  for (int i = 0; i < 100; ++i) {
    const via::MemoryRegion region =
        rig.nic().register_memory(rig.tag(), heap.data(), 64, via::Rights::none);
    CHECK(region.handle() != last);
    last = region.handle();
  }
}

constexpr Case kCases[] = {
    {"tags.differ", "Every protection tag is new, and none is zero", Party::alone, tags_differ},
    {"tags.in_use", "A tag that a region or a VI uses cannot be destroyed; afterwards it can",
     Party::alone, tag_in_use},
    {"tags.destroyed", "A destroyed tag is refused", Party::alone, tag_destroyed},
    {"memory.allocate", "allocate() gives zeroed memory aligned to 128 bytes, also the second time",
     Party::alone, allocate},
    {"memory.region", "A region knows its range; overlapping regions have handles of their own",
     Party::alone, region_describes_itself},
    {"memory.bad_ranges",
     "A null, empty, overflowing or unmapped range, and one without a tag, is refused",
     Party::alone, bad_ranges},
    {"memory.atomic_rights", "The right to atomic operations needs memory from allocate()",
     Party::alone, atomic_rights},
    {"memory.limit", "One region more than the limit is refused; deregistering makes room",
     Party::alone, region_limit},
    {"memory.new_handles", "A handle is not given out again at once", Party::alone,
     handles_are_not_reused},
};

}  // namespace

std::span<const Case> memory_cases() { return kCases; }

}  // namespace viaduct::conformance
