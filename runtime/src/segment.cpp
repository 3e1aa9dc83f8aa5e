#include "runtime/segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/error.hpp"
#include "runtime/src/memory_limit.hpp"

namespace viaduct {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMaxAlignment = std::size_t{2} << 20;
// Two allocations never share a cache line, so that neither's owner disturbs the other's.
constexpr std::size_t kGrain = 64;
// The memory limits are looked at again whenever this much has been reserved since the last look.
constexpr std::size_t kCheckEvery = std::size_t{1} << 20;
// One call's share: a signal makes the kernel undo a whole fallocate, so a large one might never
// end.
constexpr std::size_t kReserveStep = std::size_t{64} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t to) noexcept {
  return (value + to - 1) / to * to;
}
constexpr std::size_t round_down(std::size_t value, std::size_t to) noexcept {
  return value / to * to;
}

int create_window(std::size_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
    throw Error(
        std::errc::file_too_large,
        fmt::format(
            "the file size limit of {} bytes is less than the shared window of {}: raise it "
            "(ulimit -f) or lower VIADUCT_SHM_WINDOW",
            limit.rlim_cur, bytes));
  }
  const int fd = ::memfd_create("viaduct-window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) throw_errno("cannot create the memory file of the shared window");
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    const int problem = errno;
    ::close(fd);
    throw Error(
        problem,
        fmt::format("cannot give the shared window its {} bytes (VIADUCT_SHM_WINDOW)", bytes));
  }
  // A peer that shortened the file would turn our next access into SIGBUS.
  ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return fd;
}

void punch(int fd, std::size_t from, std::size_t to) noexcept {
  if (from >= to) return;
  ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
              static_cast<off_t>(to - from));
}

