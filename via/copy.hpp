#pragma once
/// @file
/// Bulk copies between ranks: each size by the method that is best for it.
///
/// A small copy is a plain memcpy: the data stay in the cache, where the receiver finds them. A
/// copy much larger than the cache gains from non-temporal stores, which do not first read the
/// lines that they are going to overwrite. The C library knows that too, but switches over far too
/// late where a virtual machine reports the whole host's cache.
///
/// These settings describe the machine, not a rank: they are the same for all ranks of a process.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace viaduct::via {

/// Ways to copy. `stream_*` are non-temporal stores, by instruction set; with `_paged` four pages
/// are written in turn, a few lines of each, instead of one address after the other.
enum class CopyMethod : std::uint8_t {
  plain,      ///< the C library's memcpy
  rep_movsb,  ///< the CPU's own string move
  stream_sse2,
  stream_avx2,
  stream_avx512,
  stream_sse2_paged,
  stream_avx2_paged,
  stream_avx512_paged,
};
inline constexpr CopyMethod kCopyMethods[] = {CopyMethod::plain,
                                              CopyMethod::rep_movsb,
                                              CopyMethod::stream_sse2,
                                              CopyMethod::stream_avx2,
                                              CopyMethod::stream_avx512,
                                              CopyMethod::stream_sse2_paged,
                                              CopyMethod::stream_avx2_paged,
                                              CopyMethod::stream_avx512_paged};

/// @return the method's name, a literal: "plain", "stream_avx2", ...
[[nodiscard]] const char* to_string(CopyMethod method) noexcept;

/// @return whether this CPU and operating system have the instructions for @p method.
[[nodiscard]] bool copy_method_works(CopyMethod method) noexcept;

/// @return the method of copy_bytes() from the threshold on. On Intel's CPUs the widest stores that
/// there are, paged; on the others, where pages in turn are slower, stores of 32 bytes in sequence:
/// of 16 to 64 MiB they copy 5 to 13 % more in a second than stores of 64 bytes on an AMD EPYC (Zen
/// 4).
[[nodiscard]] CopyMethod large_copy_method() noexcept;

/// @return the size from which copy_bytes() uses large_copy_method(). Found at the first use: 8
/// times the core's own (second level) cache, but no more than a quarter of the last level, since
/// that one is shared. Where the CPU does not tell its caches, streaming is off (the greatest
/// std::size_t).
[[nodiscard]] std::size_t copy_threshold() noexcept;

/// Sets the threshold, for tuning by the user: 1 streams always, the greatest std::size_t never, 0
/// goes back to the size that copy_threshold() finds by itself.  Call from any thread.
void set_copy_threshold(std::size_t bytes) noexcept;

/// Copies by one method at any size; for measuring and testing. As copy_bytes() otherwise.
/// Precondition: copy_method_works(method).
void copy_bytes_by(CopyMethod method, void* to, const void* from, std::size_t bytes) noexcept;

namespace detail {
inline constinit std::atomic<std::size_t> copy_threshold_bytes{0};  // 0: not found yet
[[gnu::cold]] void copy_large(void* to, const void* from, std::size_t bytes) noexcept;
}  // namespace detail

/// Copies @p bytes from @p from to @p to; either may be memory that other processes have mapped.
///
/// Blocks      never.
/// Call from   any thread.
/// Order       a later store with release semantics is seen after the copied bytes, by every method
///             (non-temporal stores are fenced here).
/// Cost        one load and one branch beyond memcpy.
///
/// Precondition: the ranges do not overlap. Null pointers are fine when @p bytes is 0.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes >= detail::copy_threshold_bytes.load(std::memory_order_relaxed)) {
    return detail::copy_large(to, from, bytes);
  }
  if (bytes != 0) std::memcpy(to, from, bytes);
}

/// For copies of up to this size copy_for_reader() is meant. With 8 KiB the reader gains no more
/// time than the writer loses, with 64 KiB less.
inline constexpr std::size_t kMostForReader = 4096;

/// As copy_bytes(), for another core that waits for the bytes: each line that is written is handed
/// over by demote_line() at once.  Cost: some 10 ns a line more than a copy. Where demotes_lines()
/// is false, memcpy is faster.
void copy_for_reader(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

}  // namespace viaduct::via
