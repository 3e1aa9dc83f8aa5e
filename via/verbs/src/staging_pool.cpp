#include "via/verbs/src/staging_pool.hpp"

#include <cerrno>

#include "via/verbs/src/errors.hpp"

namespace viaduct::via::verbs {

StagingPool::StagingPool(ibv_pd* domain) : memory_(std::make_unique<std::byte[]>(total())) {
  region_.reset(library().reg_mr(domain, memory_.get(), total(), IBV_ACCESS_LOCAL_WRITE));
  if (region_ == nullptr) throw_registration(errno, "the staging buffers", total());
  for (std::size_t i = 0; i < kSizes.size(); ++i)
    while (free_[i].count != kSizes[i].count) {
      free_[i].numbers[free_[i].count] = free_[i].count;
      ++free_[i].count;
    }
}

std::byte* StagingPool::take(std::size_t bytes) noexcept {
  std::byte* first = memory_.get();
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    Free& free = free_[i];
    if (bytes <= kSizes[i].bytes)
      return free.count == 0 ? nullptr : first + free.numbers[--free.count] * kSizes[i].bytes;
    first += kSizes[i].bytes * kSizes[i].count;
  }
  return nullptr;
}

void StagingPool::give(const std::byte* buffer) noexcept {
  if (buffer == nullptr) return;
  auto at = static_cast<std::size_t>(buffer - memory_.get());
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    const std::size_t all = kSizes[i].bytes * kSizes[i].count;
    if (at < all) {
      free_[i].numbers[free_[i].count++] = static_cast<std::uint16_t>(at / kSizes[i].bytes);
      return;
    }
    at -= all;
  }
}

}  // namespace viaduct::via::verbs
