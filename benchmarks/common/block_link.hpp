#pragma once
/// @file
/// Two ranks that move blocks of memory, in pieces of any size and by any means. They time the
/// transfer alone, and the transfer together with the receiver's reading of every word.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "benchmarks/common/pair.hpp"

namespace viaduct::bench {

/// One block, as seen by the rank that moves it.
struct Block {
  std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t bytes = 0;
  std::size_t piece = 0;  ///< divides bytes
};

/// A way of moving blocks. All but `move` may be left out.
struct Mover {
  /// The sender calls it: moves the block, piece after piece, and returns when the pieces are
  /// complete by this way's definition.
  std::function<void(const Block&)> move;
  /// The peer calls it again and again while the sender moves the block.
  std::function<void()> serve;
  /// The sender calls it again and again while it waits for the peer: a transport to another host
  /// makes progress in polls.
  std::function<void()> push;
  /// The peer calls it when the sender is done: returns when all pieces have arrived.
  std::function<void(const Block&)> arrive;
  /// The transfer ends when the peer has seen the arrival, and not when `move` returns.
  bool ends_at_peer = false;
  /// The sender fetches from the peer's memory, and the sender reads the block.
  bool fetches = false;
  /// Every word of the source is new in each block. Needed where the receiver copies the data
  /// itself and could have them in its caches from the block before. Else one word in each page is
  /// new, so that a missing block is noticed.
  bool all_new = false;
};

class BlockLink {
 public:
  /// Lines that one side writes and the other reads; zeroed, mapped by both.
  struct Flags {
    PairPage::Word moved, arrived, read;
  };
  struct Bandwidth {
    double alone_gbs = 0;  ///< the transfer
    double read_gbs = 0;   ///< until the sender knows that every word has been read
  };

  BlockLink(Pair& pair, Flags* flags) noexcept : pair_(pair), flags_(*flags) {}

  /// Both call it, for @p blocks blocks and one before them that is not counted. @p block's
  /// addresses are each rank's own. The source's owner (the peer where the sender fetches) writes
  /// new words to it before each block. Throws std::runtime_error when other data arrive than were
  /// sent.
  [[nodiscard]] Bandwidth round(const Mover& mover, const Block& block, std::uint32_t blocks);

 private:
  void move_one(const Mover& mover, const Block& block, std::uint64_t expected);
  void take_one(const Mover& mover, const Block& block, std::uint64_t expected);

  Pair& pair_;
  Flags& flags_;
  std::uint64_t mark_ = 0;  // of the blocks so far
  double alone_ns_ = 0, read_ns_ = 0;
};

}  // namespace viaduct::bench
