#include "via/verbs/src/bulk_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "via/memory_lock.hpp"
#include "via/verbs/src/errors.hpp"
#include "via/verbs/src/library.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::verbs {

namespace {

/// Registers for the local device alone.
class DomainRegistrar final : public Registrar {
 public:
  explicit DomainRegistrar(ibv_pd* domain) : domain_(domain) {}

  /// Local write access is asked for in any case, since most memory is writable and is written
  /// later.
  [[nodiscard]] Region enroll(std::byte* address, std::size_t bytes, Rights,
                              bool writable) override {
    bool granted = true;
    ibv_mr* region = library().reg_mr(domain_, address, bytes, IBV_ACCESS_LOCAL_WRITE);
    if (region == nullptr && !writable && errno != ENOMEM) {
      granted = false;
      region = library().reg_mr(domain_, address, bytes, 0);
    }
    if (region == nullptr) throw_registration(errno, "memory of a bulk transfer", bytes);
    return {reinterpret_cast<std::uint64_t>(region), region->lkey, granted};
  }
  void release(const Region& region) noexcept override {
    library().dereg_mr(reinterpret_cast<ibv_mr*>(region.cookie));
  }

 private:
  ibv_pd* domain_;
};

RegistrationCache::Limits limits_of(const Settings& settings) {
  RegistrationCache::Limits limits;
  limits.pinned_bytes = settings.pinned_bytes == config::kAuto
                            ? default_pinned_bytes(memory_lock())
                            : static_cast<std::size_t>(settings.pinned_bytes);
  return limits;
}

}  // namespace

BulkMemory::BulkMemory(ibv_pd* domain, const Settings& settings)
    : domain_(domain),
      cached_from_(static_cast<std::size_t>(settings.cache_from)),
      cache_(std::make_unique<DomainRegistrar>(domain), limits_of(settings)) {}

std::uint32_t BulkMemory::add_segment(std::byte* address, std::size_t bytes, bool lasting) {
  OwnedRegion region(
      library().reg_mr(domain_, address, bytes,
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
  if (region == nullptr) throw_registration(errno, "a segment", bytes);
  const std::uint32_t key = region->rkey;
  lasting_.reserve(lasting_.size() + 1);
  const auto at = segments_.emplace(key, std::move(region)).first;
  if (lasting) lasting_.push_back(at->second.get());
  return key;
}

void BulkMemory::remove_segment(std::uint32_t key) noexcept {
  const auto found = segments_.find(key);
  if (found == segments_.end()) return;
  std::erase(lasting_, found->second.get());
  segments_.erase(found);
}

bool BulkMemory::asked_before(const std::byte* address) noexcept {
  constexpr unsigned kPageShift = 12;
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(address) >> kPageShift;
  return std::exchange(asked_[page % kRemembered], page) == page;
}

std::optional<std::uint32_t> BulkMemory::add_chunk(std::byte* address, std::size_t bytes) noexcept {
  // After this check all chunks have at most as many bytes as the cache may keep.
  const std::size_t limit = cache_.limits().pinned_bytes;
  if (bytes > limit || chunk_bytes_ + bytes > limit - bytes || !cache_.give_up(bytes)) return {};
  try {
    chunks_.reserve(chunks_.size() + 1);
    const std::uint32_t key = add_segment(address, bytes, false);
    const ibv_mr* const region = segments_.at(key).get();
    chunks_.insert(
        std::upper_bound(chunks_.begin(), chunks_.end(), region,
                         [](const ibv_mr* a, const ibv_mr* b) { return a->addr < b->addr; }),
        region);
    chunk_bytes_ += bytes;
    return key;
  } catch (const std::exception&) {
    cache_.take_back(bytes);
    return {};
  }
}

/// The segment or chunk that holds all of it.
const ibv_mr* BulkMemory::lasting_at(const std::byte* address, std::size_t bytes) const noexcept {
  const auto holds = [=](const ibv_mr* region) {
    const auto at = static_cast<std::size_t>(address - static_cast<std::byte*>(region->addr));
    return at <= region->length && bytes <= region->length - at;
  };
  const auto after =
      std::upper_bound(chunks_.begin(), chunks_.end(), address,
                       [](const std::byte* at, const ibv_mr* chunk) { return at < chunk->addr; });
  if (after != chunks_.begin() && holds(*std::prev(after))) return *std::prev(after);
  const auto found = std::find_if(lasting_.begin(), lasting_.end(), holds);
  return found != lasting_.end() ? *found : nullptr;
}

BulkMemory::Place BulkMemory::find(std::byte* address, std::size_t bytes, bool out) noexcept {
  Place place;
  if (const ibv_mr* const region = lasting_at(address, bytes); region != nullptr) {
    place.key = region->lkey;
    place.found = true;
    return place;
  }
  if (bytes == 0 || bytes < cached_from_) return place;
  place.pin = cache_.get_cached(address, bytes, Rights::none, !out);
  if (!place.pin && asked_before(address)) {
    const std::byte* const source = address;
    place.pin = out ? cache_.get_early(source, bytes) : cache_.get_early(address, bytes);
  }
  if (!place.pin) return place;
  if (!cache_.confirm(place.pin)) {
    ++unsure_;
    return {};
  }
  place.found = true;
  place.key = place.pin.key();
  return place;
}

}  // namespace viaduct::via::verbs
