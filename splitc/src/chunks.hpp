#pragma once
// The memory that RDMA reaches without its owner's part: the chunks that this process knows of
// others, and those that it has registered of its own.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "splitc/detail/memory.hpp"
#include "viaduct/splitc/detail/access.hpp"

namespace viaduct::splitc::detail {

/// From this length on a put waits until the device has read the bytes, since the wait is short
/// compared with a copy of them.
inline constexpr std::size_t kCopiedPut = 8192;

/// A part of one process' memory that has one key, or none. The struct is the answer to
/// wire_format::Op::chunk.
struct Chunk {
  std::uint64_t begin = 0;  // in global pointers
  std::uint64_t there = 0;  // in its owner's address space
  std::uint32_t bytes = 0;
  std::uint32_t key = 0;
  std::uint64_t registered = 0;  // 1: key is valid; 0: reached by messages alone

  [[nodiscard]] bool holds(std::uint64_t address) const noexcept { return address - begin < bytes; }
};

/// Chunks by address.
class ChunkTable {
 public:
  /// The chunk of @p address; null: none is known.  Cost: some ten instructions for the one that
  /// was found last.
  [[nodiscard]] const Chunk* find(std::uint64_t address) noexcept;
  void add(const Chunk& chunk);
  [[nodiscard]] std::size_t size() const noexcept { return chunks_.size(); }

 private:
  std::vector<Chunk> chunks_;  // sorted by begin, disjoint
  std::size_t last_ = 0;
};

/// Remembers how often chunks have been used: memory that is used only once is not worth a
/// registration, nor is memory of which a few short blocks are used.
class UseOfChunks {
 public:
  static constexpr std::uint32_t kAgain = 2;
  static constexpr std::uint32_t kOften = 64;
  /// Counts a use.  @return how many there were of this chunk, as far as is remembered.
  std::uint32_t count(std::uint64_t address) noexcept;

 private:
  struct Use {
    std::uint64_t chunk = 0;
    std::uint32_t times = 0;
  };
  static constexpr std::size_t kRemembered = 64;
  std::array<Use, kRemembered> used_{};
};

/// The chunks of one process that this process knows.
struct PeerChunks {
  struct Question {
    Handle answered;
    Chunk answer;  // the reply is written here, so the object must not move
    std::uint64_t address = 0;
  };
  ChunkTable known;
  UseOfChunks used;
  std::uint32_t asked_for_short = 0;  // chunks, for short blocks alone
  std::vector<std::unique_ptr<Question>> asked;
};

}  // namespace viaduct::splitc::detail
