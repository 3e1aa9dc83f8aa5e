// What is registered when: hits, rights, limits, and memory that changes behind the cache's back.

#include "via/registration_cache.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "tests/unit/via/page_holder.hpp"
#include "via/src/mapping_monitor.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::via {
namespace {

using testing::map_pages;
using testing::page_bytes;
using testing::PageHolder;
using testing::stamp;

class RegistrationCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string problem = RegistrationCache::probe(); !problem.empty())
      GTEST_SKIP() << problem;
    make(1024);
  }
  void make(std::size_t pages, std::size_t regions = 64) {
    cache_.reset();
    cache_ = std::make_unique<RegistrationCache>(
        std::make_unique<PageHolder>(log_),
        RegistrationCache::Limits{pages * page_bytes(), regions});
  }
  [[nodiscard]] bool holds(const RegistrationCache::Pin& pin, const std::byte* address,
                           std::size_t pages) {
    return pin && log_.holder->holds(pin.key(), address, pages * page_bytes());
  }
  /// Asks for pages and lets them go; whether what was registered is what is there.
  [[nodiscard]] bool good(std::byte* address, std::size_t pages) {
    return holds(cache_->get_early(address, pages * page_bytes()), address, pages);
  }

  PageHolder::Log log_;
  std::unique_ptr<RegistrationCache> cache_;
};

TEST_F(RegistrationCacheTest, RepeatedUseCostsOneRegistration) {
  std::byte* const pages = map_pages(8);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(good(pages, 8));
    EXPECT_TRUE(cache_->get(pages + 100, 3 * page_bytes()));  // of any part, too
  }
  EXPECT_EQ(log_.enrolled, 1U);
  EXPECT_EQ(cache_->counters().hits, 199U);
  EXPECT_EQ(cache_->counters().pinned_bytes, 8 * page_bytes());
  ::munmap(pages, 8 * page_bytes());
  cache_->sweep();
  EXPECT_EQ(log_.released, 1U);
  EXPECT_EQ(cache_->counters().pinned_bytes, 0U);
}

TEST_F(RegistrationCacheTest, SameAddressMappedAgainIsAnotherMemory) {
  std::byte* const pages = map_pages(16);
  EXPECT_TRUE(good(pages, 16));
  ::munmap(pages, 16 * page_bytes());
  map_pages(16, pages);
  EXPECT_TRUE(good(pages, 16));
  map_pages(4, pages + 4 * page_bytes());  // MAP_FIXED over a part
  EXPECT_TRUE(good(pages, 16));
  EXPECT_TRUE(good(pages + 4 * page_bytes(), 4));
  EXPECT_EQ(log_.enrolled, 3U);
  EXPECT_EQ(cache_->counters().invalidations, 2U);
  ::munmap(pages, 16 * page_bytes());
}

TEST_F(RegistrationCacheTest, DiscardedPagesAreOthers) {
  std::byte* const pages = map_pages(8);
  EXPECT_TRUE(good(pages, 8));
  ASSERT_EQ(::madvise(pages + page_bytes(), page_bytes(), MADV_DONTNEED), 0);
  stamp(pages, 8 * page_bytes());
  EXPECT_TRUE(good(pages, 8));
  EXPECT_EQ(log_.enrolled, 2U);
  ::munmap(pages, 8 * page_bytes());
}

TEST_F(RegistrationCacheTest, MovedPagesAreFoundWhereTheyAre) {
  std::byte* pages = map_pages(8);
  EXPECT_TRUE(good(pages, 8));
  std::byte* const other = map_pages(16);
  EXPECT_TRUE(good(other, 16));
  void* const moved = ::mremap(pages, 8 * page_bytes(), 8 * page_bytes(),
                               MREMAP_MAYMOVE | MREMAP_FIXED, other + 4 * page_bytes());
  ASSERT_EQ(moved, other + 4 * page_bytes());
  EXPECT_TRUE(good(other, 16));
  EXPECT_TRUE(good(other + 4 * page_bytes(), 8));
  map_pages(8, pages);  // where they were
  EXPECT_TRUE(good(pages, 8));
  ::munmap(pages, 8 * page_bytes());
  ::munmap(other, 16 * page_bytes());
}

