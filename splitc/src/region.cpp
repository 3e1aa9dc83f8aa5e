#include "splitc/src/region.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "runtime/errors/codes.hpp"
#include "runtime/mappings.hpp"
#include "splitc/detail/heap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/memory_file.hpp"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace viaduct::splitc::detail {
namespace {

constexpr std::uint64_t kAddressEnd = std::uint64_t{1} << 47;

const Mapping* first_in(const std::vector<Mapping>& all, std::uint64_t begin, std::uint64_t end) {
  for (const Mapping& m : all)
    if (m.range.begin < end && begin < m.range.end) return &m;
  return nullptr;
}

[[noreturn]] void refuse(std::uint64_t address, std::size_t bytes, int problem) {
  const std::vector<Mapping> all = mappings_at({0, kAddressEnd});
  const Mapping* const taken = first_in(all, address, address + bytes);
  std::string sentence = fmt::format(
      "the region for shared memory ({:#x} to {:#x}) cannot be mapped", address, address + bytes);
  if (taken != nullptr)
    sentence += fmt::format(": {:#x} to {:#x} is taken by {}", taken->range.begin, taken->range.end,
                            taken->name.empty() ? "memory without a name" : taken->name);
  else if (problem == ENOMEM)
    sentence +=
        ": address space is short: raise ulimit -v, or lower VIADUCT_SPREAD_BYTES and "
        "VIADUCT_HEAP_BYTES";
  if (taken == nullptr) throw Error(errors::region_refused, problem, sentence);
  // mimalloc puts its first memory, before it is directed, at random places between 2 and 30 TiB:
  // the list leaves them out.
  for (const unsigned gib : {64U, 1024U, 32768U, 49152U, 65536U, 81920U, 98304U}) {
    const std::uint64_t other = std::uint64_t{gib} << 30;
    if (other + bytes > kAddressEnd || first_in(all, other, other + bytes) != nullptr) continue;
    throw Error(errors::region_refused, problem,
                sentence + fmt::format("; set VIADUCT_SEGMENT_BASE={}G, which is free here", gib));
  }
  throw Error(errors::region_refused, problem,
              sentence +
                  "; set VIADUCT_SEGMENT_BASE to a place that is free, or lower "
                  "VIADUCT_SPREAD_BYTES and VIADUCT_HEAP_BYTES");
}

}  // namespace

RegionLayout lay_out(std::uint64_t base, std::size_t spread_bytes, std::size_t heap_bytes,
                     std::uint32_t processes) {
  RegionLayout layout;
  layout.base = base;
  layout.slices_at = round_down(spread_bytes / 2, kPageBytes);
  layout.alike_at = std::min(kPageBytes, layout.slices_at);
  layout.alike_bytes = layout.slices_at - layout.alike_at;
  layout.slice_bytes = round_down((spread_bytes - layout.slices_at) / processes, kPageBytes);
  layout.heap_at = round_up(base + spread_bytes, kHeapAlignment) - base;
  layout.heap_bytes = round_down(heap_bytes, kPageBytes);
  layout.region_bytes = layout.heap_at + layout.heap_bytes;
  layout.statics_at = layout.region_bytes + kPageBytes;
  return layout;
}

namespace {

/// Maps at @p address. An old kernel takes the address as a hint.
MappedMemory map_there(std::uint64_t address, std::size_t bytes, int access, int kind,
                       int fd) noexcept {
  void* const wanted = reinterpret_cast<void*>(address);
  MappedMemory region(
      ::mmap(wanted, bytes, access, kind | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0), bytes);
  if (region && region.get() != wanted) {
    region.reset();
    errno = EEXIST;
  }
  // A core file would make every untouched page present.
  if (region) ::madvise(region.get(), bytes, MADV_DONTDUMP);
  return region;
}

}  // namespace

MappedMemory map_region_at(std::uint64_t address, std::size_t bytes, int fd) {
  if (address % kPageBytes != 0 || address >= kAddressEnd || bytes > kAddressEnd - address) {
    throw Error(errors::region_refused, std::errc::invalid_argument,
                fmt::format("the region for shared memory cannot be {:#x} to {:#x} "
                            "(VIADUCT_SEGMENT_BASE, VIADUCT_SPREAD_BYTES, VIADUCT_HEAP_BYTES): it "
                            "must begin at a page and end below 2^47",
                            address, address + bytes));
  }
  const int access = fd >= 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
  const int kind = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  MappedMemory region = map_there(address, bytes, access, kind, fd);
  if (!region) refuse(address, bytes, errno);
  return region;
}

MappedMemory map_region_if_free(std::uint64_t address, std::size_t bytes, int fd) noexcept {
  return map_there(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
}

MappedMemory map_region(std::size_t bytes, int fd, std::size_t offset) noexcept {
  MappedMemory region(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                             static_cast<off_t>(offset)),
                      bytes);
  if (region) ::madvise(region.get(), bytes, MADV_DONTDUMP);
  return region;
}

}  // namespace viaduct::splitc::detail
