/// The area of a MAP for payloads: both sides of it, without a channel between them.

#include "viaduct/am/detail/medium_ring.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace viaduct::am::detail {
namespace {

constexpr std::uint32_t kSize = 65536;
constexpr std::uint32_t kLong = 4096;  // bytes; a sixteenth, and no gap behind them

/// Both sides. A payload is entered at once, and freed when the test says so.
struct Area {
  MediumSend out;
  MediumReceive in;

  Area() {
    out.size = in.size = kSize;
    out.gap = in.gap = kGapBytes;
  }
  /// Sends a payload.  @return its place in the ring, or -1: there is no room.
  int put(std::uint32_t length) {
    std::uint64_t start = 0;
    if (!out.fits(length, start)) return -1;
    out.head = start + out.room(length);
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
  EXPECT_EQ(area.put(1025), 0);
  EXPECT_EQ(area.put(1088), 1088);
  EXPECT_EQ(area.put(1089), 2 * 1088);
  EXPECT_EQ(area.put(1), 2 * 1088 + 1152);
}

TEST(MediumRing, GapFollowsAShortPayload) {
  Area area;
  EXPECT_EQ(area.put(1), 0);
  EXPECT_EQ(area.put(64), 64 + 512);
  EXPECT_EQ(area.put(1024), 2 * (64 + 512));
  EXPECT_EQ(area.put(1025), 2 * (64 + 512) + 1024 + 512);
}

TEST(MediumRing, EmptyPayloadTakesNoRoom) {
  Area area;
  EXPECT_EQ(area.put(0), 0);
  EXPECT_EQ(area.put(kSize), 0);
  EXPECT_EQ(area.put(0), 0);
  EXPECT_EQ(area.put(1), -1);
}

TEST(MediumRing, LinesOfAPayloadAreHandedBackOnce) {
  Area area;
  std::vector<std::byte> ring(kSize);
  area.in.ring = ring.data();
  area.put(kLong);
  area.put(100);
  EXPECT_EQ(area.in.to_hand_back.place, kLong);
  EXPECT_EQ(area.in.to_hand_back.length, 100U);
  area.in.hand_back(kLong);
  EXPECT_EQ(area.in.to_hand_back.length, 0U);
  area.put(kLong + 1);
  area.in.hand_back(kLong);  // touches no line
  EXPECT_EQ(area.in.to_hand_back.length, 0U);
}

TEST(MediumRing, NoGapWhereMemoryIsNotShared) {
  Area area;
  area.out.gap = area.in.gap = 0;
  EXPECT_EQ(area.put(1), 0);
  EXPECT_EQ(area.put(1), 64);
}

TEST(MediumRing, IsFullAtItsLastLineAndNotBefore) {
  Area area;
  for (int i = 0; i < 16; ++i) EXPECT_EQ(area.put(kLong), i * static_cast<int>(kLong));
  EXPECT_EQ(area.put(1), -1);
  area.done(0);
  EXPECT_EQ(area.put(kLong + 1), -1);
  EXPECT_EQ(area.put(kLong), 0);
}

TEST(MediumRing, PayloadThatWouldCrossTheEndBeginsAtTheNextLap) {
  Area area;
  EXPECT_EQ(area.put(8 * kLong), 0);
  EXPECT_EQ(area.put(5 * kLong), 8 * kLong);
  EXPECT_EQ(area.put(4 * kLong), -1);  // three are left at the end, and none before the first is
                                       // freed
  area.done(0);
  EXPECT_EQ(area.put(4 * kLong), 0);
  EXPECT_EQ(area.put(4 * kLong), 4 * kLong);
  EXPECT_EQ(area.put(kLong), -1);  // the bytes that were left out are not free
  area.done(1);
  EXPECT_EQ(area.put(kLong), 8 * kLong);
  area.done(2), area.done(3), area.done(4);
  EXPECT_EQ(area.put(7 * kLong), 9 * kLong);  // ends at the end
  EXPECT_EQ(area.put(kLong), 0);
}

TEST(MediumRing, BytesComeBackInOrderWhateverHandlerReturnsFirst) {
  Area area;
  for (int i = 0; i < 4; ++i) EXPECT_NE(area.put(4 * kLong), -1);
  EXPECT_EQ(area.in.done(2), 0U);
  EXPECT_EQ(area.in.done(1), 0U);
  EXPECT_EQ(area.in.done(0), 12 * kLong);
  EXPECT_EQ(area.in.done(3), 16 * kLong);
  area.out.released = 16 * kLong;
  EXPECT_NE(area.put(8 * kLong), -1);
  EXPECT_EQ(area.newest, 4U);
  EXPECT_EQ(area.in.done(4), 24 * kLong);
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
    // Short ones, with gaps, and long ones.
    const std::uint32_t most = random() % 2 == 0 ? 1024 : kSize / 2;
    const std::uint32_t length = static_cast<std::uint32_t>(random()) % most + 1;
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