TEST_F(RegistrationCacheTest, GrowingByMremapWorksAsWithoutACache) {
  std::byte* pages = map_pages(16);
  EXPECT_TRUE(good(pages + 4 * page_bytes(), 2));  // divides no mapping
  for (std::size_t count = 16; count < 256; count *= 2) {
    void* const grown =
        ::mremap(pages, count * page_bytes(), 2 * count * page_bytes(), MREMAP_MAYMOVE);
    ASSERT_NE(grown, MAP_FAILED);
    pages = static_cast<std::byte*>(grown);
    stamp(pages, 2 * count * page_bytes());
    EXPECT_TRUE(good(pages + 4 * page_bytes(), 2));
    EXPECT_TRUE(good(pages + count * page_bytes(), 4));
  }
  ::munmap(pages, 256 * page_bytes());
}

/// Of the heap: by brk or mmap, trimmed or not, as the allocator likes.
TEST_F(RegistrationCacheTest, FreedMemoryIsTakenAgain) {
  log_.keep_pages = true;
  for (const std::size_t pages : {24U, 100U, 200U})
    for (int i = 0; i < 20; ++i) {
      const std::unique_ptr<std::byte, decltype(&std::free)> block(
          static_cast<std::byte*>(std::malloc((pages + 1) * page_bytes())), &std::free);
      const auto at = reinterpret_cast<std::uintptr_t>(block.get());
      std::byte* const inside = block.get() + (page_bytes() - at % page_bytes()) % page_bytes();
      stamp(inside, pages * page_bytes());
      EXPECT_TRUE(good(inside, pages));
    }
}

TEST_F(RegistrationCacheTest, TrimmedHeapIsNotKept) {
  void* const end = ::sbrk(0);
  const std::uintptr_t odd = reinterpret_cast<std::uintptr_t>(end) % page_bytes();
  const auto bytes = static_cast<std::intptr_t>(64 * page_bytes() + (page_bytes() - odd));
  auto* const block = static_cast<std::byte*>(::sbrk(bytes));
  ASSERT_NE(block, reinterpret_cast<std::byte*>(-1));
  std::byte* const pages = block + (page_bytes() - odd);
  stamp(pages, 64 * page_bytes());
  EXPECT_TRUE(good(pages, 64));
  if (::sbrk(0) != block + bytes) GTEST_SKIP() << "the allocator uses brk meanwhile";
  ASSERT_NE(::sbrk(-bytes), reinterpret_cast<void*>(-1));
  ASSERT_EQ(::sbrk(bytes), block);
  stamp(pages, 64 * page_bytes());
  EXPECT_TRUE(good(pages, 64));
  EXPECT_EQ(cache_->counters().invalidations, 1U);
  ::sbrk(-bytes);
}

TEST_F(RegistrationCacheTest, StacksAndStaticMemoryAreCached) {
  alignas(4096) std::byte local[4096 * 4];
  alignas(4096) static std::byte fixed[4096 * 64];
  stamp(local, sizeof local);
  stamp(fixed, sizeof fixed);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(cache_->get_early(local, sizeof local));
    EXPECT_TRUE(cache_->get_early(fixed + 4096, sizeof fixed - 8192));
  }
  EXPECT_EQ(log_.enrolled, 2U);
}

