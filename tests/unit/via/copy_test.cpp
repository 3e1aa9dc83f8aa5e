#include "via/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace viaduct::via {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kGuard = 256;
constexpr std::byte kUntouched{0xa5};

// A source and a target of up to a given size, with guards around the target.
class Buffers {
 public:
  explicit Buffers(std::size_t capacity)
      : source_(capacity + 2 * kGuard), target_(capacity + 3 * kGuard, kUntouched) {
    std::uint32_t state = 12345;
    for (std::byte& byte : source_) {
      state = state * 1664525 + 1013904223;
      byte = static_cast<std::byte>(state >> 24);
    }
  }

  // Copies by `copy`, the ends so many bytes past a line, and says what is wrong, or nothing.
  template <typename Copy>
  std::string check(Copy copy, std::size_t to_shift, std::size_t from_shift, std::size_t bytes) {
    std::byte* const to = line_of(target_) + kGuard + to_shift;
    const std::byte* const from = line_of(source_) + from_shift;
    copy(to, from, bytes);
    std::string fault;
    if (!std::equal(to, to + bytes, from)) fault = "wrong bytes";
    const auto untouched = [](std::byte byte) { return byte == kUntouched; };
    if (!std::all_of(to - kGuard, to, untouched)) fault += " wrote before the target";
    if (!std::all_of(to + bytes, to + bytes + kGuard, untouched)) fault += " wrote past the target";
    std::fill(to, to + bytes, kUntouched);
    if (fault.empty()) return fault;
    return fault + ": " + std::to_string(bytes) + " bytes, target " + std::to_string(to_shift) +
           " and source " + std::to_string(from_shift) + " past a line";
  }

 private:
  static std::byte* line_of(std::vector<std::byte>& memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + (kLine - address % kLine) % kLine;
  }
  std::vector<std::byte> source_;
  std::vector<std::byte> target_;
};

class CopyBy : public testing::TestWithParam<CopyMethod> {
 protected:
  void SetUp() override {
    if (!copy_method_works(GetParam())) GTEST_SKIP() << "this CPU lacks the instructions";
  }
  static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    copy_bytes_by(GetParam(), to, from, bytes);
  }
};

TEST_P(CopyBy, EverySizeUpToOverAPage) {
  Buffers buffers(kPage + 3 * kLine);
  for (std::size_t bytes = 0; bytes <= kPage + 2 * kLine; ++bytes) {
    ASSERT_EQ(buffers.check(copy, bytes % kLine, (bytes / 7) % kLine, bytes), "");
  }
}

TEST_P(CopyBy, EveryAlignmentOfBothSides) {
  const std::size_t bytes = 4 * kPage + kLine + 1;  // at least one block, whatever the head
  Buffers buffers(bytes + kLine);
  for (std::size_t to_shift = 0; to_shift < kLine; ++to_shift) {
    for (std::size_t from_shift = 0; from_shift < kLine; ++from_shift) {
      ASSERT_EQ(buffers.check(copy, to_shift, from_shift, bytes), "");
    }
  }
}

TEST_P(CopyBy, SizesAroundPageAndBlockBoundaries) {
  Buffers buffers(9 * kPage + 2 * kLine);
  for (std::size_t pages = 1; pages <= 9; ++pages) {
    for (std::size_t less = 0; less <= 2 * kLine; ++less) {
      const std::size_t bytes = pages * kPage + kLine - less;
      ASSERT_EQ(buffers.check(copy, less % kLine, less % 3, bytes), "");
    }
  }
}

TEST_P(CopyBy, LargeOddSize) {
  const std::size_t bytes = (std::size_t{5} << 20) + 12345;
  Buffers buffers(bytes + kLine);
  EXPECT_EQ(buffers.check(copy, 1, 3, bytes), "");
  EXPECT_EQ(buffers.check(copy, 0, 0, bytes), "");
}

