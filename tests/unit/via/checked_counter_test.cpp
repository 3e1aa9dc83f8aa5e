#include <gtest/gtest.h>

#include <cstdint>

#include "viaduct/via/slot.hpp"

namespace viaduct::via::shm {
namespace {

/// What is read of a word that is on its way from @p old to @p now when those of its bytes are
/// there whose bits are set in @p there.
std::uint64_t half_written(std::uint64_t old, std::uint64_t now, unsigned there) {
  std::uint64_t mask = 0;
  for (unsigned byte = 0; byte < 8; ++byte)
    if ((there >> byte & 1) != 0) mask |= std::uint64_t{0xff} << (8 * byte);
  return (old & ~mask) | (now & mask);
}

/// The counter was @p old, and moves on to @p now; its bytes come in any order.
void expect_one_of_both(std::uint64_t old, std::uint64_t now) {
  const std::uint64_t from = checked_counter::word_of(old);
  const std::uint64_t to = checked_counter::word_of(now);
  EXPECT_EQ(checked_counter::take(from, old), old);
  EXPECT_EQ(checked_counter::take(to, old), now);
  for (unsigned there = 1; there < 255; ++there) {
    const std::uint64_t taken = checked_counter::take(half_written(from, to, there), old);
    if (taken != old && taken != now)
      ADD_FAILURE() << old << " to " << now << ": with bytes " << there << " taken as " << taken;
  }
}

TEST(CheckedCounter, IsOldOrNewWhileItIsWritten) {
  for (const std::uint64_t start : {0x0ULL, 0xffULL, 0x2f80ULL, 0xfff0ULL, 0xffff00ULL,
                                    0x7fffffffULL, 0xffffff80ULL, 0x7ffffff80ULL})
    for (std::uint64_t i = 0; i < 300; ++i)
      for (const std::uint64_t step : {0x1ULL, 0x2ULL, 0x38ULL, 0x100ULL, 0x10101ULL, 0x1010101ULL})
        expect_one_of_both(start + i, start + i + step);
}

TEST(CheckedCounter, IsNothingBeforeTheFirst) {
  EXPECT_EQ(checked_counter::take(0, 0), 0U);
  EXPECT_EQ(checked_counter::take(0, 64), 64U);
}

TEST(CheckedCounter, DoesNotGoBack) {
  EXPECT_EQ(checked_counter::take(checked_counter::word_of(0x2fff), 0x3000), 0x3000U);
  EXPECT_EQ(checked_counter::take(checked_counter::word_of(0xfffffff0), 0x100000010), 0x100000010U);
}

TEST(CheckedCounter, HasAllItsBitsOnTheOtherSide) {
  std::uint64_t seen = 0;
  for (std::uint64_t written = 0; written < 0x500000000; written += 0x7fffffff) {
    seen = checked_counter::take(checked_counter::word_of(written), seen);
    EXPECT_EQ(seen, written);
  }
}

}  // namespace
}  // namespace viaduct::via::shm