TEST_F(RegistrationCacheTest, OthersThanPrivateAnonymousMemoryIsRegisteredForOnce) {
  const int file = ::memfd_create("registration", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(file, static_cast<off_t>(4 * page_bytes())), 0);
  for (const int kind : {MAP_SHARED, MAP_PRIVATE}) {
    void* const at = ::mmap(nullptr, 4 * page_bytes(), PROT_READ | PROT_WRITE, kind, file, 0);
    auto* const pages = static_cast<std::byte*>(at);
    stamp(pages, 4 * page_bytes());
    const std::uint64_t before = log_.enrolled;
    for (std::uint64_t i = 1; i <= 3; ++i) {
      EXPECT_FALSE(cache_->get_early(pages, 4 * page_bytes()));
      EXPECT_TRUE(holds(cache_->get(pages, 4 * page_bytes()), pages, 4));
      EXPECT_EQ(log_.enrolled, before + i);
      EXPECT_EQ(log_.bytes, 0U);
    }
    ::munmap(at, 4 * page_bytes());
  }
  ::close(file);
  EXPECT_EQ(cache_->counters().not_cached, 12U);
}

TEST_F(RegistrationCacheTest, LongestUnusedGoesFirst) {
  make(8);
  std::byte* const pages = map_pages(64);
  const auto part = [&](std::size_t i) { return pages + i * 2 * page_bytes(); };
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(good(part(i), 2));
  EXPECT_TRUE(good(part(0), 2));  // so that 1 is the oldest
  EXPECT_TRUE(good(part(10), 2));
  EXPECT_EQ(cache_->counters().evictions, 1U);
  EXPECT_TRUE(good(part(0), 2));
  EXPECT_EQ(log_.enrolled, 5U);
  EXPECT_TRUE(good(part(1), 2));
  EXPECT_EQ(log_.enrolled, 6U);
  EXPECT_EQ(log_.most_bytes, 8 * page_bytes());
  ::munmap(pages, 64 * page_bytes());
}

TEST_F(RegistrationCacheTest, NothingInUseIsReleasedAndNoLimitExceeded) {
  make(8);
  std::byte* const pages = map_pages(64);
  std::vector<RegistrationCache::Pin> pins;
  for (std::size_t i = 0; i < 4; ++i)
    pins.push_back(cache_->get(pages + i * 2 * page_bytes(), 2 * page_bytes()));
  EXPECT_FALSE(cache_->get_early(pages + 32 * page_bytes(), 1));
  EXPECT_EQ(cache_->counters().refused, 1U);
  try {
    (void)cache_->get(pages + 32 * page_bytes(), 1);
    ADD_FAILURE() << "more than the limit";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("limited to 32768 bytes"), std::string::npos) << e.what();
  }
  pins.erase(pins.begin());
  EXPECT_TRUE(cache_->get_early(pages + 32 * page_bytes(), 1));
  EXPECT_FALSE(cache_->get_early(pages + 32 * page_bytes(), 9 * page_bytes()));  // never
  // What changes while in use goes with its last pin.
  map_pages(64, pages);
  cache_->sweep();
  EXPECT_EQ(log_.bytes, 6 * page_bytes());
  pins.clear();
  EXPECT_EQ(log_.bytes, 0U);
  EXPECT_EQ(log_.most_bytes, 8 * page_bytes());
  ::munmap(pages, 64 * page_bytes());
}

TEST_F(RegistrationCacheTest, WhatIsGivenUpIsLeftToOthers) {
  make(8);
  std::byte* const pages = map_pages(8);
  EXPECT_TRUE(good(pages, 4));
  const auto pin = cache_->get_early(pages + 4 * page_bytes(), 3 * page_bytes());
  EXPECT_FALSE(cache_->give_up(9 * page_bytes()));
  EXPECT_FALSE(cache_->give_up(6 * page_bytes()));  // three are in use
  EXPECT_EQ(cache_->limits().pinned_bytes, 8 * page_bytes());
  EXPECT_TRUE(cache_->give_up(5 * page_bytes()));
  EXPECT_LE(cache_->counters().pinned_bytes, 3 * page_bytes());
  EXPECT_FALSE(cache_->get_early(pages, page_bytes()));
  cache_->take_back(5 * page_bytes());
  EXPECT_TRUE(good(pages, 5));
  ::munmap(pages, 8 * page_bytes());
}