// The flag is stored after the copy with release only: streamed stores must have been fenced by the
// copy itself.
TEST_P(CopyBy, IsOrderedBeforeALaterRelease) {
  constexpr std::size_t kWords = 16384 / sizeof(std::uint64_t);
  constexpr std::uint64_t kRounds = 500;
  alignas(64) static std::array<std::uint64_t, kWords> target;
  target.fill(0);
  alignas(64) std::atomic<std::uint64_t> flag{0};
  alignas(64) std::atomic<std::uint64_t> seen{0};
  const auto await = [](const std::atomic<std::uint64_t>& word, std::uint64_t value) {
    while (word.load(std::memory_order_acquire) != value) std::this_thread::yield();
  };
  std::uint64_t stale = 0;
  std::thread reader([&] {
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      await(flag, round);
      for (std::size_t word = kWords; word-- > 0;) stale += target[word] != round ? 1 : 0;
      seen.store(round, std::memory_order_release);
    }
  });
  std::array<std::uint64_t, kWords> source;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    source.fill(round);
    copy_bytes_by(GetParam(), target.data(), source.data(), sizeof source);
    flag.store(round, std::memory_order_release);
    await(seen, round);
  }
  reader.join();
  EXPECT_EQ(stale, 0U);
}

INSTANTIATE_TEST_SUITE_P(Methods, CopyBy, testing::ValuesIn(kCopyMethods),
                         [](const auto& param_info) {
                           return std::string(to_string(param_info.param));
                         });

// Puts the threshold back whatever a test does to it.
class CopyBytes : public testing::Test {
 protected:
  void SetUp() override { set_copy_threshold(0); }
  void TearDown() override { set_copy_threshold(0); }
  static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    copy_bytes(to, from, bytes);
  }
};

TEST_F(CopyBytes, IsRightAroundItsThreshold) {
  Buffers buffers(kPage * 8 + 2 * kLine);
  for (const std::size_t threshold : {std::size_t{1}, kPage, kPage * 4 + 1, kPage * 8}) {
    set_copy_threshold(threshold);
    EXPECT_EQ(copy_threshold(), threshold);
    for (std::size_t past = 0; past <= 2 * kLine; ++past) {
      const std::size_t bytes = threshold + kLine > past ? threshold + kLine - past : 0;
      ASSERT_EQ(buffers.check(copy, past % kLine, past % 5, bytes), "");
    }
  }
}

TEST_F(CopyBytes, ForAReaderIsRightAtEverySize) {
  Buffers buffers(kMostForReader + 2 * kLine);
  const auto for_reader = [](std::byte* to, const std::byte* from, std::size_t bytes) {
    copy_for_reader(to, from, bytes);
  };
  for (std::size_t bytes = 0; bytes <= 4 * kLine; ++bytes)
    ASSERT_EQ(buffers.check(for_reader, bytes % kLine, bytes % 7, bytes), "");
  for (std::size_t less = 0; less <= kLine; ++less)
    ASSERT_EQ(buffers.check(for_reader, 0, less % 7, kMostForReader - less), "");
}

TEST_F(CopyBytes, AcceptsNothingFromNowhere) {
  copy_bytes(nullptr, nullptr, 0);
  set_copy_threshold(1);
  copy_bytes(nullptr, nullptr, 0);
  copy_for_reader(nullptr, nullptr, 0);
}

TEST_F(CopyBytes, FindsAThresholdOfItsOwn) {
  const std::size_t found = copy_threshold();
  EXPECT_GE(found, std::size_t{64} << 10) << "smaller than any second-level cache";
  set_copy_threshold(1);
  set_copy_threshold(0);
  EXPECT_EQ(copy_threshold(), found);
  set_copy_threshold(std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(copy_threshold(), std::numeric_limits<std::size_t>::max());
}

TEST(CopyMethods, TheLargeOneStreamsAndWorksHere) {
  EXPECT_TRUE(copy_method_works(large_copy_method()));
  EXPECT_EQ(std::string(to_string(large_copy_method())).rfind("stream_", 0), 0U);
}

TEST(CopyMethods, HaveDistinctNames) {
  std::vector<std::string> names;
  for (const CopyMethod method : kCopyMethods) names.emplace_back(to_string(method));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(std::count(names.begin(), names.end(), "unknown"), 0);
}

}  // namespace
}  // namespace viaduct::via
