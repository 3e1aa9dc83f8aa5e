#pragma once
/// @file
/// The traffic of two ranks over one VI, the same for each interface (vi_ends.hpp): ping-pong,
/// messages in one direction, RDMA.

#include <sched.h>
#include <time.h>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "benchmarks/common/block_link.hpp"
#include "benchmarks/common/pair.hpp"
#include "benchmarks/common/statistics.hpp"
#include "benchmarks/common/stopwatch.hpp"
#include "benchmarks/common/vi_ends.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct::bench {

/// Descriptors of each work queue.
inline constexpr std::uint32_t kTrafficDepth = 64;
/// The memory of a rank: sources, then targets.
inline constexpr std::size_t kTrafficHalf = std::size_t{4} << 20;

/// How a rank asks for a message.
enum class Waiting : std::uint8_t {
  poll,   ///< the interface's call that never blocks, again and again
  block,  ///< the interface's call that waits
};

/// Milliseconds of this thread, user and system.
[[nodiscard]] double thread_cpu_ms() noexcept;

template <class End>
class ViTraffic {
 public:
  /// Both construct. @p memory: of twice kTrafficHalf, which @p end has registered. @p consumed: a
  /// zeroed word that both have mapped.
  ViTraffic(End& end, Pair& pair, std::byte* memory, PairPage::Word& consumed)
      : end_(end), pair_(pair), memory_(memory), consumed_(consumed.value) {
    remote_ = exchange_memory(pair, memory, end.handle());
  }

  /// Send and receive of @p bytes to and fro: RTT/2, the same at both. The first bytes and the
  /// length of each message are checked.
  template <Waiting How = Waiting::poll>
  [[nodiscard]] double rtt_half_ns(std::uint64_t round_trips, std::uint32_t bytes) {
    begin(bytes, round_trips, kFewSlots);
    pair_.meet();
    const Stopwatch watch;
    const bool first = pair_.is_sender();
    if (first) send(1);
    for (std::uint64_t i = 1; i <= round_trips; ++i) {
      auto& received = await<How>();
      // Work that need not precede the next message is done after it.
      if (!first)
        send(i);
      else if (i != round_trips)
        send(i + 1);
      settle(received, i);
      reap_one();
    }
    const double ns = watch.elapsed_ns();
    finish();
    return pair_.from_sender(ns / static_cast<double>(round_trips) / 2);
  }

  /// @p messages of @p bytes from the sender to the peer, one behind the other: the sender's time
  /// for one, until it knows that the last was consumed; the same at both.
  [[nodiscard]] double one_way_ns(std::uint64_t messages, std::uint32_t bytes) {
    begin(bytes, pair_.is_sender() ? 0 : messages, kTrafficDepth);
    pair_.meet();
    const Stopwatch watch;
    if (pair_.is_sender())
      send_all(messages);
    else
      take_all(messages);
    const double ns = watch.elapsed_ns();
    finish();
    consumed_before_ += messages;
    return pair_.from_sender(ns / static_cast<double>(messages));
  }

  /// Messages of 16 bytes to a peer that has been idle for some milliseconds, and back.
  struct Idle {
    double rtt_half_ns = 0;  ///< the median
    double cpu_percent = 0;  ///< of a core, used by the peer all the while
  };
  template <Waiting How>
  [[nodiscard]] Idle idle(std::uint32_t messages) {
    constexpr std::uint32_t kBytes = 16;
    begin(kBytes, messages, kFewSlots);
    pair_.meet();
    const double cpu = thread_cpu_ms();
    const Stopwatch all;
    std::vector<double> halves;
    for (std::uint64_t i = 1; i <= messages; ++i) {
      if (pair_.is_sender()) sleep_idle();
      const Stopwatch watch;
      if (pair_.is_sender()) send(i);
      auto& received = await<How>();
      halves.push_back(watch.elapsed_ns() / 2);
      if (!pair_.is_sender()) send(i);
      settle(received, i);
      reap_one();
    }
    const double percent = (thread_cpu_ms() - cpu) * 1e6 / all.elapsed_ns() * 100;
    finish();
    const double theirs = pair_.exchange(percent);
    return {pair_.from_sender(median(halves)), pair_.is_sender() ? theirs : percent};
  }

  /// The sender's RDMA writes into the peer's memory, or its reads out of it; block() says where.
  [[nodiscard]] Mover rdma(bool write) {
    Mover mover;
    mover.move = [this, write](const Block& b) { move(b, write); };
    mover.fetches = mover.all_new = !write;
    return mover;
  }
  [[nodiscard]] Block block(bool write) const noexcept {
    auto* const theirs = reinterpret_cast<std::byte*>(remote_.address);
    const bool is_sender = const_cast<Pair&>(pair_).is_sender();
    Block block;
    block.from = write || !is_sender ? memory_ : theirs;
    block.to = (write && is_sender ? theirs : memory_) + kTrafficHalf;
    return block;
  }