TEST_F(RegistrationCacheTest, NumberOfRegionsIsLimited) {
  make(1024, 3);
  std::byte* const pages = map_pages(32);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_TRUE(good(pages + 3 * i * page_bytes(), 1));
  EXPECT_EQ(log_.bytes, 3 * page_bytes());
  ::munmap(pages, 32 * page_bytes());
}

TEST_F(RegistrationCacheTest, FullMemoryLockMakesRoom) {
  log_.room = 4 * page_bytes();
  std::byte* const pages = map_pages(32);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_TRUE(good(pages + 4 * i * page_bytes(), 2));
  EXPECT_EQ(log_.enrolled, 8U);
  EXPECT_EQ(cache_->counters().evictions, 6U);
  EXPECT_FALSE(cache_->get_early(pages, 5 * page_bytes()));
  EXPECT_THROW((void)cache_->get(pages, 5 * page_bytes()), Error);
  ::munmap(pages, 32 * page_bytes());
}

TEST_F(RegistrationCacheTest, LargerOnesTakeTheSmallerOnesPlace) {
  std::byte* const pages = map_pages(32);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(good(pages + i * page_bytes(), 2));  // overlap
  EXPECT_EQ(log_.bytes, 8 * page_bytes());
  EXPECT_TRUE(good(pages, 16));
  EXPECT_EQ(log_.bytes, 16 * page_bytes());
  EXPECT_TRUE(good(pages + 8 * page_bytes(), 16));
  EXPECT_EQ(log_.enrolled, 6U);
  for (std::size_t i = 0; i < 22; ++i) EXPECT_TRUE(good(pages + i * page_bytes(), 2));
  EXPECT_EQ(log_.enrolled, 6U);
  ::munmap(pages, 32 * page_bytes());
}

TEST_F(RegistrationCacheTest, RightsAreAddedToOneRegistration) {
  std::byte* const pages = map_pages(8);
  EXPECT_TRUE(good(pages, 8));
  EXPECT_TRUE(cache_->get_early(pages + page_bytes(), page_bytes(), Rights::rdma_read));
  EXPECT_TRUE(cache_->get_early(pages, page_bytes(), Rights::rdma_write));
  EXPECT_EQ(log_.enrolled, 3U);
  EXPECT_EQ(log_.bytes, 8 * page_bytes());
  EXPECT_TRUE(cache_->get_early(pages, 8 * page_bytes(), Rights::rdma_read | Rights::rdma_write));
  EXPECT_EQ(log_.enrolled, 3U);
  const std::byte* const source = pages;
  try {
    (void)cache_->get(source, 8, Rights::rdma_write);
    ADD_FAILURE() << "const memory may be written";
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.id()), "VIA-2013") << error.what();
  }
  ::munmap(pages, 8 * page_bytes());
}

TEST_F(RegistrationCacheTest, ReadOnlyMemoryCanBeASource) {
  std::byte* const pages = map_pages(8);
  const std::byte* const source = pages;
  bool read_only = true;
  log_.read_only = [&](const std::byte*, std::size_t) { return read_only; };
  ASSERT_EQ(::mprotect(pages, 8 * page_bytes(), PROT_READ), 0);
  EXPECT_TRUE(holds(cache_->get_early(source, 8 * page_bytes()), pages, 8));
  EXPECT_TRUE(cache_->get(source, 8 * page_bytes()));
  EXPECT_EQ(log_.enrolled, 1U);
  EXPECT_FALSE(cache_->get_early(pages, 8 * page_bytes()));
  // Its registration as a source is none to write by, when it may be written again.
  EXPECT_TRUE(cache_->get_early(source, 8 * page_bytes()));
  EXPECT_EQ(log_.enrolled, 2U);
  ASSERT_EQ(::mprotect(pages, 8 * page_bytes(), PROT_READ | PROT_WRITE), 0);
  read_only = false;
  EXPECT_TRUE(cache_->get_early(pages, 8 * page_bytes()));
  EXPECT_EQ(log_.enrolled, 3U);
  EXPECT_TRUE(cache_->get_early(source, 8 * page_bytes()));
  EXPECT_EQ(log_.enrolled, 3U);
  ::munmap(pages, 8 * page_bytes());
}

