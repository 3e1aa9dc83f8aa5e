#include "via/registration_cache.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/errors/codes.hpp"
#include "via/src/mapping_monitor.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via {

namespace {

class NicRegistrar final : public Registrar {
 public:
  NicRegistrar(Nic& nic, ProtectionTag tag) : nic_(nic), tag_(tag) {}

  [[nodiscard]] Region enroll(std::byte* address, std::size_t bytes, Rights rights,
                              bool writable) override {
    auto region =
        std::make_unique<MemoryRegion>(nic_.register_memory(tag_, address, bytes, rights));
    const auto key = static_cast<std::uint32_t>(region->handle());
    return {reinterpret_cast<std::uint64_t>(region.release()), key, writable};
  }
  void release(const Region& region) noexcept override {
    delete reinterpret_cast<MemoryRegion*>(region.cookie);
  }

 private:
  Nic& nic_;
  ProtectionTag tag_;
};

bool wants_room(const Error& error) noexcept {
  return error.code() == std::errc::not_enough_memory ||
         error.code() == std::errc::resource_unavailable_try_again;
}

}  // namespace

RegistrationCache::RegistrationCache(Nic& nic, ProtectionTag tag, const Limits& limits)
    : RegistrationCache(std::make_unique<NicRegistrar>(nic, tag), limits) {}

RegistrationCache::RegistrationCache(std::unique_ptr<Registrar> registrar, const Limits& limits)
    : monitor_(MappingMonitor::shared()),
      changes_(&monitor_->state()),
      seen_(monitor_->settled()),
      page_mask_(static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)) - 1),
      registrar_(std::move(registrar)),
      limits_(limits) {
  limits_.regions = std::max<std::size_t>(limits_.regions, 1);
}

RegistrationCache::~RegistrationCache() {
  for (auto* list : {&entries_, &retired_})
    for (const auto& entry : *list) registrar_->release(entry->region);
}

bool RegistrationCache::caches() const noexcept {
  return monitor_->works() && limits_.pinned_bytes != 0;
}
const std::string& RegistrationCache::problem() const noexcept { return monitor_->problem(); }
std::string RegistrationCache::probe() { return MappingMonitor::shared()->problem(); }

// Asking.

/// The entry that covers the range, or null. No entry lies within another; so of those that begin
/// early enough, the last one ends last.
RegistrationCache::Entry* RegistrationCache::find(std::uintptr_t begin,
                                                  std::uintptr_t end) noexcept {
  const auto after = std::upper_bound(
      entries_.begin(), entries_.end(), begin,
      [](std::uintptr_t at, const std::unique_ptr<Entry>& entry) { return at < entry->begin; });
  if (after == entries_.begin()) return nullptr;
  Entry* const entry = std::prev(after)->get();
  return entry->end >= end ? entry : nullptr;
}

RegistrationCache::Entry RegistrationCache::wanted(const std::byte* address, std::size_t bytes,
                                                   Rights rights, bool writable) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  Entry entry;
  entry.begin = at & ~page_mask_;
  entry.end = (at + std::max<std::size_t>(bytes, 1) + page_mask_) & ~page_mask_;
  entry.rights = rights;
  entry.writable = writable;
  return entry;
}

RegistrationCache::Pin RegistrationCache::early(std::byte* address, std::size_t bytes,
                                                Rights rights, bool writable) noexcept {
  Pin pin = get_cached(address, bytes, rights, writable);
  if (pin) [[likely]]
    return pin;
  return early_miss(wanted(address, bytes, rights, writable));
}

RegistrationCache::Pin RegistrationCache::get_cached(const std::byte* address, std::size_t bytes,
                                                     Rights rights, bool writable) noexcept {
  sweep();
  const Entry want = wanted(address, bytes, rights, writable);
  Entry* const found = find(want.begin, want.end);
  if (found == nullptr || !found->suits(want)) [[unlikely]]
    return {};
  return hit(*found);
}

