#pragma once
/// @file
/// Where the memory of bulk transfers is registered: in a segment, or in the registration cache.

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "via/registration_cache.hpp"
#include "via/verbs/settings.hpp"
#include "via/verbs/src/owned.hpp"

namespace viaduct::via::verbs {

class BulkMemory {
 public:
  /// A region for one transfer; none: it has to be copied.
  struct Place {
    std::uint32_t key = 0;
    bool found = false;
    RegistrationCache::Pin pin;  // empty in a segment
  };

  BulkMemory(ibv_pd* domain, const Settings& settings);

  /// A segment that peers reach: what it answers is for them. @p lasting: nobody unmaps it before
  /// remove_segment(), so that it is good for transfers from here, too.  Throws Error.
  [[nodiscard]] std::uint32_t add_segment(std::byte* address, std::size_t bytes, bool lasting);
  void remove_segment(std::uint32_t key) noexcept;

  /// @p out: the device only reads there. Memory is registered when it is asked for again: to
  /// register what is used once costs more than to copy it.  Cost of a repeated one: no system
  /// call, lock or allocation.
  [[nodiscard]] Place find(std::byte* address, std::size_t bytes, bool out) noexcept;
  /// After the transfer: whether it was with the memory at its address.
  [[nodiscard]] bool confirm(const Place& place) noexcept {
    return !place.pin || cache_.confirm(place.pin);
  }
  void sweep() noexcept { cache_.sweep(); }
  [[nodiscard]] const RegistrationCache::Counters& counters() const noexcept {
    return cache_.counters();
  }

 private:
  static constexpr std::size_t kRemembered = 256;  // places asked for

  [[nodiscard]] bool asked_before(const std::byte* address) noexcept;

  ibv_pd* domain_;
  std::size_t cached_from_;
  std::unordered_map<std::uint32_t, OwnedRegion> segments_;  // by key
  std::vector<const ibv_mr*> lasting_;                       // of them
  std::array<std::uintptr_t, kRemembered> asked_{};          // pages
  RegistrationCache cache_;
};

}  // namespace viaduct::via::verbs
