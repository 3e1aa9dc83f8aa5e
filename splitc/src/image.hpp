#pragma once
// The program's place in this process, and which part of it is static data that may be shared.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/mappings.hpp"

namespace viaduct::splitc::detail {

using viaduct::PageRange;
using viaduct::subtract;

struct Image {
  std::uintptr_t load = 0;  // difference of addresses here and in the file; 0 without PIE
  PageRange all;            // first to last page
  /// Writable data and zeroed data, without pages that the dynamic linker made read-only.
  std::vector<PageRange> statics;
  /// Pages at these addresses and above hold nothing of the file: untouched ones are zero.
  std::vector<PageRange> zeroed;
  bool has_interpreter = false;  // linked dynamically: the C library is elsewhere
};

/// The main program's image.
[[nodiscard]] Image main_image();

/// Translates addresses between this process' program and process 0's, each mapped as a whole: an
/// invertible map, and the identity outside both places.
class ImageShift {
 public:
  ImageShift() = default;
  /// @p here: this process' image; @p there: where process 0 has it.
  ImageShift(PageRange here, PageRange there) noexcept
      : here_(here), there_(there), shift_(there.begin - here.begin) {}

  [[nodiscard]] bool moves() const noexcept { return shift_ != 0; }
  /// From an address in this process to the address in global pointers.
  [[nodiscard]] std::uint64_t globalize(std::uint64_t a) const noexcept {
    if (in(here_, a)) return a + shift_;
    return in(there_, a) ? a - swap() : a;
  }
  [[nodiscard]] std::uint64_t localize(std::uint64_t a) const noexcept {
    if (in(there_, a)) return a - shift_;
    return in(here_, a) ? a + swap() : a;
  }

 private:
  static bool in(PageRange r, std::uint64_t a) noexcept { return a - r.begin < r.bytes(); }
  /// The distance for addresses of process 0's program, where something else may lie in this
  /// process: they take the place of the addresses that our program leaves. Where the two programs
  /// overlap only their differences change places.
  [[nodiscard]] std::uint64_t swap() const noexcept {
    const bool up = there_.begin > here_.begin;
    const std::uint64_t distance = up ? shift_ : 0 - shift_;
    const std::uint64_t by = distance < here_.bytes() ? here_.bytes() : distance;
    return up ? by : 0 - by;
  }
  PageRange here_;
  PageRange there_;
  std::uint64_t shift_ = 0;
};

}  // namespace viaduct::splitc::detail
