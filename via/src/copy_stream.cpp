#include "via/src/copy_stream.hpp"

#include <immintrin.h>
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "viaduct/runtime/types.hpp"

namespace viaduct::via::detail {
namespace {

constexpr std::size_t kPage = 4096;
// Written to one page before the walk goes on. Four lines let neighbouring lines of one DRAM row be
// written together; two are 20 % slower.
constexpr std::size_t kBurst = 4 * kCacheLineBytes;
// How far ahead of the loads the source is fetched. The prefetch may run past the source's
// end, since it never faults.
constexpr std::size_t kAhead = 512;

// The functions below are the same thing three times because a function's instruction set is an
// attribute, which no template parameter can carry; all else is shared.

[[gnu::always_inline]] inline void sse2_line(std::byte* to, const std::byte* from) noexcept {
  auto* const t = reinterpret_cast<__m128i*>(to);
  const auto* const f = reinterpret_cast<const __m128i*>(from);
  const __m128i a = _mm_loadu_si128(f);
  const __m128i b = _mm_loadu_si128(f + 1);
  const __m128i c = _mm_loadu_si128(f + 2);
  const __m128i d = _mm_loadu_si128(f + 3);
  _mm_stream_si128(t, a);
  _mm_stream_si128(t + 1, b);
  _mm_stream_si128(t + 2, c);
  _mm_stream_si128(t + 3, d);
}

[[gnu::target("avx2"), gnu::always_inline]] inline void avx2_line(std::byte* to,
                                                                  const std::byte* from) noexcept {
  auto* const t = reinterpret_cast<__m256i*>(to);
  const auto* const f = reinterpret_cast<const __m256i*>(from);
  const __m256i a = _mm256_loadu_si256(f);
  const __m256i b = _mm256_loadu_si256(f + 1);
  _mm256_stream_si256(t, a);
  _mm256_stream_si256(t + 1, b);
}

[[gnu::target("avx512f"), gnu::always_inline]] inline void avx512_line(
    std::byte* to, const std::byte* from) noexcept {
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
}

[[gnu::always_inline]] inline void fetch_ahead(const std::byte* from) noexcept {
  for (std::size_t at = 0; at < kBurst; at += kCacheLineBytes) {
    _mm_prefetch(reinterpret_cast<const char*>(from + kAhead + at), _MM_HINT_T0);
  }
}

// Copies Pages pages: a burst of each in turn. `to` is aligned to a line.
template <std::size_t Pages>
void sse2_block(std::byte* to, const std::byte* from) noexcept {
  for (std::size_t offset = 0; offset < kPage; offset += kBurst) {
    for (std::size_t at = offset; at < Pages * kPage; at += kPage) {
      fetch_ahead(from + at);
      for (std::size_t line = at; line < at + kBurst; line += kCacheLineBytes) {
        sse2_line(to + line, from + line);
      }
    }
  }
}

template <std::size_t Pages>
[[gnu::target("avx2")]] void avx2_block(std::byte* to, const std::byte* from) noexcept {
  for (std::size_t offset = 0; offset < kPage; offset += kBurst) {
    for (std::size_t at = offset; at < Pages * kPage; at += kPage) {
      fetch_ahead(from + at);
      for (std::size_t line = at; line < at + kBurst; line += kCacheLineBytes) {
        avx2_line(to + line, from + line);
      }
    }
  }
}

template <std::size_t Pages>
[[gnu::target("avx512f")]] void avx512_block(std::byte* to, const std::byte* from) noexcept {
  for (std::size_t offset = 0; offset < kPage; offset += kBurst) {
    for (std::size_t at = offset; at < Pages * kPage; at += kPage) {
      fetch_ahead(from + at);
      for (std::size_t line = at; line < at + kBurst; line += kCacheLineBytes) {
        avx512_line(to + line, from + line);
      }
    }
  }
}

// The whole copy around a block function: up to the first whole line of the destination and after
// the last whole block plainly, the blocks between them by streaming, then the fence that orders
// streamed stores before later ones.
template <std::size_t Pages, auto Block>
void stream(void* to, const void* from, std::size_t bytes) noexcept {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const std::size_t past_line = reinterpret_cast<std::uintptr_t>(target) % kCacheLineBytes;
  const std::size_t head = std::min(bytes, (kCacheLineBytes - past_line) % kCacheLineBytes);
  if (head != 0) std::memcpy(target, source, head);
  std::size_t done = head;
  for (; bytes - done >= Pages * kPage; done += Pages * kPage) Block(target + done, source + done);
  if (done != bytes) std::memcpy(target + done, source + done, bytes - done);
  _mm_sfence();
}

}  // namespace

constinit const std::array<StreamCopy, 6> stream_copies{
    stream<1, sse2_block<1>>, stream<1, avx2_block<1>>, stream<1, avx512_block<1>>,
    stream<4, sse2_block<4>>, stream<4, avx2_block<4>>, stream<4, avx512_block<4>>,
};

}  // namespace viaduct::via::detail