int reserve_step(int fd, std::size_t from, std::size_t bytes) noexcept {
  int result = 0;
  do {
    result = ::fallocate(fd, 0, static_cast<off_t>(from), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

}  // namespace

std::byte* map_window(int fd, std::size_t window_bytes) {
  void* const at =
      ::mmap(nullptr, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) {
    throw_errno(fmt::format(
        "cannot map a shared window of {} bytes: address space is short (ulimit -v), or lower "
        "VIADUCT_SHM_WINDOW",
        window_bytes));
  }
  ::madvise(at, window_bytes, MADV_DONTDUMP);
  return static_cast<std::byte*>(at);
}

void unmap_window(std::byte* base, std::size_t window_bytes) noexcept {
  if (base != nullptr) ::munmap(base, window_bytes);
}

Segment::Segment(std::size_t window_bytes, std::string system_root)
    : system_root_(std::move(system_root)),
      window_bytes_(round_up(std::max(window_bytes, kPage), kPage)) {
  fd_ = create_window(window_bytes_);
  try {
    base_ = map_window(fd_, window_bytes_);
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

Segment::~Segment() {
  unmap_window(base_, window_bytes_);
  ::close(fd_);
}

std::size_t Segment::allocate(std::size_t bytes, std::size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > kMaxAlignment) {
    throw Error(
        std::errc::invalid_argument,
        fmt::format("an alignment of {} is not a power of two up to {}", alignment, kMaxAlignment));
  }
  const std::size_t requested = std::max<std::size_t>(bytes, 1);
  const std::lock_guard lock(mutex_);
  if (requested > window_bytes_) {
    throw Error(
        std::errc::not_enough_memory,
        fmt::format("{} bytes do not fit into the shared window of {}: raise VIADUCT_SHM_WINDOW",
                    bytes, window_bytes_));
  }
  check_headroom(requested);
  const std::size_t offset =
      place(round_up(requested, kGrain), requested, std::max(alignment, kGrain));
  try {
    reserve_pages(round_down(offset, kPage), round_up(offset + requested, kPage));
  } catch (...) {
    const auto merged = merge_free(blocks_.find(offset));
    if (std::next(merged) == blocks_.end()) blocks_.erase(merged);
    throw;
  }
  allocated_ += requested;
  return offset;
}

/// First fit: the free block with the lowest offset that holds @p bytes, else the end of the used
/// part.
std::size_t Segment::place(std::size_t bytes, std::size_t requested, std::size_t alignment) {
  for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
    const std::size_t offset = round_up(block->first, alignment);
    if (!block->second.free() || offset + bytes > block->first + block->second.bytes) continue;
    carve(block, offset, bytes, requested);
    return offset;
  }
  const std::size_t end =
      blocks_.empty() ? 0 : blocks_.rbegin()->first + blocks_.rbegin()->second.bytes;
  const std::size_t offset = round_up(end, alignment);
  if (offset > window_bytes_ || bytes > window_bytes_ - offset) {
    throw Error(
        std::errc::not_enough_memory,
        fmt::format("no {} bytes are left in the shared window: {} of {} are allocated; raise "
                    "VIADUCT_SHM_WINDOW",
                    requested, allocated_, window_bytes_));
  }
  const auto block = blocks_.emplace(end, Block{offset + bytes - end, 0}).first;
  carve(block, offset, bytes, requested);
  return offset;
}

/// Cuts [offset, offset + bytes) out of a free block; what is before and after it stays free.
void Segment::carve(Blocks::iterator block, std::size_t offset, std::size_t bytes,
                    std::size_t requested) {
  const std::size_t begin = block->first;
  const std::size_t end = begin + block->second.bytes;
  blocks_.insert_or_assign(offset, Block{bytes, requested});
  if (offset > begin) block->second.bytes = offset - begin;
  if (offset + bytes < end) blocks_.emplace(offset + bytes, Block{end - offset - bytes, 0});
}

/// Makes @p block free, joins it with free neighbours, forgets the last block when it is free.
/// Answers the block that holds the result, end() when it was forgotten.
Segment::Blocks::iterator Segment::merge_free(Blocks::iterator block) noexcept {
  block->second.requested = 0;
  if (const auto next = std::next(block); next != blocks_.end() && next->second.free()) {
    block->second.bytes += next->second.bytes;
    blocks_.erase(next);
  }
  if (block != blocks_.begin()) {
    if (const auto before = std::prev(block); before->second.free()) {
      before->second.bytes += block->second.bytes;
      blocks_.erase(block);
      block = before;
    }
  }
  return block;
}

void Segment::check_headroom(std::size_t bytes) {
  unchecked_ += bytes;
  if (unchecked_ < kCheckEvery) return;
  const MemoryHeadroom headroom = memory_headroom(system_root_);
  if (bytes > headroom.free_bytes) {
    throw Error(
        std::errc::not_enough_memory,
        fmt::format(
            "{} bytes of shared memory are wanted, but {} allows {} and {} are in use: raise that "
            "limit or use less",
            bytes, headroom.source, headroom.limit_bytes, headroom.used_bytes));
  }
  unchecked_ = 0;
}

void Segment::reserve_pages(std::size_t first, std::size_t last) {
  for (std::size_t at = first; at < last; at += kReserveStep) {
    const std::size_t step = std::min(kReserveStep, last - at);
    const int problem = reserve_step(fd_, at, step);
    if (problem == 0) continue;
    // What the earlier steps took goes back; the pages at both ends may be a neighbour's.
    punch(fd_, std::min(first + kPage, at), round_down(at, kPage));
    const MemoryHeadroom headroom = memory_headroom(system_root_);
    throw Error(problem,
                fmt::format("cannot reserve {} bytes of shared memory ({} bytes are free by {})",
                            last - first, headroom.free_bytes, headroom.source));
  }
}

void Segment::release(std::size_t offset) noexcept {
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(offset);
  if (block == blocks_.end() || block->second.free()) {
    violate_contract("Segment::release(" + std::to_string(offset) +
                     "): nothing is allocated at this offset");
  }
  const Block released = block->second;
  allocated_ -= released.requested;
  const auto merged = merge_free(block);
  const bool is_last = std::next(merged) == blocks_.end();
  const std::size_t free_end = is_last ? window_bytes_ : merged->first + merged->second.bytes;
  clear(offset, released.bytes, merged->first, free_end);
  if (is_last) blocks_.erase(merged);
}

/// Makes a released range read as zero: pages that lie wholly in free space go back to the system,
/// the rest is written.
void Segment::clear(std::size_t offset, std::size_t bytes, std::size_t free_from,
                    std::size_t free_to) noexcept {
  const std::size_t end = offset + bytes;
  const std::size_t first = std::max(round_up(free_from, kPage), round_down(offset, kPage));
  const std::size_t last = std::min(round_down(free_to, kPage), round_up(end, kPage));
  if (first >= last) {
    std::memset(base_ + offset, 0, bytes);
    return;
  }
  punch(fd_, first, last);
  if (offset < first) std::memset(base_ + offset, 0, first - offset);
  if (last < end) std::memset(base_ + last, 0, end - last);
}

std::size_t Segment::allocated_bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return allocated_;
}

}  // namespace viaduct
