// Ranges of pages, and programs that lie at different addresses.

#include "splitc/src/image.hpp"

#include <gtest/gtest.h>
#include <link.h>
#include <random>
#include <set>
#include <utility>

#include "splitc/src/region.hpp"

namespace {

using viaduct::splitc::detail::Image;
using viaduct::splitc::detail::ImageShift;
using viaduct::splitc::detail::PageRange;
using viaduct::splitc::detail::subtract;

bool holds(const std::vector<PageRange>& ranges, std::uintptr_t page) {
  for (const PageRange& r : ranges) {
    if (r.begin <= page && page < r.end) return true;
  }
  return false;
}

TEST(PageRanges, RandomHoles) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<PageRange> ranges{{10, 90}};
    std::set<std::uintptr_t> model;
    for (std::uintptr_t page = 10; page < 90; ++page) model.insert(page);
    for (int i = 0; i < 6; ++i) {
      const std::uintptr_t begin = random() % 100;
      const PageRange hole{begin, begin + random() % 30};
      subtract(ranges, hole);
      for (std::uintptr_t page = hole.begin; page < hole.end; ++page) model.erase(page);
    }
    for (std::uintptr_t page = 0; page < 130; ++page)
      ASSERT_EQ(holds(ranges, page), model.count(page) == 1) << "seed " << seed << " page " << page;
    for (const PageRange& r : ranges) ASSERT_LT(r.begin, r.end);
  }
}

/// Whatever the distance of the two places: every address has a counterpart of its own, and those
/// of the program are where process 0 has them.
TEST(ImageShift, IsInvertible) {
  constexpr std::uint64_t kSize = 50;
  for (std::uint64_t here = 100; here < 300; here += 7) {
    for (std::uint64_t there = 100; there < 300; there += 3) {
      const ImageShift shift({here, here + kSize}, {there, there + kSize});
      EXPECT_EQ(shift.moves(), here != there);
      std::set<std::uint64_t> seen;
      for (std::uint64_t a = 0; a < 500; ++a) {
        const std::uint64_t global = shift.globalize(a);
        ASSERT_EQ(shift.localize(global), a) << here << ' ' << there;
        ASSERT_TRUE(seen.insert(global).second) << here << ' ' << there << ' ' << a;
        if (a >= here && a < here + kSize) {
          ASSERT_EQ(global, there + (a - here));
        } else if (a < there || a >= there + kSize) {
          ASSERT_EQ(global, a);
        }
      }
    }
  }
}

int g_zeroed[5000];
int g_initialised[5000] = {1};
const int g_constant[5000] = {1};

bool has_static(const Image& image, const void* object, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(object);
  return holds(image.statics, at) && holds(image.statics, at + bytes - 1);
}

TEST(Image, KnowsThisProgram) {
  const Image image = viaduct::splitc::detail::main_image();
  EXPECT_TRUE(image.has_interpreter);
  EXPECT_TRUE(has_static(image, g_zeroed, sizeof g_zeroed));
  EXPECT_TRUE(has_static(image, g_initialised, sizeof g_initialised));
  EXPECT_FALSE(has_static(image, g_constant, sizeof g_constant));
  EXPECT_FALSE(has_static(image, reinterpret_cast<const void*>(_r_debug.r_brk), 1)) << "a library";
  int local = 0;
  EXPECT_FALSE(has_static(image, &local, sizeof local));
  const auto code = reinterpret_cast<std::uintptr_t>(&has_static);
  EXPECT_TRUE(holds({image.all}, code)) << "pointers to functions move with the program";
  EXPECT_FALSE(holds(image.statics, code));
  for (const PageRange& r : image.statics) {
    EXPECT_EQ(r.begin % 4096, 0U);
    EXPECT_EQ(r.end % 4096, 0U);
    EXPECT_TRUE(image.all.begin <= r.begin && r.end <= image.all.end);
  }
}

TEST(RegionLayout, PartsDoNotOverlap) {
  using viaduct::splitc::detail::lay_out;
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  for (const std::uint32_t processes : {1U, 2U, 7U, 1000U, 65536U}) {
    for (const std::size_t spread : {kMiB, 3 * kMiB + 12345, 16384 * kMiB}) {
      const auto layout = lay_out(0x1000000000, spread, 64 * kMiB, processes);
      EXPECT_EQ(layout.alike_bytes % 4096, 0U);
      EXPECT_LE(layout.alike_bytes, layout.slices_at);
      EXPECT_LE(layout.slices_at + layout.slice_bytes * processes, spread);
      EXPECT_LE(spread, layout.heap_at);
      EXPECT_EQ(layout.heap_at % (32 * kMiB), 0U);
      EXPECT_EQ(layout.region_bytes, layout.heap_at + 64 * kMiB);
      EXPECT_GT(layout.statics_at, layout.region_bytes) << "a word may cross the region's end";
    }
  }
}

}  // namespace
