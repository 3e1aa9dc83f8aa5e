#include "viaduct/runtime/segment.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <algorithm>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

constexpr std::size_t kMaxAlignment = std::size_t{2} << 20;
// Two allocations never share a cache line, so that neither's owner disturbs the other's.
constexpr std::size_t kGrain = 64;
constexpr MemoryFile::Names kNames{"viaduct-window", "shared window", "VIADUCT_SHM_WINDOW"};

}  // namespace

MappedMemory map_window(int fd, std::size_t window_bytes) {
  MappedMemory window(
      ::mmap(nullptr, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0),
      window_bytes);
  if (!window) {
    throw_errno(errors::address_space,
                fmt::format("cannot map a shared window of {} bytes: address space is short: raise "
                            "ulimit -v, or lower "
                            "VIADUCT_SHM_WINDOW",
                            window_bytes));
  }
  ::madvise(window.get(), window_bytes, MADV_DONTDUMP);
  return window;
}

Segment::Segment(std::size_t window_bytes, std::string system_root)
    : file_(kNames, window_bytes, std::move(system_root)),
      window_(map_window(file_.fd(), file_.bytes())),
      spans_(file_.bytes(), kGrain) {}

std::size_t Segment::allocate(std::size_t bytes, std::size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > kMaxAlignment) {
    throw Error(
        errors::bad_alignment, std::errc::invalid_argument,
        fmt::format("an alignment of {} is not a power of two up to {}", alignment, kMaxAlignment));
  }
  const std::size_t requested = std::max<std::size_t>(bytes, 1);
  const std::lock_guard lock(mutex_);
  if (requested > file_.bytes()) {
    throw Error(
        errors::window_full, std::errc::not_enough_memory,
        fmt::format("{} bytes do not fit into the shared window of {}: raise VIADUCT_SHM_WINDOW",
                    bytes, file_.bytes()));
  }
  file_.check_headroom(requested);
  const auto offset = spans_.try_allocate(requested, alignment);
  if (!offset) {
    throw Error(
        errors::window_full, std::errc::not_enough_memory,
        fmt::format("no {} bytes are left in the shared window: {} of {} are allocated; raise "
                    "VIADUCT_SHM_WINDOW",
                    requested, spans_.allocated_bytes(), file_.bytes()));
  }
  try {
    file_.reserve(round_down(*offset, kPageBytes), round_up(*offset + requested, kPageBytes));
  } catch (...) {
    static_cast<void>(spans_.try_release(*offset));
    throw;
  }
  return *offset;
}

void Segment::release(std::size_t offset) noexcept {
  const std::lock_guard lock(mutex_);
  const auto released = spans_.try_release(offset);
  if (!released) {
    violate_contract(errors::not_allocated, "Segment::release(" + std::to_string(offset) +
                                                "): nothing is allocated at this offset");
  }
  file_.clear(base(), offset, released->bytes, released->free_from, released->free_to);
}

std::size_t Segment::allocated_bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return spans_.allocated_bytes();
}

}  // namespace viaduct
