#include "benchmarks/common/block_link.hpp"

#include <sched.h>
#include <stdexcept>

#include <fmt/format.h>

#include "benchmarks/common/stopwatch.hpp"
#include "benchmarks/common/yardsticks.hpp"

namespace viaduct::bench {
namespace {

/// Yields after a while: another program may occupy the core of the awaited rank.
void spin_until(const PairPage::Word& word, std::uint64_t mark,
                const std::function<void()>& meanwhile = {}) {
  constexpr int kSpins = 100'000;
  for (int looks = 0; word.value.load(std::memory_order_acquire) != mark; ++looks) {
    if (meanwhile) meanwhile();
    if (looks >= kSpins) sched_yield();
  }
}

void raise(PairPage::Word& word, std::uint64_t mark) noexcept {
  word.value.store(mark, std::memory_order_release);
}

constexpr std::size_t kPageBytes = 4096;

/// Word i is i; in every word that is new, it is i + @p mark.
void write_words(std::byte* to, std::size_t bytes, std::uint64_t mark, std::size_t step) noexcept {
  auto* const words = reinterpret_cast<std::uint64_t*>(to);
  for (std::size_t at = 0; at < bytes; at += step)
    words[at / sizeof mark] = at / sizeof mark + mark;
}
std::uint64_t sum_of_words(std::size_t bytes, std::uint64_t mark, std::size_t step) noexcept {
  const std::uint64_t n = bytes / sizeof mark;
  return n * (n - 1) / 2 + (bytes + step - 1) / step * mark;
}

void check(std::uint64_t sum, std::uint64_t expected) {
  if (sum == expected) return;
  throw std::runtime_error(fmt::format(
      "a block did not arrive as it was sent: the words' sum is {} instead of {}", sum, expected));
}

}  // namespace

BlockLink::Bandwidth BlockLink::round(const Mover& mover, const Block& block,
                                      std::uint32_t blocks) {
  const bool source_is_mine = mover.fetches != pair_.is_sender();
  const std::size_t step = mover.all_new ? sizeof(std::uint64_t) : kPageBytes;
  if (source_is_mine) write_words(block.from, block.bytes, 0, sizeof(std::uint64_t));
  for (std::uint32_t i = 0; i <= blocks; ++i) {
    if (i == 1) alone_ns_ = read_ns_ = 0;  // the first block's lines are where other ways left them
    ++mark_;
    if (source_is_mine) write_words(block.from, block.bytes, mark_, step);
    const std::uint64_t expected = sum_of_words(block.bytes, mark_, step);
    pair_.meet();
    pair_.meet();  // a rank that has waited long for the first one has its core again
    if (pair_.is_sender())
      move_one(mover, block, expected);
    else
      take_one(mover, block, expected);
  }
  const double bytes = static_cast<double>(block.bytes) * blocks;
  return {pair_.from_sender(bytes / alone_ns_), pair_.from_sender(bytes / read_ns_)};
}

void BlockLink::move_one(const Mover& mover, const Block& block, std::uint64_t expected) {
  const Stopwatch watch;
  mover.move(block);
  double alone = watch.elapsed_ns();
  const std::uint64_t sum = mover.fetches ? sum_words(block.to, block.bytes) : expected;
  double read = watch.elapsed_ns();
  raise(flags_.moved, mark_);
  spin_until(flags_.arrived, mark_, mover.push);
  if (mover.ends_at_peer) alone = watch.elapsed_ns();
  spin_until(flags_.read, mark_);
  if (!mover.fetches) read = watch.elapsed_ns();
  check(sum, expected);
  alone_ns_ += alone;
  read_ns_ += read;
}

void BlockLink::take_one(const Mover& mover, const Block& block, std::uint64_t expected) {
  if (mover.serve) {
    while (flags_.moved.value.load(std::memory_order_acquire) != mark_) mover.serve();
  } else {
    spin_until(flags_.moved, mark_);
  }
  if (mover.arrive) mover.arrive(block);
  raise(flags_.arrived, mark_);
  const std::uint64_t sum = mover.fetches ? expected : sum_words(block.to, block.bytes);
  raise(flags_.read, mark_);
  check(sum, expected);
}

}  // namespace viaduct::bench
