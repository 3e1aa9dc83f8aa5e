#pragma once
// Which memory RDMA reaches without its owner's part: what this process knows of another one's, and
// what it has registered of its own.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "splitc/detail/memory.hpp"
#include "viaduct/splitc/detail/access.hpp"

namespace viaduct::splitc::detail {

/// A part of one process' memory that has one key, or none. Sent as it is, as the answer to
/// wire_format::Op::chunk.
struct Chunk {
  std::uint64_t begin = 0;  // in global pointers
  std::uint64_t there = 0;  // in its owner's address space
  std::uint32_t bytes = 0;
  std::uint32_t key = 0;
  std::uint64_t registered = 0;  // 1: key is valid; 0: messages carry what goes there

  [[nodiscard]] bool holds(std::uint64_t address) const noexcept { return address - begin < bytes; }
};

/// By address.
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

/// What is used once is not worth a registration: whether a chunk has been used before.
class UseOfChunks {
 public:
  [[nodiscard]] bool again(std::uint64_t address) noexcept;

 private:
  static constexpr std::size_t kRemembered = 64;
  std::array<std::uint64_t, kRemembered> used_{};
};

/// Of one process, as this one knows them.
struct PeerChunks {
  struct Question {
    Handle answered;
    Chunk answer;  // written when it comes: it must stay where it is
    std::uint64_t address = 0;
  };
  ChunkTable known;
  UseOfChunks used;
  std::vector<std::unique_ptr<Question>> asked;
};

}  // namespace viaduct::splitc::detail
