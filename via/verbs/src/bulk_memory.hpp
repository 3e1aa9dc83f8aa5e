#pragma once
/// @file
/// Where the memory of bulk transfers is registered: in a segment, or in the registration cache.

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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

  /// Registers a segment for peers, and answers its key for them. @p lasting: the segment stays
  /// mapped until remove_segment(), so that transfers from here may use it, too.  Throws Error.
  [[nodiscard]] std::uint32_t add_segment(std::byte* address, std::size_t bytes, bool lasting);
  void remove_segment(std::uint32_t key) noexcept;
  /// A lasting segment that shares no page with another chunk. All chunks have at most half of the
  /// bytes that may be registered, and the cache's limit falls by as much. None: no room.
  [[nodiscard]] std::optional<std::uint32_t> add_chunk(std::byte* address,
                                                       std::size_t bytes) noexcept;

  /// @p out: the device only reads there. Memory that is not in a segment is registered when it is
  /// asked for again: registering memory that is used once costs more than copying it.  Cost of a
  /// repeated look: a system call that does nothing; in a segment none.
  [[nodiscard]] Place find(std::byte* address, std::size_t bytes, bool out) noexcept;
  void sweep() noexcept { cache_.sweep(); }
  /// Times that memory was being unmapped while it was looked up, so that find() answered none.
  [[nodiscard]] std::uint64_t unsure() const noexcept { return unsure_; }
  [[nodiscard]] const RegistrationCache::Counters& counters() const noexcept {
    return cache_.counters();
  }

 private:
  static constexpr std::size_t kRemembered = 256;  // places asked for

  [[nodiscard]] bool asked_before(const std::byte* address) noexcept;
  [[nodiscard]] const ibv_mr* lasting_at(const std::byte* address,
                                         std::size_t bytes) const noexcept;

  ibv_pd* domain_;
  std::size_t cached_from_;
  std::unordered_map<std::uint32_t, OwnedRegion> segments_;  // by key
  std::vector<const ibv_mr*> lasting_;                       // of them, without chunks
  std::vector<const ibv_mr*> chunks_;                        // of them, by address
  std::size_t chunk_bytes_ = 0;
  std::uint64_t unsure_ = 0;
  std::array<std::uintptr_t, kRemembered> asked_{};  // pages
  RegistrationCache cache_;
};

}  // namespace viaduct::via::verbs