 private:
  using Descriptor = typename End::Descriptor;
  static constexpr std::uint32_t kFewSlots = 32;  // which stay in the first-level cache

  static void sleep_idle() {
    constexpr timespec kIdle{0, 3'000'000};  // the waiting rank has stopped spinning and sleeps
    nanosleep(&kIdle, nullptr);
  }

  void begin(std::uint32_t bytes, std::uint64_t receives, std::uint32_t most_slots) {
    bytes_ = bytes;
    stride_ = (std::size_t{bytes} + 63) / 64 * 64;
    slots_ =
        std::min(most_slots, static_cast<std::uint32_t>(std::bit_floor(kTrafficHalf / stride_)));
    sent_ = reaped_ = 0;
    to_post_ = receives;
    for (std::uint32_t i = 0; i < slots_; ++i) {
      end_.make_send(end_.send_at(i), memory_ + i * stride_, bytes);
      Descriptor& d = end_.receive_at(i);
      end_.make_receive(d, memory_ + kTrafficHalf + i * stride_, bytes);
      if (to_post_ == 0) continue;
      end_.post_receive(d);
      --to_post_;
    }
  }

  void finish() {
    while (reaped_ != sent_) reap_one();
    if (to_post_ != 0) throw std::logic_error("not all receives were posted");
    pair_.meet();
  }

  void reap_one() {
    if (end_.take_send() != nullptr) ++reaped_;
  }

  void send(std::uint64_t value) {
    while (sent_ - reaped_ == slots_) reap_one();
    const auto slot = static_cast<std::uint32_t>(sent_ & (slots_ - 1));
    std::memcpy(memory_ + slot * stride_, &value, mark_bytes());
    end_.post_send(end_.send_at(slot));
    ++sent_;
  }

  template <Waiting How>
  Descriptor& await() {
    for (;;) {
      Descriptor* d = nullptr;
      if constexpr (How == Waiting::block)
        d = end_.wait_receive();
      else
        d = end_.take_receive();
      if (d != nullptr) return *d;
    }
  }

  void settle(Descriptor& received, std::uint64_t value) {
    std::uint64_t got = 0;
    std::memcpy(&got, End::data_of(received), mark_bytes());
    if (End::length_of(received) != bytes_ || got != (mark_bytes() == 1 ? value & 0xff : value))
      throw std::runtime_error("a receive did not bring what was sent");
    if (to_post_ == 0) return;
    end_.post_receive(received);
    --to_post_;
  }
  [[nodiscard]] std::size_t mark_bytes() const noexcept {
    return bytes_ < sizeof(std::uint64_t) ? 1 : sizeof(std::uint64_t);
  }

  // The peer tells now and then how many messages it has consumed, so that no message finds an
  // empty receive queue.
  void send_all(std::uint64_t messages) {
    std::uint64_t consumed = 0;
    auto look = [&, spins = 0]() mutable {
      consumed = consumed_.load(std::memory_order_acquire) - consumed_before_;
      constexpr int kSpins = 100'000;
      if (++spins > kSpins) sched_yield();
    };
    for (std::uint64_t i = 0; i < messages; ++i) {
      while (i - consumed >= slots_) look();
      send(i + 1);
      reap_one();
    }
    while (consumed != messages) look();
  }
  void take_all(std::uint64_t messages) {
    const std::uint64_t batch = std::max<std::uint64_t>(slots_ / 4, 1);
    for (std::uint64_t i = 1; i <= messages; ++i) {
      settle(await<Waiting::poll>(), i);
      if (i % batch == 0 || i == messages)
        consumed_.store(consumed_before_ + i, std::memory_order_release);
    }
  }

  void move(const Block& b, bool write) {
    sent_ = reaped_ = 0;
    for (std::size_t at = 0; at < b.bytes; at += b.piece) {
      while (sent_ - reaped_ == kTrafficDepth) reap_one();
      Descriptor& d = end_.send_at(static_cast<std::uint32_t>(sent_ % kTrafficDepth));
      std::byte* const local = (write ? b.from : b.to) + at;
      std::byte* const remote = (write ? b.to : b.from) + at;
      end_.make_rdma(d, write, local, static_cast<std::uint32_t>(b.piece),
                     {reinterpret_cast<std::uint64_t>(remote), remote_.handle});
      end_.post_send(d);
      ++sent_;
    }
    while (reaped_ != sent_) reap_one();
  }

  End& end_;
  Pair& pair_;
  std::byte* memory_;
  std::atomic<std::uint64_t>& consumed_;
  std::uint64_t consumed_before_ = 0;  // in the measurements before
  RemoteMemory remote_;
  std::uint32_t bytes_ = 0;
  std::size_t stride_ = 0;
  std::uint32_t slots_ = 0;
  std::uint64_t sent_ = 0, reaped_ = 0;
  std::uint64_t to_post_ = 0;  // receives of this measurement that are still to be posted
};

}  // namespace viaduct::bench
