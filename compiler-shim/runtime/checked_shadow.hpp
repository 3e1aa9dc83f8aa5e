#pragma once
// The accesses of one process in one epoch: for each 4 bytes of any process' memory that it has
// touched, the first read and the first write. Later ones of other bytes join them where time and
// kind are the same.

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler-shim/runtime/checked.hpp"
#include "viaduct/runtime/mapped_memory.hpp"

namespace viaduct::shim::checked {

/// A recorded access: the place of its call, its time, its kind, and which of the 4 bytes.
struct Noted {
  std::uint32_t place = 0;  // behind the call in the program's code
  std::uint16_t time = 0;
  std::uint8_t bytes = 0;  // a bit for each byte; 0: none
  Kind kind = Kind::local;
};
struct Granule {
  std::array<Noted, 2> noted;  // read, write
};
static_assert(sizeof(Granule) == 16);

inline constexpr unsigned kGranuleShift = 2;
inline constexpr std::size_t kGranuleBytes = std::size_t{1} << kGranuleShift;
inline constexpr unsigned kPageShift = 12;
inline constexpr std::size_t kGranules = std::size_t{1} << (kPageShift - kGranuleShift);

struct Page {
  std::uint64_t number = 0;  // the words' bits above kPageShift
  std::array<Granule, kGranules> granules;
};

class Shadow {
 public:
  /// @p bytes of memory at most.
  explicit Shadow(std::size_t bytes);

  /// Notes an access of [word, word + bytes). Cost: a look-up for each page, 8 bytes written for
  /// each new granule.
  void note(std::uint64_t word, std::size_t bytes, bool is_write, Noted access) {
    while (bytes > 0) {
      const std::size_t in_granule = word & (kGranuleBytes - 1);
      const std::size_t most = kGranuleBytes - in_granule;
      const std::size_t here = bytes < most ? bytes : most;
      access.bytes = static_cast<std::uint8_t>(((1U << here) - 1) << in_granule);
      note_granule(word, is_write, access);
      word += here;
      bytes -= here;
    }
  }

  /// The granule that @p word lies in; null: no access of its page was noted.
  [[nodiscard]] const Granule* find(std::uint64_t word) const;
  /// All pages of the epoch, in no order.
  [[nodiscard]] const std::vector<Page*>& pages() const noexcept { return used_; }
  /// Forgets all accesses and keeps the memory.
  void clear();
  /// Whether accesses were left out since the beginning, for want of memory.
  [[nodiscard]] bool is_full() const noexcept { return is_full_; }

 private:
  void note_granule(std::uint64_t word, bool is_write, const Noted& access) {
    const std::uint64_t number = word >> kPageShift;
    Recent& recent = recent_[number % recent_.size()];
    if (recent.page == nullptr || recent.number != number) [[unlikely]] {
      recent.page = page(number);
      recent.number = number;
      if (recent.page == nullptr) return;
    }
    Noted& kept =
        recent.page->granules[(word >> kGranuleShift) % kGranules].noted[is_write ? 1 : 0];
    if ((access.bytes & ~kept.bytes) == 0) return;
    if (kept.bytes == 0)
      kept = access;
    else if (kept.time == access.time && kept.kind == access.kind)
      kept.bytes = static_cast<std::uint8_t>(kept.bytes | access.bytes);
  }
  Page* page(std::uint64_t number);
  Page* new_page();

  struct Recent {
    std::uint64_t number = 0;
    Page* page = nullptr;
  };
  std::array<Recent, 256> recent_;
  std::unordered_map<std::uint64_t, Page*> by_number_;
  std::vector<Page*> used_;
  std::vector<Page*> free_;
  std::vector<MappedMemory> chunks_;
  std::size_t pages_left_;
  bool is_full_ = false;
};

}  // namespace viaduct::shim::checked
