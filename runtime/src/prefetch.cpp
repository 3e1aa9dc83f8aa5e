#include "viaduct/runtime/prefetch.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <cstdint>

namespace viaduct {

bool demotes_lines() noexcept {
#ifdef __x86_64__
  static const bool found = [] {
    constexpr std::uint32_t kFeatures = 7;
    constexpr std::uint32_t kDemotesLines = 1U << 25;  // of ecx
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) != 0 && (c & kDemotesLines) != 0;
  }();
  return found;
#else
  return false;
#endif
}

}  // namespace viaduct
