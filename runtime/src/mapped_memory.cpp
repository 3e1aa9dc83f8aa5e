#include "viaduct/runtime/mapped_memory.hpp"

#include <sys/mman.h>
#include <cerrno>

namespace viaduct {

MappedMemory::MappedMemory(void* at, std::size_t bytes) noexcept {
  if (at == nullptr || at == MAP_FAILED) return;
  base_ = static_cast<std::byte*>(at);
  bytes_ = bytes;
}

void MappedMemory::reset() noexcept {
  if (base_ == nullptr) return;
  const int before = errno;
  ::munmap(base_, bytes_);
  errno = before;
  base_ = nullptr;
  bytes_ = 0;
}

}  // namespace viaduct
