/// The area of a MAP for payloads: both sides of it, without a channel between them.

#include "viaduct/am/detail/medium_ring.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace viaduct::am::detail {
namespace {

constexpr std::uint64_t kSize = 1024;

/// Both sides. A payload is entered at once, and freed when the test says so.
struct Area {
  MediumSend out;
  MediumReceive in;

  Area() { out.size = in.size = kSize; }
  /// Sends a payload.  @return its place in the ring, or -1: there is no room.
  int put(std::uint32_t length) {
    std::uint64_t start = 0;
    if (!out.fits(length, start)) return -1;
    out.head = start + medium_room(length);
    const auto at = static_cast<std::uint32_t>(start & (kSize - 1));
    EXPECT_TRUE(in.arrive(at, length, newest));
    return static_cast<int>(at);
  }
  /// The handler of payload @p number has returned.
  void done(std::uint64_t number) {
    if (const std::uint64_t free = in.done(number); free != 0) out.released = free;
  }
  std::uint64_t newest = 0;
};

TEST(MediumRing, PayloadsLieBehindEachOtherOnLinesOfTheirOwn) {
  Area area;
  EXPECT_EQ(area.put(1), 0);
  EXPECT_EQ(area.put(64), 64);
  EXPECT_EQ(area.put(65), 128);
  EXPECT_EQ(area.put(100), 256);
  EXPECT_EQ(area.put(1), 384);
}

TEST(MediumRing, IsFullAtItsLastLineAndNotBefore) {
  Area area;
  for (int i = 0; i < 16; ++i) EXPECT_EQ(area.put(64), i * 64);
  EXPECT_EQ(area.put(1), -1);
  area.done(0);
  EXPECT_EQ(area.put(65), -1);
  EXPECT_EQ(area.put(64), 0);
}

TEST(MediumRing, PayloadThatWouldCrossTheEndBeginsAtTheNextLap) {
  Area area;
  EXPECT_EQ(area.put(512), 0);
  EXPECT_EQ(area.put(320), 512);
  EXPECT_EQ(area.put(256), -1);  // 192 are left at the end, and none before the first is freed
  area.done(0);
  EXPECT_EQ(area.put(256), 0);
  EXPECT_EQ(area.put(256), 256);
  EXPECT_EQ(area.put(64), -1);  // the bytes that were left out are not free
  area.done(1);
  EXPECT_EQ(area.put(64), 512);
  area.done(2), area.done(3), area.done(4);
  EXPECT_EQ(area.put(448), 576);  // ends at the end
  EXPECT_EQ(area.put(64), 0);
}

TEST(MediumRing, BytesComeBackInOrderWhateverHandlerReturnsFirst) {
  Area area;
  for (int i = 0; i < 4; ++i) EXPECT_NE(area.put(256), -1);
  EXPECT_EQ(area.in.done(2), 0U);
  EXPECT_EQ(area.in.done(1), 0U);
  EXPECT_EQ(area.in.done(0), 768U);
  EXPECT_EQ(area.in.done(3), 1024U);
  area.out.released = 1024;
  EXPECT_NE(area.put(512), -1);
  EXPECT_EQ(area.newest, 4U);
  EXPECT_EQ(area.in.done(4), 1536U);
}

TEST(MediumRing, PlaceThatIsNotTheExpectedOneIsRefused) {
  Area area;
  std::uint64_t number = 77;
  EXPECT_FALSE(area.in.arrive(64, 64, number));
  EXPECT_FALSE(area.in.arrive(0, kSize + 1, number));
  EXPECT_EQ(area.put(kSize), 0);
  EXPECT_FALSE(area.in.arrive(0, 64, number));  // lies on the one before
  area.done(0);
  EXPECT_TRUE(area.in.arrive(0, 64, number));
  EXPECT_EQ(number, 1U);
}

TEST(MediumRing, BothSidesAgreeLapAfterLap) {
  Area area;
  std::mt19937 random(1);
  std::deque<std::pair<std::uint64_t, std::pair<int, int>>> held;  // number, place, end
  std::uint64_t refused = 0;
  while (area.in.freed < 1000 * kSize) {
    const std::uint32_t length = random() % 512 + 1;
    const int at = area.put(length);
    if (at >= 0) {
      const int end = at + static_cast<int>(length);
      ASSERT_LE(static_cast<std::uint64_t>(end), kSize);
      for (const auto& [number, other] : held)
        ASSERT_TRUE(end <= other.first || at >= other.second) << "on payload " << number;
      held.push_back({area.newest, {at, end}});
    } else {
      ++refused;
      ASSERT_FALSE(held.empty()) << "no room although all is free";
    }
    if (at < 0 || random() % 3 == 0) {
      const auto which = static_cast<std::ptrdiff_t>(random() % held.size());
      area.done(held[static_cast<std::size_t>(which)].first);
      held.erase(held.begin() + which);
    }
  }
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace viaduct::am::detail
