#include "runtime/hang_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <string>
#include <vector>

namespace {

using viaduct::Activity;
using viaduct::RankRecord;
using viaduct::RankState;

constexpr std::uint64_t kSecond = 1'000'000'000;

void write_wait(RankRecord& record) {
  record.state.store(RankState::running);
  record.pid.store(17);
  record.activity.store(Activity::waiting_credit);
  record.waits_for_peer.store(2);
  record.credits_in.store(3);
  record.credits_out.store(1);
  record.bytes_expected.store(512);
  record.bytes_seen.store(64);
  record.last_poll_ns.store(4 * kSecond);
}

TEST(HangLine, SaysWhatARankWaitsFor) {
  RankRecord record{};
  write_wait(record);
  EXPECT_EQ(viaduct::hang_line(record, 5, "request", 6 * kSecond),
            "rank 5 (pid 17): running, waiting for a credit in request, for rank 2; credits in 3, "
            "out 1; bytes 64 of 512; last poll 2.000 s ago");
  record.waits_for_peer.store(RankRecord::kNoPeer);
  EXPECT_NE(viaduct::hang_line(record, 5, "", 6 * kSecond).find("for a credit; credits in"),
            std::string::npos);
}

TEST(HangLine, ARankThatComputesIsInNoWait) {
  RankRecord record{};
  write_wait(record);
  record.activity.store(
      Activity::computing);  // the last wait is over, and its words are still there
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
  record.activity.store(Activity::barrier);
  const std::string line = viaduct::hang_line(record, 5, viaduct::kEndingJob, 6 * kSecond);
  EXPECT_NE(line.find("running, ending its job; credits"), std::string::npos) << line;
}

TEST(HangLine, NamesTheHandlerThatRuns) {
  RankRecord record{};
  write_wait(record);
  const auto line = [&](bool waits) {
    return viaduct::hang_line(record, 5, "reply", 6 * kSecond, {"on_ask", waits});
  };
  EXPECT_NE(line(false).find("running, in handler on_ask, run by reply; credits"),
            std::string::npos)
      << line(false);
  EXPECT_NE(
      line(true).find("in handler on_ask, waiting for a credit in reply, for rank 2; credits"),
      std::string::npos)
      << line(true);
  record.activity.store(Activity::computing);  // called by a poll
  EXPECT_NE(line(false).find("running, in handler on_ask; credits"), std::string::npos)
      << line(false);
}

struct PageOfFour {
  viaduct::JobPage page{};
  RankRecord records[4]{};
};

/// On the page of host 0. The state of another host's ranks stays `starting` there.
TEST(Gathering, RanksOfOtherHostsComeByTheirTickets) {
  PageOfFour of;
  for (const std::uint32_t rank : {0U, 2U, 3U}) of.records[rank].barrier_ticket.store(2);
  for (const std::uint32_t rank : {2U, 3U}) of.records[rank].host = 1;
  of.records[0].state.store(RankState::running);
  of.records[0].activity.store(Activity::barrier);
  of.records[3].barrier_ticket.store(1);
  EXPECT_EQ(viaduct::gathering_of(of.page, 4, 0).absent, (std::vector<std::uint32_t>{1, 3}));
  of.records[0].finalizing.store(1);
  of.records[2].finalizing.store(1);
  EXPECT_EQ(viaduct::gathering_of(of.page, 4, 0).absent, (std::vector<std::uint32_t>{1, 3}));
}

/// Read as the launcher reads it, from a record that this process has written as a rank does.
TEST(HandlerOf, ReadsWhatTheRankKeeps) {
  static const char* const kNames[] = {"on_first", "on_second"};
  std::uint32_t depth = 1;
  std::uint16_t id = 257;
  const viaduct::RunningHandler outer{&depth, 1, 256, &id, kNames, 2, nullptr};
  const viaduct::RunningHandler first{&depth, 9, 256, &id, kNames, 2, &outer};
  RankRecord record{};
  record.pid.store(::getpid());
  EXPECT_EQ(viaduct::handler_of(record).name, "");
  record.handlers.store(&first);
  EXPECT_EQ(viaduct::handler_of(record).name, "") << "none runs";
  depth += viaduct::RunningHandler::kAsleep;
  EXPECT_EQ(viaduct::handler_of(record).name, "") << "none runs while the rank sleeps";
  depth = 2;
  EXPECT_EQ(viaduct::handler_of(record).name, "on_second");
  EXPECT_FALSE(viaduct::handler_of(record).waits);
  record.wait_depth.store(1);
  EXPECT_TRUE(viaduct::handler_of(record).waits);
  id = 7;  // of an endpoint's own table
  EXPECT_EQ(viaduct::handler_of(record).name, "7");
  record.handlers.store(
      reinterpret_cast<const viaduct::RunningHandler*>(8));  // nonsense in the page
  EXPECT_EQ(viaduct::handler_of(record).name, "");
}

TEST(HangLine, WhoDoesNotRunWaitsForNothing) {
  RankRecord record{};
  write_wait(record);
  record.state.store(RankState::finalized);
  EXPECT_EQ(viaduct::hang_line(record, 5, "request", 6 * kSecond), "rank 5 (pid 17): finalized");
  record.state.store(RankState::killed);
  record.cause.store(3);
  EXPECT_EQ(viaduct::hang_line(record, 5, "request", 6 * kSecond),
            "rank 5 (pid 17): failed, exit status 3");
}

TEST(HangLine, SaysWhenARankHasNotPolledYet) {
  RankRecord record{};
  record.state.store(RankState::running);
  record.waits_for_peer.store(RankRecord::kNoPeer);
  EXPECT_NE(viaduct::hang_line(record, 0, "", kSecond).find("has not polled yet"),
            std::string::npos);
}

}  // namespace