TEST_F(RegistrationCacheTest, MoreChangesThanAreRememberedReleaseAll) {
  std::byte* const kept = map_pages(2);
  EXPECT_TRUE(good(kept, 2));
  constexpr std::size_t kPages = MappingMonitor::kRing + 100;
  std::byte* const many = map_pages(kPages);
  ASSERT_TRUE(
      MappingMonitor::shared()->watch({reinterpret_cast<std::uintptr_t>(many),
                                       reinterpret_cast<std::uintptr_t>(many + page_bytes())}));
  for (std::size_t i = 0; i < kPages; ++i) ::munmap(many + i * page_bytes(), page_bytes());
  cache_->sweep();
  EXPECT_EQ(log_.bytes, 0U);
  EXPECT_TRUE(good(kept, 2));
  ::munmap(kept, 2 * page_bytes());
}

TEST_F(RegistrationCacheTest, TwoCachesShareWhatIsWatched) {
  PageHolder::Log other_log;
  RegistrationCache other(std::make_unique<PageHolder>(other_log), {64 * page_bytes(), 8});
  std::byte* const pages = map_pages(4);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(good(pages, 4));
    const auto pin = other.get_early(pages, 4 * page_bytes());
    ASSERT_TRUE(pin);
    EXPECT_TRUE(other_log.holder->holds(pin.key(), pages, 4 * page_bytes()));
    map_pages(4, pages);
  }
  EXPECT_EQ(log_.enrolled, 3U);
  EXPECT_EQ(other_log.enrolled, 3U);
  ::munmap(pages, 4 * page_bytes());
}

#ifndef __SANITIZE_THREAD__  // it ends programs that fork with more than one thread
int exit_code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(RegistrationCacheTest, ChildrenDoNotDisturb) {
  std::byte* const pages = map_pages(8);
  EXPECT_TRUE(good(pages, 8));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::munmap(pages, 4 * page_bytes());  // nobody watches here
    ::madvise(pages + 4 * page_bytes(), page_bytes(), MADV_DONTNEED);
    map_pages(4, pages);
    {  // a cache of its own
      PageHolder::Log log;
      RegistrationCache cache(std::make_unique<PageHolder>(log), {64 * page_bytes(), 8});
      if (!cache.get_early(pages, page_bytes())) ::_exit(2);
      map_pages(4, pages);
      const auto pin = cache.get_early(pages, page_bytes());
      if (!pin || !log.holder->holds(pin.key(), pages, page_bytes())) ::_exit(3);
      cache_.reset();  // the parent's: ends without its thread
      ::execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
    }
    ::_exit(4);
  }
  EXPECT_EQ(exit_code_of(child), 7);
  cache_->sweep();
  EXPECT_EQ(cache_->counters().invalidations, 0U);
  ::munmap(pages, 8 * page_bytes());
}

/// A child that lives on has its parent's descriptors.
TEST_F(RegistrationCacheTest, NothingIsWatchedAfterTheEndThoughAChildLives) {
  std::byte* pages = map_pages(8);
  EXPECT_TRUE(good(pages, 8));
  void* const grown = ::mremap(pages, 8 * page_bytes(), 64 * page_bytes(), MREMAP_MAYMOVE);
  ASSERT_NE(grown, MAP_FAILED);
  std::array<int, 2> life{};
  ASSERT_EQ(::pipe(life.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(life[1]);
    char byte = 0;
    ::_exit(::read(life[0], &byte, 1) == 0 ? 0 : 1);
  }
  cache_.reset();
  ::munmap(grown, 64 * page_bytes());  // would wait for ever
  for (const int fd : life) ::close(fd);
  EXPECT_EQ(exit_code_of(child), 0);
}
#endif

}  // namespace
}  // namespace viaduct::via
