#pragma once
/// @file
/// The registered regions, by handle. Programs register memory for one transfer and deregister it
/// afterwards, so this table divides nothing, and takes memory only when it grows.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "via/vipl/src/objects.hpp"

namespace viaduct::via::vipl {

class Regions {
 public:
  /// The region, or null. The pointer is good until the next add().
  [[nodiscard]] Region* find(VIP_MEM_HANDLE handle) noexcept {
    if (lists_.empty()) return nullptr;
    for (std::uint32_t at = lists_[list_of(handle)]; at != kNone; at = places_[at].next)
      if (places_[at].handle == handle) return &places_[at].region;
    return nullptr;
  }
  /// Precondition: no region has @p handle.  Throws std::bad_alloc.
  void add(VIP_MEM_HANDLE handle, Region&& region) {
    if (free_ == kNone) grow();
    const std::uint32_t at = free_;
    Place& place = places_[at];
    free_ = place.next;
    place.handle = handle;
    place.region = std::move(region);
    std::uint32_t& first = lists_[list_of(handle)];
    place.next = first;
    first = at;
  }
  /// Ends the region, which there is, and its registration.
  void remove(VIP_MEM_HANDLE handle) noexcept {
    std::uint32_t* link = &lists_[list_of(handle)];
    while (places_[*link].handle != handle) link = &places_[*link].next;
    const std::uint32_t at = *link;
    Place& place = places_[at];
    *link = place.next;
    place.next = free_;
    free_ = at;
    place.region = Region();
  }
  /// The same for all of @p nic.
  void remove_all_of(const Nic& nic) noexcept {
    for (const Place& place : places_)
      if (place.region.nic == &nic) remove(place.handle);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Place {
    VIP_MEM_HANDLE handle = 0;
    std::uint32_t next = kNone;  // in its list, or in that of free places
    Region region;               // a free place: of no NIC
  };

  /// Handles of some providers differ in their upper bits only, those of others in the lower ones.
  [[nodiscard]] std::uint32_t list_of(VIP_MEM_HANDLE handle) const noexcept {
    return (handle * 0x9E3779B1U) >> shift_;
  }
  [[gnu::cold, gnu::noinline]] void grow() {
    const std::size_t before = places_.size();
    const std::size_t count = before == 0 ? kAtFirst : 2 * before;
    std::vector<std::uint32_t> lists(count, kNone);
    places_.resize(count);
    lists_.swap(lists);
    shift_ -= before == 0 ? 0 : 1;
    for (std::uint32_t at = 0; at < before; ++at) {
      std::uint32_t& first = lists_[list_of(places_[at].handle)];
      places_[at].next = first;
      first = at;
    }
    for (auto at = static_cast<std::uint32_t>(count); at-- > before;) {
      places_[at].next = free_;
      free_ = at;
    }
  }

  static constexpr std::size_t kAtFirst = 64;
  std::uint32_t shift_ = 32 - 6;  // for lists_.size() lists
  std::uint32_t free_ = kNone;
  std::vector<Place> places_;
  std::vector<std::uint32_t> lists_;  // first place of each
};

}  // namespace viaduct::via::vipl
