// Who has come to a rendezvous, and what is said of those who have not.

#include "runtime/src/assembly.hpp"

#include <gtest/gtest.h>

#include "runtime/src/address.hpp"

namespace {

using viaduct::Assembly;

viaduct::handshake::Caller caller(std::uint32_t rank, std::uint32_t size, const char* host) {
  viaduct::handshake::Caller result{};
  result.rank = rank;
  result.size = size;
  result.pid = 100 + static_cast<std::int32_t>(rank);
  result.host_key = viaduct::handshake::fixed_text<64>(host);
  result.host_name = viaduct::handshake::fixed_text<64>(host);
  return result;
}

TEST(Assembly, HostsAreNumberedByTheirLowestRanks) {
  Assembly assembly(4);
  const std::vector<const char*> hosts{"b", "a", "b", "c"};
  for (const std::uint32_t rank : {3U, 1U, 0U, 2U}) {
    EXPECT_FALSE(assembly.complete());
    EXPECT_EQ(assembly.admit(caller(rank, 4, hosts[rank])), "");
  }
  EXPECT_TRUE(assembly.complete());
  EXPECT_EQ(assembly.hosts(), (std::vector<std::uint32_t>{0, 1, 0, 2}));
  EXPECT_EQ(assembly.describe_host(0), "host b (ranks 0 and 2)");
  EXPECT_EQ(assembly.describe_host(2), "host c (rank 3)");
  EXPECT_EQ(assembly.admit(caller(1, 4, "z")),
            "rank 1 (pid 101 on z) is late: the job has begun, with rank 1 (pid 101 on a)");
}

TEST(Assembly, NamesWhoIsMissing) {
  Assembly assembly(4);
  EXPECT_EQ(assembly.admit(caller(0, 4, "a")), "");
  EXPECT_EQ(assembly.missing(1.5).find("ranks 1, 2 and 3 of 4 have not come within 1.5 s"), 0U);
  EXPECT_EQ(assembly.admit(caller(1, 4, "a")), "");
  EXPECT_EQ(assembly.admit(caller(2, 4, "a")), "");
  EXPECT_NE(assembly.admit(caller(2, 4, "b")).find("comes second: rank 2 (pid 102 on a)"),
            std::string::npos);
  assembly.count_wrong_secret();
  EXPECT_EQ(
      assembly.missing(2),
      "rank 3 of 4 has not come within 2 s (VIADUCT_JOIN_TIMEOUT); rank 2 (pid 102 on b) came "
      "although rank 2 (pid 102 on a) was there; 1 process came with a wrong secret");
}

TEST(Assembly, RankZeroSaysTheSizeToThoseWhoDoNot) {
  Assembly assembly(2);
  EXPECT_EQ(assembly.admit(caller(0, 2, "a")), "");
  EXPECT_EQ(assembly.admit(caller(2, viaduct::handshake::kAskRankZero, "b")),
            "rank 2 (pid 102 on b) is out of range: the job has ranks 0 to 1");
  EXPECT_EQ(assembly.admit(caller(1, viaduct::handshake::kAskRankZero, "b")), "");
  EXPECT_TRUE(assembly.complete());
}

TEST(Assembly, SizesMustAgree) {
  Assembly assembly(4);
  EXPECT_EQ(assembly.admit(caller(0, 4, "a")), "");
  const std::string refusal = assembly.admit(caller(1, 5, "b"));
  EXPECT_EQ(refusal,
            "rank 1 (pid 101 on b) says that the job has 5 ranks, rank 0 says 4: give all the same "
            "VIADUCT_SIZE");
  EXPECT_EQ(assembly.failure(), refusal);
}

TEST(Assembly, ARankThatEndsIsNamed) {
  Assembly assembly(3);
  EXPECT_EQ(assembly.admit(caller(1, 3, "a")), "");
  assembly.lose(1);
  EXPECT_EQ(assembly.failure(), "rank 1 (pid 101 on a) ended before the job had begun");
}

TEST(Assembly, LongListsAreCut) {
  EXPECT_EQ(viaduct::list_of({3}), "3");
  EXPECT_EQ(viaduct::list_of({1, 2}), "1 and 2");
  EXPECT_EQ(viaduct::list_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), "1, 2, 3, 4, 5, 6, 7, 8 and 2 more");
}

TEST(Address, IsReadAndWritten) {
  for (const char* good : {"tcp://host:1", "tcp://192.0.2.1:65535", "tcp://[::1]:7777"}) {
    const auto address = viaduct::parse_address(good);
    ASSERT_TRUE(address.has_value()) << good;
    EXPECT_EQ(viaduct::to_string(*address), good);
  }
  for (const char* bad : {"", "host:1", "tcp://host", "tcp://:1", "tcp://host:", "tcp://host:x",
                          "tcp://host:65536", "tcp://::1:7", "udp://host:1", "tcp://host:1 "})
    EXPECT_FALSE(viaduct::parse_address(bad).has_value()) << bad;
}

}  // namespace
