// AtomicWord, load_word and store_word: as std::atomic, whose place in shared memory they take.

#include "viaduct/runtime/atomic.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>

#include <gtest/gtest.h>

namespace viaduct {
namespace {

enum class Colour : std::uint8_t { red, green };

// The same place in memory as the library's: both look at one word, in code of different age.
template <class T>
constexpr bool kSamePlace =
    sizeof(AtomicWord<T>) == sizeof(std::atomic<T>) &&
    alignof(AtomicWord<T>) == alignof(std::atomic<T>) &&
    std::is_standard_layout_v<AtomicWord<T>>&& std::is_trivially_destructible_v<AtomicWord<T>>;
static_assert(kSamePlace<bool>);
static_assert(kSamePlace<Colour>);
static_assert(kSamePlace<std::uint16_t>);
static_assert(kSamePlace<std::int32_t>);
static_assert(kSamePlace<std::uint64_t>);
static_assert(kSamePlace<const char*>);
static_assert(!std::is_copy_constructible_v<AtomicWord<int>>);
static_assert(!std::is_copy_assignable_v<AtomicWord<int>>);

// The library's orders mean the same, by whichever name.
static_assert(Order(std::memory_order_relaxed).value() == kRelaxed.value());
static_assert(Order(std::memory_order_acquire).value() == kAcquire.value());
static_assert(Order(std::memory_order_release).value() == kRelease.value());
static_assert(Order(std::memory_order_acq_rel).value() == __ATOMIC_ACQ_REL);
static_assert(Order(std::memory_order_seq_cst).value() == kSequential.value());

// Made before any code runs: words of static storage have their value in every constructor.
constinit AtomicWord<std::uint32_t> g_zero;
constinit AtomicWord<std::uint32_t> g_seven = 7;

TEST(AtomicWord, BeginsWithItsValue) {
  EXPECT_EQ(g_zero.load(), 0u);
  EXPECT_EQ(g_seven.load(), 7u);
  EXPECT_EQ(AtomicWord<const char*>().load(), nullptr);
  EXPECT_EQ(AtomicWord<Colour>(Colour::green).load(), Colour::green);
}

TEST(AtomicWord, LoadsAndStoresInEveryOrder) {
  AtomicWord<std::uint64_t> word;
  std::uint64_t value = 0x0123456789abcdef;
  for (const Order order : {kRelaxed, kRelease, kSequential}) {
    word.store(++value, order);
    EXPECT_EQ(word.load(kRelaxed), value);
    EXPECT_EQ(word.load(kAcquire), value);
    EXPECT_EQ(word.load(), value);
  }
  AtomicWord<Colour> colour;
  colour.store(Colour::green);
  EXPECT_EQ(colour.load(), Colour::green);
}

TEST(AtomicWord, ChangesAnswerTheValueBefore) {
  AtomicWord<std::uint32_t> word = 12;
  EXPECT_EQ(word.exchange(20), 12u);
  EXPECT_EQ(word.fetch_add(3, kRelaxed), 20u);
  EXPECT_EQ(word.fetch_sub(1, kAcquire), 23u);
  EXPECT_EQ(word.fetch_or(0x100, kRelease), 22u);
  EXPECT_EQ(word.fetch_and(0x106), 0x116u);
  EXPECT_EQ(word.load(), 0x106u);
}

TEST(AtomicWord, ExchangesWhatIsExpectedOnly) {
  for (const Order order :
       {kRelaxed, kAcquire, kRelease, Order(std::memory_order_acq_rel), kSequential}) {
    AtomicWord<std::int32_t> word = -5;
    std::int32_t expected = -4;
    EXPECT_FALSE(word.compare_exchange_strong(expected, 9, order));
    EXPECT_EQ(expected, -5) << "a failed exchange tells what is there";
    EXPECT_EQ(word.load(), -5);
    EXPECT_TRUE(word.compare_exchange_strong(expected, 9, order));
    EXPECT_EQ(expected, -5);
    EXPECT_EQ(word.load(), 9);
  }
}

TEST(AtomicWord, NeighboursStayAsTheyWere) {
  struct {
    AtomicWord<std::uint8_t> words[4];
  } line;
  for (std::size_t i = 0; i < 4; ++i) line.words[i].store(static_cast<std::uint8_t>(0xa0 + i));
  line.words[1].fetch_add(0x60);  // wraps: nothing is carried over
  line.words[2].store(0xff);
  EXPECT_EQ(line.words[0].load(), 0xa0);
  EXPECT_EQ(line.words[1].load(), 0x01);
  EXPECT_EQ(line.words[2].load(), 0xff);
  EXPECT_EQ(line.words[3].load(), 0xa3);
}

TEST(AtomicWord, ThreadsLoseNoIncrement) {
  constexpr std::uint32_t kEach = 300'000;
  AtomicWord<std::uint32_t> started;
  AtomicWord<std::uint32_t> sum;
  AtomicWord<std::uint32_t> swapped;
  const auto work = [&] {
    started.fetch_add(1);
    while (started.load() != 2) std::this_thread::yield();
    for (std::uint32_t i = 0; i < kEach; ++i) {
      sum.fetch_add(1, kRelaxed);
      std::uint32_t seen = swapped.load(kRelaxed);
      while (!swapped.compare_exchange_strong(seen, seen + 1, kRelaxed)) {
      }
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(sum.load(), 2 * kEach);
  EXPECT_EQ(swapped.load(), 2 * kEach);
}

TEST(AtomicWord, WhatWasWrittenBeforeAReleaseIsSeenAfterTheAcquire) {
  constexpr std::uint32_t kRounds = 20'000;
  AtomicWord<std::uint32_t> turn;
  std::uint32_t plain = 0;  // no atomic word: preset tsan reports it when nothing orders it
  std::thread other([&] {
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      while (turn.load(kAcquire) != 2 * round - 1) std::this_thread::yield();
      ++plain;
      turn.store(2 * round, kRelease);
    }
  });
  for (std::uint32_t round = 1; round <= kRounds; ++round) {
    ++plain;
    turn.store(2 * round - 1, kRelease);
    while (turn.load(kAcquire) != 2 * round) std::this_thread::yield();
    ASSERT_EQ(plain, 2 * round);
  }
  other.join();
}

TEST(Word, IsLoadedAndStoredWhole) {
  std::uint64_t word = 5;
  EXPECT_EQ(load_word(word, kAcquire), 5u);
  store_word(word, 0xfedcba9876543210, kRelease);
  EXPECT_EQ(word, 0xfedcba9876543210);
  EXPECT_EQ(load_word(word, kRelaxed), word);
}

}  // namespace
}  // namespace viaduct
