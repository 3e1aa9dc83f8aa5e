#pragma once
/// @file
/// Which parts of a range of offsets are taken: first fit, nothing but bookkeeping. The same calls
/// in the same order give the same offsets in every process. Not thread-safe.

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <unordered_map>

namespace viaduct {

class SpanAllocator {
 public:
  /// Offsets 0 to @p bytes - 1. Spans begin and end at multiples of @p grain.  Precondition:
  /// @p grain is a power of two.
  SpanAllocator(std::size_t bytes, std::size_t grain);

  /// The lowest offset, a multiple of @p alignment (a power of two), where @p bytes bytes are free;
  /// empty when there is none. A span of 0 bytes takes one grain.
  /// Cost: the number of free spans before that place. A row of calls with the same size and
  /// alignment passes over each of them once.
  [[nodiscard]] std::optional<std::size_t> try_allocate(std::size_t bytes, std::size_t alignment);

  struct Released {
    std::size_t bytes;      ///< of the span, rounded up to the grain
    std::size_t free_from;  ///< the free span that it is now part of
    std::size_t free_to;
  };
  /// Frees the span at @p offset.  @return empty when no span begins there.  Cost: a look-up among
  /// the spans.
  [[nodiscard]] std::optional<Released> try_release(std::size_t offset);

  /// @return the bytes that try_allocate() was asked for, 0 when no span begins at @p offset.
  [[nodiscard]] std::size_t bytes_at(std::size_t offset) const noexcept;
  /// @return the bytes of the whole range.
  [[nodiscard]] std::size_t total_bytes() const noexcept { return total_; }
  /// @return the sum of the bytes that were asked for and not released.
  [[nodiscard]] std::size_t allocated_bytes() const noexcept { return allocated_; }
  /// @return the bytes of the largest free span.  Cost: the number of free spans.
  [[nodiscard]] std::size_t largest_free_bytes() const noexcept;

 private:
  using Free = std::map<std::size_t, std::size_t>;  // offset to bytes; no two side by side
  struct Used {
    std::size_t bytes;
    std::size_t requested;
    Free::node_type place;  // among the free spans, so that a release allocates nothing
  };
  /// No free span below `from` has room for such a request, nor for a harder one.
  struct Passed {
    std::size_t bytes;
    std::size_t alignment;
    std::size_t from;
  };
  std::size_t first_to_try(std::size_t bytes, std::size_t alignment) const noexcept;
  void passed_over(const Passed& request) noexcept;

  std::size_t total_;
  std::size_t grain_;
  std::size_t allocated_ = 0;
  Free free_;
  std::unordered_map<std::size_t, Used> used_;
  std::array<Passed, 8> passed_{};  // the last kinds of requests
  std::size_t oldest_passed_ = 0;
};

}  // namespace viaduct
