// The shared segment: where blocks go, what they hold, what happens when there is no more.

#include "viaduct/runtime/segment.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "viaduct/runtime/error.hpp"

namespace {

using viaduct::Segment;
constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Memory that the segment's file takes, in bytes.
std::size_t resident(const Segment& segment) {
  struct stat status {};
  EXPECT_EQ(::fstat(segment.fd(), &status), 0);
  return static_cast<std::size_t>(status.st_blocks) * 512;
}

/// memcmp is fast under a sanitizer, too.
bool all_are(std::byte value, const std::byte* at, std::size_t bytes) {
  return *at == value && std::memcmp(at, at + 1, bytes - 1) == 0;
}

std::string message_of(Segment& segment, std::size_t bytes, std::size_t alignment = 64) {
  try {
    static_cast<void>(segment.allocate(bytes, alignment));
  } catch (const viaduct::Error& problem) {
    return problem.what();
  }
  return "no error";
}

TEST(Segment, TakesNoMemoryUntilItIsAllocated) {
  Segment segment(std::size_t{16} << 30);
  EXPECT_EQ(resident(segment), 0U);
  EXPECT_EQ(segment.allocated_bytes(), 0U);
  static_cast<void>(segment.allocate(10 * kMiB));
  EXPECT_EQ(resident(segment), 10 * kMiB);
  EXPECT_EQ(segment.allocated_bytes(), 10 * kMiB);
}

TEST(Segment, BlocksAreAlignedAndReachableFromBase) {
  Segment segment(64 * kMiB);
  for (std::size_t alignment = 1; alignment <= 2 * kMiB; alignment *= 2) {
    const std::size_t offset = segment.allocate(100, alignment);
    EXPECT_EQ(offset % alignment, 0U);
    EXPECT_TRUE(segment.contains(segment.base() + offset, 100));
    std::memset(segment.base() + offset, 1, 100);
  }
}

TEST(Segment, ContainsNothingBeyondItsEnds) {
  Segment segment(kMiB);
  EXPECT_TRUE(segment.contains(segment.base(), kMiB));
  EXPECT_FALSE(segment.contains(segment.base(), kMiB + 1));
  EXPECT_FALSE(segment.contains(segment.base() + kMiB, 1));
  EXPECT_FALSE(segment.contains(segment.base() - 1, 1));
  EXPECT_FALSE(segment.contains(segment.base() + 1, ~std::size_t{0}));
}

TEST(Segment, BadAlignmentIsAnError) {
  Segment segment(8 * kMiB);
  for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{96}, 4 * kMiB}) {
    EXPECT_NE(message_of(segment, 64, alignment).find("is not a power of two"), std::string::npos)
        << alignment;
  }
}

TEST(Segment, ReleasedSpaceIsUsedAgainAndNeighboursJoin) {
  Segment segment(64 * kMiB);
  std::array<std::size_t, 4> blocks{};
  for (auto& block : blocks) block = segment.allocate(kMiB, 64);
  segment.release(blocks[1]);
  segment.release(blocks[2]);
  EXPECT_EQ(segment.allocate(2 * kMiB, 64), blocks[1]);  // only if the two holes have become one
  segment.release(blocks[0]);
  EXPECT_EQ(segment.allocate(kMiB / 2, 64), blocks[0]);
}

TEST(Segment, AllReleasedIsAllGivenBack) {
  Segment segment(64 * kMiB);
  std::vector<std::size_t> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(segment.allocate(100'000));
  for (const std::size_t block : blocks) segment.release(block);
  EXPECT_EQ(segment.allocated_bytes(), 0U);
  EXPECT_EQ(resident(segment), 0U);
  EXPECT_EQ(segment.allocate(1, 64), 0U);
}

TEST(Segment, ReleaseOfWhatIsNotAllocatedStopsTheProgram) {
  Segment segment(kMiB);
  const std::size_t block = segment.allocate(100);
  EXPECT_DEATH(segment.release(block + 64), "nothing is allocated at this offset");
  segment.release(block);
  EXPECT_DEATH(segment.release(block), "nothing is allocated at this offset");
}

TEST(Segment, FullWindowIsAnErrorThatNamesTheVariable) {
  Segment segment(kMiB);
  static_cast<void>(segment.allocate(kMiB - 4096));
  const std::string message = message_of(segment, 8192);
  EXPECT_NE(message.find("no 8192 bytes are left in the shared window"), std::string::npos)
      << message;
  EXPECT_NE(message.find("VIADUCT_SHM_WINDOW"), std::string::npos) << message;
  EXPECT_NE(message_of(segment, ~std::size_t{0}).find("do not fit"), std::string::npos);
  EXPECT_NE(message_of(segment, 2 * kMiB).find("do not fit"), std::string::npos);
  EXPECT_EQ(segment.allocated_bytes(), kMiB - 4096);
  static_cast<void>(segment.allocate(4096));  // what fits still does
}

/// Random blocks, each filled with a mark of its own: none overlaps, all are zero at first, the
/// accounts are right.
TEST(Segment, RandomUseKeepsBlocksApartAndZeroed) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937 random(seed);
    Segment segment(32 * kMiB);
    struct Live {
      std::size_t bytes;
      std::byte mark;
    };
    std::map<std::size_t, Live> live;
    std::size_t sum = 0;
    for (int step = 0; step < 2000; ++step) {
      if (live.size() < 5 || (random() % 2 == 0 && live.size() < 60)) {
        const std::size_t bytes = 1 + random() % (random() % 4 == 0 ? 300'000 : 3'000);
        const std::size_t offset = segment.allocate(bytes, std::size_t{1} << (random() % 14));
        ASSERT_TRUE(all_are(std::byte{0}, segment.base() + offset, bytes))
            << "seed " << seed << " step " << step;
        const auto mark = static_cast<std::byte>(1 + random() % 255);
        std::memset(segment.base() + offset, static_cast<int>(mark), bytes);
        live.emplace(offset, Live{bytes, mark});
        sum += bytes;
      } else {
        const auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
        const std::byte* const at = segment.base() + victim->first;
        const std::byte mark = victim->second.mark;
        ASSERT_TRUE(all_are(mark, at, victim->second.bytes)) << "seed " << seed << " step " << step;
        segment.release(victim->first);
        sum -= victim->second.bytes;
        live.erase(victim);
      }
      ASSERT_EQ(segment.allocated_bytes(), sum);
    }
  }
}

