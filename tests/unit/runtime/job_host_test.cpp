// What the owner of a job's page writes about ranks.

#include "runtime/src/job_host.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <vector>

#include "runtime/src/page_mapping.hpp"

namespace {
int signals = 0;  // that come while fallocate() reserves memory
}

/// In place of the C library's.
int fallocate(int fd, int mode, off_t from, off_t bytes) {
  if (signals == 0) return static_cast<int>(::syscall(SYS_fallocate, fd, mode, from, bytes));
  --signals;
  errno = EINTR;
  return -1;
}

namespace viaduct {
namespace {

TEST(JobHost, KeepsTheProcessThatARankHasWritten) {
  JobHost host(std::vector<std::uint32_t>{0, 0}, 0, {});
  host.set_pid(Rank{0}, 10);
  EXPECT_EQ(host.page().record(Rank{0}).pid.load(), 10);
  // The rank runs in a shell, process 11, and was faster than the launcher's note of it.
  host.page().record(Rank{1}).pid.store(77);
  host.set_pid(Rank{1}, 11);
  EXPECT_EQ(host.page().record(Rank{1}).pid.load(), 77);
  EXPECT_EQ(host.pid_of(Rank{1}), 11);
}

/// At the end of a large job every rank's loss is recorded.
TEST(PageMapping, ALossRingsTheRanksThatMayWait) {
  const PageMapping page = PageMapping::create(6);
  const auto record = [&](std::uint32_t rank) -> RankRecord& { return page->record(Rank{rank}); };
  record(1).state.store(RankState::running);
  record(2).state.store(RankState::finalized);
  record(3).state.store(RankState::killed);
  record(4).state.store(RankState::left);  // its process may go on
  record_loss(*page, page.shape(), Rank{5}, RankState::killed, SIGKILL);
  const std::vector<std::uint32_t> wanted{1, 1, 0, 0, 1, 0};
  for (std::uint32_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(record(i).doorbell.load(), wanted[i]) << "rank " << i;
}

TEST(PageMapping, IsMadeAlthoughASignalComes) {
  signals = 3;
  EXPECT_EQ(PageMapping::create(2)->size, 2U);
  EXPECT_EQ(signals, 0);
}

}  // namespace
}  // namespace viaduct
