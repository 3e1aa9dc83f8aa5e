/// @file
/// Arithmetic, comparisons and conversions of global and spread pointers, by themselves: no other
/// process is reached.

#include <algorithm>
#include <iterator>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "viaduct/splitc.hpp"

namespace {

using namespace viaduct::splitc;

/// Makes this one process number @p myproc of @p procs for as long as it lives.
class Position {
 public:
  explicit Position(std::uint32_t procs, std::uint32_t myproc = 0) {
    detail::hot.procs = procs;
    detail::hot.myproc = myproc;
  }
  ~Position() {
    detail::hot.procs = 1;
    detail::hot.myproc = 0;
  }
  Position(const Position&) = delete;
  Position& operator=(const Position&) = delete;
};

struct Twelve {
  int a[3];
};
struct Base {
  int first;
  double second;
};
struct Node : Base {
  char letter;
  long numbers[3];
};

template <class T>
global_ptr<T> at(std::uint32_t process, std::uint64_t address) {
  return global_ptr<T>::from_word(detail::make_word(process, address));
}
template <class T>
spread_ptr<T> spread_at(std::uint32_t process, std::uint64_t address) {
  return spread_ptr<T>::from_word(detail::make_word(process, address));
}

constexpr std::uint64_t kBase = 0x1000000000;

// The language's rule, written down a second time: lin = process + n, floor division.
std::uint64_t by_the_rule(std::uint64_t word, long n, long procs, long bytes) {
  const long lin = static_cast<long>(detail::process_of(word)) + n;
  long row = lin / procs;
  if (lin % procs != 0 && lin < 0) --row;
  const long process = lin - row * procs;
  return detail::make_word(
      static_cast<std::uint32_t>(process),
      static_cast<std::uint64_t>(static_cast<long>(detail::address_of(word)) + row * bytes));
}

TEST(Word, HoldsProcessAndAddress) {
  for (const std::uint32_t process : {0U, 1U, 255U, 65535U})
    for (const std::uint64_t address : {std::uint64_t{1}, kBase, detail::kAlignedBit - 1}) {
      const std::uint64_t word = detail::make_word(process, address);
      EXPECT_EQ(detail::process_of(word), process);
      EXPECT_EQ(detail::address_of(word), address);
    }
}

TEST(Word, HasThePlaceInItWhereRegionsAreAligned) {
  const std::uint64_t word = detail::make_word(5, kBase + 8);
  const std::uint64_t place = word & (detail::kAlignedBit - 1);
  if (detail::alignment.bytes == 0) {
    EXPECT_EQ(place, kBase + 8);
    return;
  }
  constexpr std::uint64_t kBytes = 1 << 26;  // see run()
  EXPECT_EQ(place, (std::uint64_t{1} << 43) + 5 * kBytes + kBytes / 2 + 8);
  EXPECT_EQ(detail::aligned_place(word), reinterpret_cast<std::byte*>(place));
  EXPECT_EQ(detail::make_word(5, 8) & detail::kAlignedBit, 0U) << "below the region";
  const std::uint64_t end = detail::alignment.first + detail::alignment.bytes;
  EXPECT_NE(detail::make_word(5, end - 1) & detail::kAlignedBit, 0U);
  EXPECT_EQ(detail::make_word(5, end) & detail::kAlignedBit, 0U) << "behind the region";
}

TEST(Word, LeadsOutOfTheRegionAndBack) {
  for (const std::uint64_t far : {std::uint64_t{1} << 26, std::uint64_t{3} << 26, 0 - kBase / 2}) {
    const std::uint64_t word = detail::make_word(5, kBase + 8) + far;
    EXPECT_EQ(detail::address_of(word), kBase + 8 + far);
    EXPECT_EQ(detail::address_of(word - far), kBase + 8);
  }
}

TEST(GlobalPtr, IsOneTriviallyCopyableWord) {
  static_assert(sizeof(global_ptr<Twelve>) == 8 && sizeof(spread_ptr<Twelve>) == 8);
  static_assert(std::is_trivially_copyable_v<global_ptr<Node>>);
  static_assert(std::is_trivially_copyable_v<spread_ptr<Node>>);
  static_assert(Value<global_ptr<int>> && detail::kIsWord<spread_ptr<int>>);
  static_assert(global_ptr<int>::from_word(42).word() == 42);
  static_assert(!global_ptr<int>() && global_ptr<int>(nullptr) == global_ptr<int>());
}

TEST(GlobalPtr, ArithmeticStaysInItsProcess) {
  auto p = at<Twelve>(7, kBase);
  EXPECT_EQ((p + 5).word(), detail::make_word(7, kBase + 60));
  EXPECT_EQ((5 + p).word(), (p + 5).word());
  EXPECT_EQ((p - 5).word(), detail::make_word(7, kBase - 60));
  EXPECT_EQ((p + 5) - p, 5);
  EXPECT_EQ(p - (p + 5), -5);
  EXPECT_EQ((p++).word(), detail::make_word(7, kBase));
  EXPECT_EQ((++p).word(), detail::make_word(7, kBase + 24));
  EXPECT_EQ((p--).word(), detail::make_word(7, kBase + 24));
  EXPECT_EQ((--p).word(), detail::make_word(7, kBase));
  p += -1;
  p -= -2;
  EXPECT_EQ(p.word(), detail::make_word(7, kBase + 12));
}

TEST(GlobalPtr, NullIsNullWithWhateverProcess) {
  Position here(4, 2);
  const auto null = at<int>(3, 0);
  EXPECT_FALSE(null);
  EXPECT_EQ(null, nullptr);
  EXPECT_EQ(null, at<int>(1, 0));
  EXPECT_TRUE(null <= at<int>(1, 0) && null >= at<int>(1, 0));
  int* nothing = nullptr;
  EXPECT_EQ(global_ptr<int>(nothing).word(), 0U) << "never (MYPROC, 0)";
  EXPECT_EQ(toglobal(3, nothing).word(), 0U);
  EXPECT_EQ(tolocal(global_ptr<int>()), nullptr);
  EXPECT_EQ(tolocal(null), nullptr);
  EXPECT_FALSE(spread_at<int>(3, 0));
  EXPECT_EQ(spread_at<int>(3, 0), nullptr);
}

TEST(GlobalPtr, ComparesByProcessThenAddress) {
  const auto a = at<int>(1, 64);
  const auto b = at<int>(1, 68);
  const auto c = at<int>(2, 4);
  EXPECT_TRUE(a < b && b < c && a < c && c > a && a <= a && a != b && a == at<int>(1, 64));
}

TEST(GlobalPtr, LocalPointersGoThereAndBack) {
  Position here(4, 2);
  static int object = 0;
  const auto mine = toglobal(&object);
  EXPECT_EQ(toproc(mine), 2);
  EXPECT_EQ(tolocal(mine), &object);
  const auto theirs = toglobal(3, &object);
  EXPECT_EQ(toproc(theirs), 3);
  EXPECT_EQ(tolocal(theirs), &object) << "the cast to a local pointer drops the process";
  EXPECT_NE(mine, theirs);
}

TEST(GlobalPtr, ConvertsAsPointersDo) {
  const auto p = at<Node>(5, kBase);
  const global_ptr<const Node> to_const = p;
  const global_ptr<void> to_void = p;
  EXPECT_EQ(to_const.word(), p.word());
  EXPECT_EQ(to_void.word(), p.word());
  EXPECT_EQ(global_ptr<Node>(to_void).word(), p.word()) << "explicit, as a cast";
  EXPECT_EQ(global_ptr<char>(p).word(), p.word());
  static_assert(!std::is_convertible_v<global_ptr<void>, global_ptr<Node>>);
  static_assert(!std::is_convertible_v<global_ptr<const Node>, global_ptr<Node>>);
  static_assert(!std::is_convertible_v<int*, global_ptr<int>>, "a local pointer names no process");
  static_assert(!std::is_convertible_v<global_ptr<int>, bool>);
  static_assert(!std::is_convertible_v<global_ptr<int>, int*>);
  static_assert(!std::is_convertible_v<global_ptr<int>, spread_ptr<int>>);
  static_assert(std::is_convertible_v<spread_ptr<int>, global_ptr<int>>, "the bits stay");
}

TEST(GlobalPtr, FieldPointsToAMember) {
  const auto p = at<Node>(5, kBase);
  static Node object{};
  const auto offset = [](const void* member) {
    return static_cast<std::uint64_t>(static_cast<const char*>(member) -
                                      reinterpret_cast<const char*>(&object));
  };
  EXPECT_EQ(p.field(&Node::letter).word(), p.word() + offset(&object.letter));
  EXPECT_EQ(p.field(&Node::numbers).word(), p.word() + offset(&object.numbers));
  const global_ptr<int> first = p.field(&Node::first);
  EXPECT_EQ(first.word(), p.word() + offset(&object.first));
  EXPECT_EQ(p.field(&Base::second).word(), p.word() + offset(&object.second));
  const global_ptr<const Node> frozen = p;
  static_assert(std::is_same_v<decltype(frozen.field(&Node::letter)), global_ptr<const char>>);
}

TEST(GlobalPtr, TheAddressOfAReferenceIsThePointer) {
  const auto p = at<int>(1, kBase);
  EXPECT_EQ(&*p, p);
  EXPECT_EQ(&p[3], p + 3);
  Position here(3);
  const auto s = spread_at<int>(1, kBase);
  EXPECT_EQ(&s[2], global_ptr<int>(s + 2));
}

TEST(SpreadPtr, EveryStepFollowsTheRule) {
  std::mt19937_64 random(20260101);
  for (const std::uint32_t procs : {1U, 2U, 3U, 4U, 7U, 16U, 1000U, 65535U}) {
    Position here(procs);
    for (int i = 0; i < 2000; ++i) {
      const auto process = static_cast<std::uint32_t>(random() % procs);
      const auto p = spread_at<Twelve>(process, kBase + random() % 4096);
      const long n = static_cast<long>(random() % (6UL * procs + 1)) - 3L * procs;
      ASSERT_EQ((p + n).word(), by_the_rule(p.word(), n, procs, sizeof(Twelve)))
          << procs << " processes, from " << process << " by " << n;
      ASSERT_EQ((p - n).word(), by_the_rule(p.word(), -n, procs, sizeof(Twelve)));
      ASSERT_EQ((p + n) - p, n);
      ASSERT_EQ(p - (p + n), -n);
      ASSERT_EQ((p + n) - n, p);
    }
  }
}

TEST(SpreadPtr, SingleStepsAreStepsByOne) {
  for (const std::uint32_t procs : {1U, 2U, 5U, 65535U}) {
    Position here(procs);
    for (const std::uint32_t process : {0U, procs / 2, procs - 1}) {
      auto p = spread_at<Twelve>(process, kBase);
      const auto before = p;
      EXPECT_EQ((++p).word(), by_the_rule(before.word(), 1, procs, sizeof(Twelve)));
      EXPECT_EQ((--p).word(), before.word());
      EXPECT_EQ((--p).word(), by_the_rule(before.word(), -1, procs, sizeof(Twelve)));
      EXPECT_EQ((p++).word(), by_the_rule(before.word(), -1, procs, sizeof(Twelve)));
      EXPECT_EQ((p--).word(), before.word());
    }
  }
}

TEST(SpreadPtr, StepsAddUp) {
  Position here(7);
  const auto p = spread_at<double>(4, kBase);
  for (long a = -40; a <= 40; ++a)
    for (long b = -40; b <= 40; ++b) ASSERT_EQ((p + a) + b, p + (a + b)) << a << " and " << b;
}

TEST(SpreadPtr, OrderIsThatOfTheArray) {
  Position here(3);
  const auto p = spread_at<int>(1, kBase);
  for (long a = -7; a <= 7; ++a)
    for (long b = -7; b <= 7; ++b) {
      ASSERT_EQ(p + a < p + b, a < b) << a << " and " << b;
      ASSERT_EQ(p + a == p + b, a == b) << a << " and " << b;
      ASSERT_EQ(p + a >= p + b, a >= b) << a << " and " << b;
    }
}

TEST(SpreadPtr, CastsKeepTheBits) {
  Position here(3);
  const auto s = spread_at<int>(2, kBase);
  const global_ptr<int> g = s;
  EXPECT_EQ(g.word(), s.word());
  EXPECT_EQ((g + 1).word(), detail::make_word(2, kBase + 4));
  EXPECT_EQ((s + 1).word(), detail::make_word(0, kBase + 4));
  EXPECT_EQ(spread_ptr<int>(g), s);
  const spread_ptr<const int> to_const = s;
  EXPECT_EQ(to_const.word(), s.word());
  EXPECT_EQ(toproc(s), 2);
}

TEST(SpreadPtr, StandardAlgorithmsCountAndSearch) {
  Position here(3);
  const auto first = spread_at<long>(0, kBase);
  EXPECT_EQ(std::distance(first, first + 10), 10);
  EXPECT_EQ(std::next(first, 4), first + 4);
  EXPECT_EQ(std::prev(first + 4), first + 3);
  auto it = first;
  std::advance(it, -5);
  EXPECT_EQ(it.word(), by_the_rule(first.word(), -5, 3, 8));
}

TEST(SpreadRange, GoesThroughEveryElementOnce) {
  Position here(4);
  const spread_range<int> range(spread_at<int>(2, kBase), 11);
  long steps = 0;
  for (auto it = range.begin(); it != range.end(); ++it) {
    EXPECT_EQ(it.word(), by_the_rule(range.begin().word(), steps, 4, 4));
    ++steps;
  }
  EXPECT_EQ(steps, range.size());
  EXPECT_TRUE(spread_range<int>(range.begin(), 0).empty());
}

TEST(SpreadRange, TheProcessesElementsMakeUpTheWhole) {
  static std::vector<int> memory(4096);
  for (const std::uint32_t procs : {1U, 2U, 3U, 7U})
    for (std::uint32_t start = 0; start < procs; ++start)
      for (long count = 0; count <= 3L * procs + 2; ++count) {
        std::vector<std::uint64_t> found;
        for (std::uint32_t me = 0; me < procs; ++me) {
          Position here(procs, me);
          const spread_ptr<int> first(toglobal(static_cast<int>(start), memory.data() + 8));
          const auto mine = spread_range<int>(first, count).mine();
          for (int& element : mine)
            found.push_back(toglobal(static_cast<int>(me), &element).word());
        }
        Position here(procs, 0);
        const spread_ptr<int> first(toglobal(static_cast<int>(start), memory.data() + 8));
        std::vector<std::uint64_t> wanted;
        for (long i = 0; i < count; ++i) wanted.push_back((first + i).word());
        std::sort(found.begin(), found.end());
        std::sort(wanted.begin(), wanted.end());
        ASSERT_EQ(found, wanted) << procs << " processes, from " << start << ", " << count;
      }
}

TEST(Prefetch, AsksNothingOfItsPointer) {
  prefetch(global_ptr<int>());
  prefetch(at<Twelve>(7, 0x7fff00000000));
  prefetch(spread_at<const double>(65535, 8));
}

}  // namespace

/// Runs the tests as in a job where objects around kBase have aligned words, or plain ones.
int run(bool aligned) {
  constexpr std::uint64_t kBytes = 1 << 26;
  constexpr std::uint64_t kOrigin = detail::kAlignedBit + (std::uint64_t{1} << 43);
  constexpr std::uint64_t kStep = (std::uint64_t{1} << detail::kProcessShift) + kBytes;
  const auto bit = std::exchange(detail::hot.aligned_bit, aligned ? detail::kAlignedBit : 0);
  const auto before =
      std::exchange(detail::alignment,
                    detail::Alignment{kBase - kBytes / 2, aligned ? kBytes : 0, kOrigin, kStep, 8});
  const int failed = RUN_ALL_TESTS();
  detail::hot.aligned_bit = bit;
  detail::alignment = before;
  return failed;
}

int splitc_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return run(false) + run(true);
}
