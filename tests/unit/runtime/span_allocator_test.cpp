// Spans against a model that knows every grain; what the model says must be what the list says.

#include "viaduct/runtime/span_allocator.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace {

using viaduct::SpanAllocator;
constexpr std::size_t kGrain = 64;

TEST(SpanAllocator, LowestPlaceFirst) {
  SpanAllocator spans(1024, kGrain);
  EXPECT_EQ(spans.try_allocate(1, 1), 0U);
  EXPECT_EQ(spans.try_allocate(65, 1), 64U);
  EXPECT_EQ(spans.try_allocate(0, 1), 192U);
  EXPECT_EQ(spans.allocated_bytes(), 66U);
  EXPECT_EQ(spans.bytes_at(64), 65U);
  EXPECT_EQ(spans.bytes_at(192), 1U) << "a span of no bytes is a span";
  EXPECT_EQ(spans.bytes_at(128), 0U) << "inside one";
  EXPECT_EQ(spans.largest_free_bytes(), 1024U - 256U);
  const auto released = spans.try_release(64);
  ASSERT_TRUE(released);
  EXPECT_EQ(released->bytes, 128U);
  EXPECT_EQ(released->free_from, 64U);
  EXPECT_EQ(released->free_to, 192U);
  EXPECT_FALSE(spans.try_release(64)) << "twice";
  EXPECT_FALSE(spans.try_release(63));
  EXPECT_EQ(spans.try_allocate(129, 1), 256U) << "the hole is too small";
  EXPECT_EQ(spans.try_allocate(128, 1), 64U) << "the hole fits";
}

TEST(SpanAllocator, AlignmentLeavesTheRestFree) {
  SpanAllocator spans(4096, kGrain);
  EXPECT_EQ(spans.try_allocate(10, 1), 0U);
  EXPECT_EQ(spans.try_allocate(10, 1024), 1024U);
  EXPECT_EQ(spans.try_allocate(960, 1), 64U);
}

TEST(SpanAllocator, FullMeansEmptyAnswer) {
  SpanAllocator spans(1000, kGrain);  // 960 in whole grains
  EXPECT_EQ(spans.total_bytes(), 960U);
  EXPECT_FALSE(spans.try_allocate(961, 1));
  EXPECT_FALSE(spans.try_allocate(~std::size_t{0}, 1));
  EXPECT_FALSE(spans.try_allocate(~std::size_t{0} - 10, 1));
  EXPECT_EQ(spans.try_allocate(960, 1), 0U);
  EXPECT_FALSE(spans.try_allocate(0, 1));
  EXPECT_EQ(spans.largest_free_bytes(), 0U);
  SpanAllocator none(0, kGrain);
  EXPECT_FALSE(none.try_allocate(0, 1));
}

/// One flag per grain; first fit by looking at each.
class Model {
 public:
  explicit Model(std::size_t grains) : taken_(grains, 0) {}

  [[nodiscard]] std::size_t find(std::size_t grains, std::size_t alignment) const {
    for (std::size_t at = 0; at + grains <= taken_.size(); at += alignment) {
      if (run_at(at) >= grains) return at;
    }
    return taken_.size();
  }
  void set(std::size_t at, std::size_t grains, char value) {
    std::fill_n(taken_.begin() + static_cast<std::ptrdiff_t>(at), grains, value);
  }
  [[nodiscard]] std::size_t run_at(std::size_t at) const {
    std::size_t end = at;
    while (end < taken_.size() && taken_[end] == 0) ++end;
    return end - at;
  }
  [[nodiscard]] std::size_t free_begin(std::size_t at) const {
    while (at > 0 && taken_[at - 1] == 0) --at;
    return at;
  }
  [[nodiscard]] std::size_t largest() const {
    std::size_t most = 0;
    for (std::size_t at = 0; at < taken_.size(); ++at) most = std::max(most, run_at(at));
    return most;
  }

 private:
  std::vector<char> taken_;
};

TEST(SpanAllocator, RandomCallsAgreeWithTheModel) {
  constexpr std::size_t kGrains = 300;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    SpanAllocator spans(kGrains * kGrain, kGrain);
    Model model(kGrains);
    std::map<std::size_t, std::size_t> held;  // offset to bytes
    std::size_t sum = 0;
    int refused = 0;
    for (int step = 0; step < 3000; ++step) {
      if (random() % 2 == 0 || held.empty()) {
        const std::size_t bytes = random() % (20 * kGrain);
        const std::size_t alignment = std::size_t{1} << random() % 10;
        const std::size_t grains = std::max<std::size_t>(1, (bytes + kGrain - 1) / kGrain);
        const std::size_t at = model.find(grains, std::max<std::size_t>(1, alignment / kGrain));
        const auto offset = spans.try_allocate(bytes, alignment);
        ASSERT_EQ(offset.has_value(), at < kGrains);
        refused += offset ? 0 : 1;
        if (!offset) continue;
        ASSERT_EQ(*offset, at * kGrain);
        model.set(at, grains, 1);
        held.emplace(*offset, bytes);
        sum += bytes;
      } else {
        const auto victim =
            std::next(held.begin(), static_cast<std::ptrdiff_t>(random() % held.size()));
        const auto [offset, bytes] = *victim;
        held.erase(victim);
        sum -= bytes;
        const std::size_t grains = std::max<std::size_t>(1, (bytes + kGrain - 1) / kGrain);
        const auto released = spans.try_release(offset);
        ASSERT_TRUE(released);
        model.set(offset / kGrain, grains, 0);
        const std::size_t from = model.free_begin(offset / kGrain);
        EXPECT_EQ(released->bytes, grains * kGrain);
        EXPECT_EQ(released->free_from, from * kGrain);
        EXPECT_EQ(released->free_to, (from + model.run_at(from)) * kGrain);
      }
      ASSERT_EQ(spans.allocated_bytes(), sum);
      if (step % 50 == 0) {
        ASSERT_EQ(spans.largest_free_bytes(), model.largest() * kGrain);
      }
    }
    EXPECT_GT(refused, 0) << "never full: the test tests too little";
  }
}

}  // namespace