TEST(Segment, PeerSeesTheSameBytes) {
  Segment segment(kMiB);
  const std::size_t offset = segment.allocate(4096);
  const viaduct::MappedMemory peer = viaduct::map_window(segment.fd(), segment.window_bytes());
  ASSERT_NE(peer.get(), segment.base());
  segment.base()[offset] = std::byte{42};
  EXPECT_EQ(peer.get()[offset], std::byte{42});
}

TEST(Segment, NobodyCanShortenTheWindow) {
  const Segment segment(kMiB);
  EXPECT_NE(::ftruncate(segment.fd(), 0), 0);
}

/// A directory that stands for / with a control group that allows little.
class FakeSystem {
 public:
  FakeSystem() {
    char name[] = "/tmp/viaduct-system-XXXXXX";
    root_ = ::mkdtemp(name);
  }
  ~FakeSystem() { static_cast<void>(!std::system(("rm -r " + root_).c_str())); }
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;
  [[nodiscard]] const std::string& root() const { return root_; }
  void write(const std::string& path, const std::string& text) const {
    const std::string file = root_ + path;
    static_cast<void>(!std::system(("mkdir -p " + file.substr(0, file.rfind('/'))).c_str()));
    std::ofstream(file) << text;
  }

 private:
  std::string root_;
};

TEST(Segment, MemoryLimitVersion2) {
  const FakeSystem system;
  system.write("/proc/self/cgroup", "0::/slice/job\n");
  system.write("/sys/fs/cgroup/slice/job/memory.max", "max\n");
  system.write("/sys/fs/cgroup/slice/job/memory.current", "1000\n");
  system.write("/sys/fs/cgroup/slice/memory.max",
               "10485760\n");  // the group above is the one that limits
  system.write("/sys/fs/cgroup/slice/memory.current", "6291456\n");
  system.write("/sys/fs/cgroup/slice/memory.stat",
               "anon 5\ninactive_file 1048576\nactive_file 1048576\n");
  Segment segment(64 * kMiB, system.root());
  const std::string message = message_of(segment, 7 * kMiB);
  EXPECT_NE(message.find("7340032 bytes of shared memory are wanted"), std::string::npos)
      << message;
  EXPECT_NE(message.find("[VIA-0203]"), std::string::npos) << message;
  EXPECT_NE(message.find("/sys/fs/cgroup/slice/memory.max allows 10485760 and 4194304 are in use"),
            std::string::npos)
      << message;
  EXPECT_EQ(message_of(segment, 5 * kMiB), "no error");
}

TEST(Segment, MemoryLimitVersion1) {
  const FakeSystem system;
  system.write("/proc/self/cgroup", "4:cpu,memory:/job\n1:name=systemd:/\n");
  system.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "8388608\n");
  system.write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "4194304\n");
  system.write("/sys/fs/cgroup/memory/job/memory.stat",
               "total_inactive_file 1048576\ntotal_active_file 0\n");
  Segment segment(64 * kMiB, system.root());
  EXPECT_NE(message_of(segment, 6 * kMiB)
                .find("memory.limit_in_bytes allows 8388608 and 3145728 are in use"),
            std::string::npos);
  EXPECT_EQ(message_of(segment, 4 * kMiB), "no error");
}

TEST(Segment, MachineThatHasTooLittle) {
  const FakeSystem system;
  system.write("/proc/meminfo",
               "MemTotal: 8192 kB\nMemAvailable: 2048 kB\nSwapTotal: 1024 kB\nSwapFree: 1024 kB\n");
  Segment segment(64 * kMiB, system.root());
  EXPECT_NE(
      message_of(segment, 4 * kMiB).find("/proc/meminfo allows 9437184 and 6291456 are in use"),
      std::string::npos);
  EXPECT_EQ(message_of(segment, 2 * kMiB), "no error");
}

TEST(Segment, SmallBlocksAreCountedUpToTheLimitToo) {
  const FakeSystem system;
  system.write("/proc/meminfo",
               "MemTotal: 8192 kB\nMemAvailable: 4 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
  Segment segment(64 * kMiB, system.root());
  std::string message = "no error";
  for (int i = 0; i < 300 && message == "no error"; ++i) message = message_of(segment, 8192);
  EXPECT_NE(message.find("8192 bytes of shared memory are wanted"), std::string::npos) << message;
}

}  // namespace
