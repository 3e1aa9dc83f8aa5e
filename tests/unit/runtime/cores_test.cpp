// How many cores there are to share, and what follows for waiting.

#include "runtime/src/cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <cstdlib>
#include <fstream>

#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/settings.hpp"

namespace {

using viaduct::RuntimeSettings;

/// A directory that stands for /.
class Root {
 public:
  Root() {
    char name[] = "/tmp/viaduct-root-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Root() { static_cast<void>(!std::system(("rm -r " + path_).c_str())); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  void write(const std::string& path, const std::string& text) const {
    const std::string file = path_ + path;
    static_cast<void>(!std::system(("mkdir -p " + file.substr(0, file.rfind('/'))).c_str()));
    std::ofstream(file) << text;
  }

 private:
  std::string path_;
};

TEST(Cores, AffinityCounts) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const Root empty;
  EXPECT_EQ(viaduct::usable_cores(empty.path()), static_cast<std::uint32_t>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(viaduct::usable_cores(empty.path()), 1U);
  ::sched_setaffinity(0, sizeof before, &before);
}

TEST(Cores, QuotaVersion2) {
  const Root root;
  root.write("/proc/self/cgroup", "0::/a/b\n");
  root.write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(viaduct::quota_cores(root.path()), 0U);
  root.write("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(viaduct::quota_cores(root.path()), 2U) << "one and a half is rounded up";
  root.write("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(viaduct::quota_cores(root.path()), 1U) << "the tightest counts";
  EXPECT_EQ(viaduct::usable_cores(root.path()), 1U);
}

TEST(Cores, QuotaVersion1) {
  const Root root;
  root.write("/proc/self/cgroup", "3:cpu,cpuacct:/g\n");
  root.write("/sys/fs/cgroup/cpu/g/cpu.cfs_quota_us", "-1\n");
  root.write("/sys/fs/cgroup/cpu/g/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(viaduct::quota_cores(root.path()), 0U);
  root.write("/sys/fs/cgroup/cpu/g/cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(viaduct::quota_cores(root.path()), 3U);
}

TEST(Cores, NonsenseInTheFilesIsNoQuota) {
  const Root root;
  root.write("/proc/self/cgroup", "nonsense\n::\n0:\n\n0::/g\n");
  root.write("/sys/fs/cgroup/g/cpu.max", "nonsense\n");
  EXPECT_EQ(viaduct::quota_cores(root.path()), 0U);
  root.write("/sys/fs/cgroup/g/cpu.max", "100 0\n");
  EXPECT_EQ(viaduct::quota_cores(root.path()), 0U);
}

TEST(WaitPolicy, SpinsOnlyWithACoreForEachRank) {
  const RuntimeSettings automatic;
  EXPECT_GT(viaduct::choose_wait_policy(automatic, 2, 2).spin_ticks, 0U);
  EXPECT_EQ(viaduct::choose_wait_policy(automatic, 3, 2).spin_ticks, 0U);
  EXPECT_GT(viaduct::choose_wait_policy(automatic, 3, 2).yields, 0U);
}

TEST(WaitPolicy, SettingsWin) {
  RuntimeSettings settings;
  settings.spin_ns = 1000;
  settings.yields = 7;
  const viaduct::WaitPolicy policy = viaduct::choose_wait_policy(settings, 64, 1);
  EXPECT_EQ(policy.spin_ticks, static_cast<std::uint64_t>(1000 * viaduct::ticks_per_ns()));
  EXPECT_EQ(policy.yields, 7U);
  settings.spin_ns = 0;
  settings.yields = 0;
  EXPECT_EQ(viaduct::choose_wait_policy(settings, 1, 8).spin_ticks, 0U);
  EXPECT_EQ(viaduct::choose_wait_policy(settings, 1, 8).yields, 0U);
}

}  // namespace