RegistrationCache::Pin RegistrationCache::early_miss(const Entry& want) noexcept {
  const std::size_t bytes = want.end - want.begin;
  constexpr std::uint64_t kTryAgain = 256;  // times, since others may have released theirs
  if (bytes > limits_.pinned_bytes || want.end <= want.begin ||
      (bytes >= too_large_ && ++not_tried_ % kTryAgain != 0)) {
    ++counters_.refused;
    return {};
  }
  try {
    if (!monitor_->watch({want.begin, want.end})) {
      ++counters_.not_cached;
      return {};
    }
    Pin pin(*this, add(want));
    if (bytes >= too_large_) too_large_ = ~std::size_t{0};
    return pin;
  } catch (const Error& error) {
    if (wants_room(error)) too_large_ = std::min(too_large_, bytes);
    ++counters_.refused;
    return {};
  } catch (const std::exception&) {
    ++counters_.refused;
    return {};
  }
}

RegistrationCache::Pin RegistrationCache::exact(std::byte* address, std::size_t bytes,
                                                Rights rights, bool writable) {
  if (!writable && !includes(Rights::rdma_read, rights))
    throw Error(errors::const_memory, std::errc::invalid_argument,
                "const memory is asked for with rights to write: peers can be given the right to "
                "read it alone");
  sweep();
  const Entry want = wanted(address, bytes, rights, writable);
  constexpr int kTries = 3;
  bool unsure = false;
  for (int i = 0; i < kTries; ++i) {
    Entry* const found = find(want.begin, want.end);
    unsure = found != nullptr && found->suits(want);
    if (!unsure) break;
    Pin pin(*this, *found);
    if (confirm(pin)) return hit(*found);
  }
  // A new registration has the right pages, even while a change is under way.
  if (!unsure && limits_.pinned_bytes != 0 && monitor_->watch({want.begin, want.end}))
    return Pin(*this, add(want));
  ++counters_.not_cached;
  return Pin(*this, add_for_once(want));
}

bool RegistrationCache::confirm(const Pin& pin) noexcept {
  if (!pin || pin.entry_->once) return static_cast<bool>(pin);
  constexpr int kLooks = 64;
  for (int i = 0; i < kLooks; ++i) {
    if (monitor_->quiet()) {
      sweep();
      return !pin.entry_->retired;
    }
    ::sched_yield();
  }
  return false;
}

// Registering. The order matters: changes were taken in (drain), then the pages are watched, then
// registered, then entered. So each change that the entry may not have seen comes to it later.

RegistrationCache::Entry& RegistrationCache::add(const Entry& want) {
  if (const Entry* const found = find(want.begin, want.end)) {
    // With other rights: one registration for both.
    Entry both = want;
    both.begin = found->begin;
    both.end = found->end;
    both.rights = found->rights | want.rights;
    both.writable = found->writable || want.writable;
    try {
      return insert(both);
    } catch (const Error&) {  // perhaps the rest cannot be written
    }
  }
  return insert(want);
}

RegistrationCache::Entry& RegistrationCache::insert(const Entry& want) {
  // Entries within the new one, and entries around it, would never be found again.
  for (std::size_t i = 0; i < entries_.size();) {
    const Entry& other = *entries_[i];
    const bool within = want.begin <= other.begin && other.end <= want.end;
    const bool around = other.begin <= want.begin && want.end <= other.end;
    if (within || around)
      retire(i);
    else
      ++i;
  }
  auto entry = enroll(want);
  const auto at = std::lower_bound(
      entries_.begin(), entries_.end(), entry->begin,
      [](const std::unique_ptr<Entry>& a, std::uintptr_t begin) { return a->begin < begin; });
  return **entries_.insert(at, std::move(entry));
}

RegistrationCache::Entry& RegistrationCache::add_for_once(const Entry& want) {
  auto entry = enroll(want);
  entry->retired = entry->once = true;
  retired_.push_back(std::move(entry));
  return *retired_.back();
}

