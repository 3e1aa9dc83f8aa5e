#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "via/shm/channel.hpp"

namespace viaduct::via::shm {
namespace {

/// What is read of a word that is on its way from @p old to @p now when @p bytes of it are there:
/// the first ones, or the last.
std::uint64_t half_written(std::uint64_t old, std::uint64_t now, unsigned bytes, bool first) {
  const unsigned at = first ? 0 : 8 - bytes;
  std::memcpy(reinterpret_cast<char*>(&old) + at, reinterpret_cast<const char*>(&now) + at, bytes);
  return old;
}

/// The counter was @p old, and moves on to @p now.
void expect_one_of_both(std::uint64_t old, std::uint64_t now) {
  const std::uint64_t from = carried_counter::seal(old);
  const std::uint64_t to = carried_counter::seal(now);
  EXPECT_EQ(carried_counter::take(from, old), old);
  EXPECT_EQ(carried_counter::take(to, old), now);
  for (unsigned bytes = 1; bytes < 8; ++bytes) {
    for (const bool first : {true, false}) {
      const std::uint64_t taken = carried_counter::take(half_written(from, to, bytes, first), old);
      EXPECT_TRUE(taken == old || taken == now)
          << old << " to " << now << ", " << bytes << (first ? " first" : " last") << " bytes";
    }
  }
}

TEST(CarriedCounter, IsOldOrNewWhileItIsWritten) {
  for (const std::uint64_t start : {0x0ULL, 0xffULL, 0x2f80ULL, 0xfff0ULL, 0xffff00ULL,
                                    0x7fffffffULL, 0xffffff80ULL, 0x7ffffff80ULL})
    for (std::uint64_t i = 0; i < 300; ++i)
      for (const std::uint64_t step : {0x1ULL, 0x2ULL, 0x38ULL, 0x100ULL, 0x10101ULL, 0x1010101ULL})
        expect_one_of_both(start + i, start + i + step);
}

TEST(CarriedCounter, IsNothingBeforeTheFirst) {
  EXPECT_EQ(carried_counter::take(0, 0), 0U);
  EXPECT_EQ(carried_counter::take(0, 64), 64U);
}

TEST(CarriedCounter, DoesNotGoBack) {
  EXPECT_EQ(carried_counter::take(carried_counter::seal(0x2fff), 0x3000), 0x3000U);
  EXPECT_EQ(carried_counter::take(carried_counter::seal(0xfffffff0), 0x100000010), 0x100000010U);
}

TEST(CarriedCounter, HasAllItsBitsOnTheOtherSide) {
  std::uint64_t seen = 0;
  for (std::uint64_t written = 0; written < 0x500000000; written += 0x7fffffff) {
    seen = carried_counter::take(carried_counter::seal(written), seen);
    EXPECT_EQ(seen, written);
  }
}

}  // namespace
}  // namespace viaduct::via::shm
