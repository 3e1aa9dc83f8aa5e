#pragma once
/// @file
/// The yardsticks: the limits of the machine itself, in loops as short as possible. Every ratio of
/// a benchmark divides by one of these, measured in the same two processes and interleaved with the
/// figure.
///
/// Two ranks, pinned to different cores, call each function at the same time, one as Role::sender,
/// one as Role::peer; each call measures one round and returns the same value at both. They spin
/// without pause: with one core for both a call takes very long. Every function checks the data
/// that arrived, and throws std::runtime_error when they are wrong.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "benchmarks/common/pair.hpp"

namespace viaduct::bench {

/// How messages lie in the ring's 256 slots of 64 bytes.
enum class RingLayout : std::uint8_t {
  mark_first,  ///< slots in sequence; the 8-byte mark before the payload
  mark_last,  ///< slots in sequence; the mark behind the payload, so that a line is written upwards
  spread,  ///< as mark_last; neighbours in sequence lie 128 bytes apart, so that no pair of lines
           ///< is shared
};
inline constexpr std::array kRingLayouts{RingLayout::mark_first, RingLayout::mark_last,
                                         RingLayout::spread};
[[nodiscard]] const char* to_string(RingLayout layout) noexcept;

/// The copy that Yardsticks::copy_gbs() times.
struct CopyPlan {
  using Copy = void (*)(void* to, const void* from, std::size_t bytes);
  std::byte* target = nullptr;  ///< shared; each rank gives its own address of it. Aligned to 8
  const std::byte* source = nullptr;  ///< of the sender; the peer gives anything
  std::size_t bytes = 0;              ///< a multiple of 8
  bool with_sum =
      false;  ///< to when the sender sees that the peer has summed every word; else the copy alone
  std::uint32_t copies = 1;  ///< one after the other; the round's value is that of all together
  Copy copy = nullptr;       ///< nullptr: memcpy
};

/// Adds up @p bytes / 8 words, as a receiver does that reads all data.
[[nodiscard]] std::uint64_t sum_words(const std::byte* data, std::size_t bytes) noexcept;

class Yardsticks {
 public:
  static constexpr std::size_t kSlots = 256;
  static constexpr std::size_t kMediumBytes = 4096;
  static constexpr std::size_t kMediumSources = 64;
  static constexpr std::size_t kBulkBytes = std::size_t{64} << 20;
  /// The size of the constructor's block, which is aligned to a page. Only pages that are used are
  /// ever touched.
  [[nodiscard]] static std::size_t block_bytes() noexcept;

  /// @p block: zeroed, mapped by both ranks, the caller's; lives longer than this. Both construct,
  /// then both call.
  Yardsticks(std::byte* block, Role role);
  ~Yardsticks();
  Yardsticks(const Yardsticks&) = delete;
  Yardsticks& operator=(const Yardsticks&) = delete;

  [[nodiscard]] Pair& pair() noexcept { return pair_; }
  /// The shared 64 MiB that memcpy_64m_gbs() copies to, for contestants that want the same target;
  /// and the sender's own source of the same size (nullptr at the peer).
  [[nodiscard]] std::byte* bulk_target() const noexcept;
  [[nodiscard]] const std::byte* bulk_source() const noexcept { return bulk_source_.get(); }

  /// L: two lines, one per direction, store-release and spin-acquire without pause; RTT/2.
  [[nodiscard]] double hand_over_ns(std::uint64_t round_trips = 100'000);

  /// One way, 56 bytes a message, written by the sender and summed by the peer, which prefetches 8
  /// slots ahead and returns the head every 64 slots; no locked instruction. Million messages per
  /// second.
  [[nodiscard]] double ring_rate_mps(RingLayout layout, std::uint64_t messages = 10'000'000);

  /// The same ring (mark_last) where each slot has 4 KiB of payload, copied in from 64 sources in
  /// turn and summed.
  [[nodiscard]] double medium_ring_4k_gbs(std::uint64_t messages = 20'000);

  /// Any copy to memory that the peer has mapped.
  [[nodiscard]] double copy_gbs(const CopyPlan& plan);
  [[nodiscard]] double memcpy_1m_gbs(bool with_sum);   ///< 16 copies a round
  [[nodiscard]] double memcpy_64m_gbs(bool with_sum);  ///< one copy a round

  /// Both sleep on a shared futex; the sender sends when the peer has slept for at least 1 ms.
  /// Median RTT/2.
  [[nodiscard]] double futex_wake_ns(std::uint32_t messages = 30);

 private:
  struct Block;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  static std::unique_ptr<std::byte[]> filled_source(std::size_t bytes);
  template <RingLayout Layout>
  double ring_round(std::uint64_t messages);
  void check_sum(std::uint64_t mine, std::uint64_t expected, const char* what);

  Block* block_;
  Pair pair_;
  std::unique_ptr<std::byte[]> bulk_source_;
  std::unique_ptr<std::byte[]> medium_sources_;
};

}  // namespace viaduct::bench
