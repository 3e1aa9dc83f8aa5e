// What the owner of a job's page writes about ranks.

#include "runtime/src/job_host.hpp"

#include <gtest/gtest.h>

#include <vector>

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

}  // namespace
}  // namespace viaduct
