#include "via/copy.hpp"

#include <cpuid.h>
#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "runtime/enum_name.hpp"
#include "via/src/copy_stream.hpp"
#include "viaduct/runtime/prefetch.hpp"
#include "viaduct/runtime/types.hpp"

namespace viaduct::via {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// How much each core's own and the shared last-level cache hold; 0 where unknown.
struct CacheSizes {
  std::size_t second_level = 0;
  std::size_t last_level = 0;
};

// One leaf describes the caches in the same form on both makers' CPUs, under different numbers.
bool read_cache_leaf(std::uint32_t leaf, CacheSizes& sizes) noexcept {
  constexpr std::uint32_t kNoMore = 0;
  constexpr std::uint32_t kInstructions = 2;
  for (std::uint32_t entry = 0; entry < 16; ++entry) {
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(leaf, entry, &a, &b, &c, &d) == 0) break;
    const std::uint32_t kind = a & 0x1f;
    const std::uint32_t level = (a >> 5) & 7;
    if (kind == kNoMore) break;
    if (kind == kInstructions) continue;
    const std::size_t ways = (b >> 22) + 1;
    const std::size_t partitions = ((b >> 12) & 0x3ff) + 1;
    const std::size_t line = (b & 0xfff) + 1;
    const std::size_t bytes = ways * partitions * line * (std::size_t{c} + 1);
    if (level == 2) sizes.second_level = bytes;
    if (level >= 2) sizes.last_level = std::max(sizes.last_level, bytes);
  }
  return sizes.second_level != 0;
}

CacheSizes cache_sizes() noexcept {
  constexpr std::uint32_t kIntelLeaf = 4;
  constexpr std::uint32_t kAmdLeaf = 0x8000001d;
  CacheSizes sizes;
  if (read_cache_leaf(kIntelLeaf, sizes) || read_cache_leaf(kAmdLeaf, sizes)) return sizes;
  const long second = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const long third = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (second > 0) sizes.second_level = static_cast<std::size_t>(second);
  sizes.last_level = third > 0 ? static_cast<std::size_t>(third) : sizes.second_level;
  return sizes;
}

std::size_t find_threshold() noexcept {
  const CacheSizes sizes = cache_sizes();
  if (sizes.second_level == 0) return kNever;
  const bool shared_level = sizes.last_level > sizes.second_level;
  return shared_level ? std::min(8 * sizes.second_level, sizes.last_level / 4) : sizes.second_level;
}

bool is_intel() noexcept {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0, &a, &b, &c, &d) != 0 && b == signature_INTEL_ebx &&
         c == signature_INTEL_ecx && d == signature_INTEL_edx;
}

CopyMethod find_large_method() noexcept {
  const bool avx2 = copy_method_works(CopyMethod::stream_avx2);
  if (!is_intel()) return avx2 ? CopyMethod::stream_avx2 : CopyMethod::stream_sse2;
  if (copy_method_works(CopyMethod::stream_avx512)) return CopyMethod::stream_avx512_paged;
  return avx2 ? CopyMethod::stream_avx2_paged : CopyMethod::stream_sse2_paged;
}

void move_string(void* to, const void* from, std::size_t bytes) noexcept {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

}  // namespace

const char* to_string(CopyMethod method) noexcept {
  constexpr const char* kNames[] = {
      "plain",         "rep_movsb",         "stream_sse2",       "stream_avx2",
      "stream_avx512", "stream_sse2_paged", "stream_avx2_paged", "stream_avx512_paged"};
  return enum_name<CopyMethod::stream_avx512_paged>(kNames, method, "unknown");
}

bool copy_method_works(CopyMethod method) noexcept {
  __builtin_cpu_init();
  switch (method) {
    case CopyMethod::stream_avx2:
    case CopyMethod::stream_avx2_paged:
      return __builtin_cpu_supports("avx2") != 0;
    case CopyMethod::stream_avx512:
    case CopyMethod::stream_avx512_paged:
      return __builtin_cpu_supports("avx512f") != 0;
    default:
      return true;
  }
}

CopyMethod large_copy_method() noexcept {
  static const CopyMethod method = find_large_method();
  return method;
}

std::size_t copy_threshold() noexcept {
  const std::size_t set = detail::copy_threshold_bytes.load(std::memory_order_relaxed);
  if (set != 0) return set;
  set_copy_threshold(0);
  return detail::copy_threshold_bytes.load(std::memory_order_relaxed);
}

void set_copy_threshold(std::size_t bytes) noexcept {
  static const std::size_t found = find_threshold();
  detail::copy_threshold_bytes.store(bytes != 0 ? bytes : found, std::memory_order_relaxed);
}

void copy_bytes_by(CopyMethod method, void* to, const void* from, std::size_t bytes) noexcept {
  constexpr auto kFirstStream = static_cast<std::size_t>(CopyMethod::stream_sse2);
  if (method == CopyMethod::plain) {
    if (bytes != 0) std::memcpy(to, from, bytes);
  } else if (method == CopyMethod::rep_movsb) {
    move_string(to, from, bytes);
  } else {
    detail::stream_copies[static_cast<std::size_t>(method) - kFirstStream](to, from, bytes);
  }
}

void copy_for_reader(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  while (bytes >= kCacheLineBytes) {
    std::memcpy(to, from, kCacheLineBytes);
    demote_line(to);
    to += kCacheLineBytes;
    from += kCacheLineBytes;
    bytes -= kCacheLineBytes;
  }
  if (bytes == 0) return;
  std::memcpy(to, from, bytes);
  demote_line(to);
}

void detail::copy_large(void* to, const void* from, std::size_t bytes) noexcept {
  const bool large = bytes >= copy_threshold();
  copy_bytes_by(large ? large_copy_method() : CopyMethod::plain, to, from, bytes);
}

}  // namespace viaduct::via
