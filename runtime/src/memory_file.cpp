#include "viaduct/runtime/memory_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "runtime/src/fallocate.hpp"
#include "runtime/src/memory_limit.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

// The memory limits are looked at again whenever this much has been reserved since the last look.
constexpr std::size_t kCheckEvery = std::size_t{1} << 20;
// One call's share: a signal makes the kernel undo a whole fallocate, so a large one might never
// end.
constexpr std::size_t kReserveStep = std::size_t{64} << 20;

FileDescriptor create_file(const MemoryFile::Names& names, std::size_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
    throw Error(errors::file_size_limit, std::errc::file_too_large,
                fmt::format("the file size limit of {} bytes is less than the {} of {}: raise it "
                            "(ulimit -f) or lower {}",
                            limit.rlim_cur, names.object, bytes, names.setting));
  }
  FileDescriptor file(::memfd_create(names.file, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open())
    throw_errno(errors::system_refused,
                fmt::format("cannot create the memory file of the {}", names.object));
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    throw_errno(errors::system_refused, fmt::format("cannot give the {} its {} bytes ({})",
                                                    names.object, bytes, names.setting));
  // A peer that shortened the file would turn our next access into SIGBUS.
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return file;
}

}  // namespace

MemoryFile::MemoryFile(const Names& names, std::size_t bytes, std::string system_root)
    : system_root_(std::move(system_root)),
      file_(create_file(names, round_up(std::max(bytes, kPageBytes), kPageBytes))),
      bytes_(round_up(std::max(bytes, kPageBytes), kPageBytes)) {}

void MemoryFile::check_headroom(std::size_t bytes) {
  unchecked_ += bytes;
  if (unchecked_ < kCheckEvery) return;
  const MemoryHeadroom headroom = memory_headroom(system_root_);
  if (bytes > headroom.free_bytes) {
    throw Error(
        errors::memory_short, std::errc::not_enough_memory,
        fmt::format(
            "{} bytes of shared memory are wanted, but {} allows {} and {} are in use: raise that "
            "limit or use less",
            bytes, headroom.source, headroom.limit_bytes, headroom.used_bytes));
  }
  unchecked_ = 0;
}

void MemoryFile::reserve(std::size_t first, std::size_t last) {
  for (std::size_t at = first; at < last; at += kReserveStep) {
    const std::size_t step = std::min(kReserveStep, last - at);
    const int problem = fallocate_whole(fd(), 0, at, step);
    if (problem == 0) continue;
    // The pages of the earlier steps go back; those at both ends may be a neighbour's.
    punch(std::min(first + kPageBytes, at), round_down(at, kPageBytes));
    const MemoryHeadroom headroom = memory_headroom(system_root_);
    throw Error(errors::memory_short, problem,
                fmt::format("cannot reserve {} bytes of shared memory ({} bytes are free by {})",
                            last - first, headroom.free_bytes, headroom.source));
  }
}

void MemoryFile::punch(std::size_t first, std::size_t last) noexcept {
  if (first >= last) return;
  fallocate_whole(fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, first, last - first);
}

void MemoryFile::clear(std::byte* base, std::size_t offset, std::size_t bytes,
                       std::size_t free_from, std::size_t free_to) noexcept {
  const std::size_t end = offset + bytes;
  const std::size_t first =
      std::max(round_up(free_from, kPageBytes), round_down(offset, kPageBytes));
  const std::size_t last = std::min(round_down(free_to, kPageBytes), round_up(end, kPageBytes));
  if (first >= last) {
    std::memset(base + offset, 0, bytes);
    return;
  }
  punch(first, last);
  if (offset < first) std::memset(base + offset, 0, first - offset);
  if (last < end) std::memset(base + last, 0, end - last);
}

}  // namespace viaduct
