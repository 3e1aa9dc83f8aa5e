// What a process knows of another one's registered memory, and which way an access takes.

#include "splitc/src/chunks.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "viaduct/splitc/choice.hpp"

namespace viaduct::splitc {
namespace {

using detail::Chunk;
using detail::ChunkTable;
using detail::UseOfChunks;

TEST(Chunks, AnAddressIsInTheWindowThatHoldsIt) {
  ChunkTable table;
  EXPECT_EQ(table.find(0), nullptr);
  for (const std::uint64_t begin : {5000U, 1000U, 3000U}) table.add({begin, 0, 1000, 7, 1});
  for (const std::uint64_t begin : {1000U, 3000U, 5000U}) {
    EXPECT_EQ(table.find(begin - 1), nullptr);
    for (const std::uint64_t at : {begin, begin + 999}) {
      const Chunk* const chunk = table.find(at);
      ASSERT_NE(chunk, nullptr);
      EXPECT_EQ(chunk->begin, begin);
    }
    EXPECT_EQ(table.find(begin + 1000), nullptr);
  }
  EXPECT_EQ(table.find(std::numeric_limits<std::uint64_t>::max()), nullptr);
}

TEST(Chunks, ASecondAnswerReplacesTheFirst) {
  ChunkTable table;
  table.add({1000, 0, 1000, 0, 0});
  table.add({1000, 0, 1000, 9, 1});
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.find(1500)->key, 9U);
}

TEST(Chunks, UsesAreCountedByChunk) {
  UseOfChunks used;
  constexpr std::uint64_t kBytes = detail::Memory::kChunkBytes;
  EXPECT_EQ(used.count(10 * kBytes), 1U);
  EXPECT_EQ(used.count(10 * kBytes + 5), 2U);
  EXPECT_EQ(used.count(11 * kBytes), 1U);
  EXPECT_EQ(used.count(10 * kBytes), 3U);
  EXPECT_EQ(used.count((10 + 64) * kBytes), 1U);  // has the place of the first one
  EXPECT_EQ(used.count(10 * kBytes), 1U);
}

TEST(Choice, TheLengthDecidesOnAuto) {
  Settings settings;
  settings.path = "auto";
  settings.rdma_from = 100;
  const auto lengths = [&](Path path) {
    const RdmaFrom from = rdma_from(settings, path);
    return std::pair(from.tried, from.always);
  };
  using Lengths = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(lengths(Path::automatic), Lengths(100, 100));
  EXPECT_EQ(lengths(Path::rdma), Lengths(1, 1));
  EXPECT_EQ(lengths(Path::direct), lengths(Path::message));
  EXPECT_GT(lengths(Path::message).first, std::size_t{1} << 47);
  settings.rdma_from = config::kAuto;
  EXPECT_EQ(lengths(Path::automatic), Lengths(9, 256));
  EXPECT_EQ(lengths(Path::rdma), Lengths(1, 1));
}

TEST(Choice, BothWaysAreTriedForShortBlocks) {
  Settings settings;
  settings.path = "auto";
  settings.rdma_from = config::kAuto;
  const auto says = [&](std::size_t bytes, const char* what) {
    return remote_way(settings, bytes).find(what) != std::string::npos;
  };
  EXPECT_TRUE(says(8, "by messages that the owner carries out: 8 bytes are less than 9"));
  EXPECT_TRUE(says(8, "RDMA does not promise that a word is written whole"));
  EXPECT_TRUE(says(9, "last tried both for 9 to 16 bytes"));
  EXPECT_TRUE(says(16, "last tried both for 9 to 16 bytes"));
  EXPECT_TRUE(says(17, "last tried both for 17 to 32 bytes"));
  EXPECT_TRUE(says(255, "last tried both for 129 to 255 bytes"));
  EXPECT_TRUE(says(256, "without the owner's part: 256 bytes are not less than 256"));
}

TEST(Choice, TheSentenceSaysTheWayAndTheReason) {
  Settings settings;
  settings.path = "auto";
  settings.rdma_from = 100;
  const auto says = [&](std::size_t bytes, const char* what) {
    return remote_way(settings, bytes).find(what) != std::string::npos;
  };
  EXPECT_TRUE(says(99, "by messages that the owner carries out: 99 bytes are less"));
  EXPECT_FALSE(says(99, "promise"));
  EXPECT_TRUE(says(8, "RDMA does not promise that a word is written whole"));
  EXPECT_TRUE(says(100, "by RDMA read and write, without the owner's part: 100 bytes"));
  settings.path = "message";
  EXPECT_TRUE(says(100, "VIADUCT_SPLITC_PATH forces message"));
  settings.path = "rdma";
  EXPECT_TRUE(says(8, "forces rdma, where a device need not write a word whole"));
}

}  // namespace
}  // namespace viaduct::splitc