std::unique_ptr<RegistrationCache::Entry> RegistrationCache::enroll(const Entry& want) {
  const std::size_t bytes = want.end - want.begin;
  make_room(bytes);
  const std::size_t count = entries_.size() + retired_.size() + 1;
  entries_.reserve(count);
  retired_.reserve(count);  // retire() allocates nothing
  auto entry = std::make_unique<Entry>(want);
  for (;;) {
    try {
      entry->region = registrar_->enroll(reinterpret_cast<std::byte*>(want.begin), bytes,
                                         want.rights, want.writable);
      break;
    } catch (const Error& error) {
      if (!wants_room(error) || !evict()) throw;
    }
  }
  entry->writable = entry->writable || entry->region.writable;
  entry->used = ++clock_;
  ++counters_.registrations;
  counters_.pinned_bytes += bytes;
  counters_.most_pinned_bytes = std::max(counters_.most_pinned_bytes, counters_.pinned_bytes);
  return entry;
}

void RegistrationCache::make_room(std::size_t bytes) {
  const auto room = [&] {
    return bytes <= limits_.pinned_bytes &&
           counters_.pinned_bytes <= limits_.pinned_bytes - bytes &&
           entries_.size() + retired_.size() < limits_.regions;
  };
  while (!room())
    if (!evict())
      throw Error(errors::regions_used_up, std::errc::no_buffer_space,
                  "cannot register " + std::to_string(bytes) +
                      " bytes: the registration cache is limited to " +
                      std::to_string(limits_.pinned_bytes) + " bytes in " +
                      std::to_string(limits_.regions) + " regions, of which transfers use " +
                      std::to_string(counters_.pinned_bytes) + " bytes now: raise its limits");
}

bool RegistrationCache::give_up(std::size_t bytes) noexcept {
  if (bytes > limits_.pinned_bytes) return false;
  while (counters_.pinned_bytes > limits_.pinned_bytes - bytes)
    if (!evict()) return false;
  limits_.pinned_bytes -= bytes;
  return true;
}

/// Releases the region that has not been used for the longest time. False: all regions are in use.
bool RegistrationCache::evict() {
  std::size_t oldest = entries_.size();
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i]->pins == 0 &&
        (oldest == entries_.size() || entries_[i]->used < entries_[oldest]->used))
      oldest = i;
  if (oldest == entries_.size()) return false;
  ++counters_.evictions;
  retire(oldest);
  return true;
}

// Releasing.

void RegistrationCache::retire(std::size_t at) noexcept {
  std::unique_ptr<Entry> entry = std::move(entries_[at]);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
  entry->retired = true;
  Entry& kept = *entry;
  retired_.push_back(std::move(entry));
  if (kept.pins == 0) release(kept);
}

void RegistrationCache::release(Entry& entry) noexcept {
  registrar_->release(entry.region);
  counters_.pinned_bytes -= entry.end - entry.begin;
  std::erase_if(retired_, [&](const std::unique_ptr<Entry>& e) { return e.get() == &entry; });
}

/// Releases the registrations of changed pages. Changes that happen meanwhile, even by this
/// function, are left to the next call.
void RegistrationCache::drain() noexcept {
  const std::uint64_t now = monitor_->settled();
  const auto change = [this](PageRange range) {
    const auto first = std::lower_bound(entries_.begin(), entries_.end(), range.begin,
                                        [](const std::unique_ptr<Entry>& entry,
                                           std::uintptr_t begin) { return entry->end <= begin; });
    const auto at = static_cast<std::size_t>(first - entries_.begin());
    while (at < entries_.size() && entries_[at]->begin < range.end) {
      ++counters_.invalidations;
      retire(at);
    }
  };
  if (!monitor_->changes(seen_, now, change)) change({0, ~std::uintptr_t{0}});
  seen_ = now;
}

}  // namespace viaduct::via
