#include "runtime/hang_report.hpp"

#include <gtest/gtest.h>
#include <string>

namespace {

using viaduct::Activity;
using viaduct::RankRecord;
using viaduct::RankState;

constexpr std::uint64_t kSecond = 1'000'000'000;

void write_wait(RankRecord& record) {
  record.state = RankState::running;
  record.pid = 17;
  record.activity = Activity::waiting_credit;
  record.waits_for_peer = 2;
  record.credits_in = 3;
  record.credits_out = 1;
  record.bytes_expected = 512;
  record.bytes_seen = 64;
  record.last_poll_ns = 4 * kSecond;
}

TEST(HangLine, SaysWhatARankWaitsFor) {
  RankRecord record{};
  write_wait(record);
  EXPECT_EQ(viaduct::hang_line(record, 5, "request", 6 * kSecond),
            "rank 5 (pid 17): running, waiting for a credit in request, for rank 2; credits in 3, "
            "out 1; bytes 64 of 512; last poll 2.000 s ago");
  record.waits_for_peer = RankRecord::kNoPeer;
  EXPECT_NE(viaduct::hang_line(record, 5, "", 6 * kSecond).find("for a credit; credits in"),
            std::string::npos);
}

TEST(HangLine, ARankThatComputesIsInNoWait) {
  RankRecord record{};
  write_wait(record);
  record.activity = Activity::computing;  // the last wait is over, and its words are still there
  const std::string line = viaduct::hang_line(record, 5, "request", 6 * kSecond);
  EXPECT_NE(line.find("running, computing; credits"), std::string::npos) << line;
}

TEST(HangLine, AFirstMessageWaitsForTheConnection) {
  RankRecord record{};
  write_wait(record);
  const std::string line = viaduct::hang_line(record, 5, viaduct::kConnecting, 6 * kSecond);
  EXPECT_NE(line.find("running, waiting for the connection of rank 2, which must poll; credits"),
            std::string::npos)
      << line;
}

TEST(HangLine, AJobsEndIsNamed) {
  RankRecord record{};
  write_wait(record);
  record.activity = Activity::barrier;
  const std::string line = viaduct::hang_line(record, 5, viaduct::kEndingJob, 6 * kSecond);
  EXPECT_NE(line.find("running, ending its job; credits"), std::string::npos) << line;
}

TEST(HangLine, WhoDoesNotRunWaitsForNothing) {
  RankRecord record{};
  write_wait(record);
  record.state = RankState::finalized;
  EXPECT_EQ(viaduct::hang_line(record, 5, "request", 6 * kSecond), "rank 5 (pid 17): finalized");
}

TEST(HangLine, SaysWhenARankHasNotPolledYet) {
  RankRecord record{};
  record.state = RankState::running;
  record.waits_for_peer = RankRecord::kNoPeer;
  EXPECT_NE(viaduct::hang_line(record, 0, "", kSecond).find("has not polled yet"),
            std::string::npos);
}

}  // namespace
