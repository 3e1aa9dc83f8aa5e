// Jobs whose ranks a PMIx server has started: mpirun.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>
#include <fstream>

#include "tests/multiprocess/launcher_rendezvous.hpp"

namespace {

using driver::Environment;
using driver::has;
using driver::Program;
using driver::Result;
using driver::Words;

class Pmix : public testing::Test {
 protected:
  void SetUp() override {
    if (::access(kMpirun, X_OK) != 0) GTEST_SKIP() << "no mpirun here (Debian: openmpi-bin)";
  }
  static Result mpirun(int ranks, const Words& verb) {
    const std::string tag = driver::new_tag();
    Words words{kMpirun,
                "-n",
                std::to_string(ranks),
                "--allow-run-as-root",
                "--oversubscribe",
                driver::test_program("launcher_actor"),
                tag};
    words.insert(words.end(), verb.begin(), verb.end());
    Result result = Program(words).finish();
    EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
    return result;
  }
  static constexpr const char* kMpirun = "/usr/bin/mpirun";
};

TEST_F(Pmix, MpirunMakesOneJob) {
  for (const int ranks : {1, 2, 7}) {
    const Result result = mpirun(ranks, {"describe"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (int i = 0; i < ranks; ++i)
      EXPECT_EQ(driver::count(result.out,
                              "rank " + std::to_string(i) + " of " + std::to_string(ranks) + " "),
                1)
          << result.out;
  }
}

TEST_F(Pmix, MpirunsRanksShareMemoryAndBarriers) {
  for (const char* verb : {"exchange", "around", "ok", "nic"}) {
    const Result result = mpirun(4, {verb, "20"});
    EXPECT_EQ(result.code, 0) << verb << ": " << result.err << result.out;
  }
}

TEST_F(Pmix, ARankThatFailsEndsMpirun) {
  const Result result = mpirun(3, {"return", "1", "7"});
  EXPECT_EQ(result.code, 7) << result.err;
  const Result killed = mpirun(3, {"die", "1", std::to_string(SIGKILL)});
  EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
  EXPECT_TRUE(has(killed.err, "exited on signal 9")) << killed.err;
}

TEST_F(Pmix, MpirunThatIsEndedTakesItsRanksAlong) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const std::string tag = driver::new_tag();
    Program program({kMpirun, "-n", "3", "--allow-run-as-root", "--oversubscribe",
                     driver::test_program("launcher_actor"), tag, "hang"});
    ASSERT_TRUE(program.wait_for("ready", 3));
    program.signal(signal);
    EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
    EXPECT_NE(program.finish().code, 0);
  }
}

/// With nobody to reap them, its ranks go as well.
TEST_F(Pmix, MpirunThatIsKilledTakesItsRanksAlong) {
  const std::string tag = driver::new_tag();
  Program program({kMpirun, "-n", "3", "--allow-run-as-root", "--oversubscribe",
                   driver::test_program("launcher_actor"), tag, "hang"});
  ASSERT_TRUE(program.wait_for("ready", 3));
  program.signal(SIGKILL);
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
}

TEST_F(Pmix, ARankWithoutAJobIsNamed) {
  const std::string tag = driver::new_tag();
  const Result result = Program({kMpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2",
                                 driver::test_program("launcher_actor"), tag, "ok", ":", "-n", "1",
                                 "/bin/sleep", "600"},
                                {{"VIADUCT_JOIN_TIMEOUT", "2s"}})
                            .finish();
  EXPECT_NE(result.code, 0);
  EXPECT_TRUE(has(result.err, "rank 2 of 3 has not come within 2 s")) << result.err;
  EXPECT_LT(result.seconds, driver::kHangSeconds);
  EXPECT_TRUE(driver::all_gone(tag)) << "processes are left";
}

TEST(PmixRefusal, AServerThatIsNotThere) {
  for (const char* uri : {"", "space.0;tcp4://127.0.0.1:1"}) {
    Environment environment{{"PMIX_NAMESPACE", "space"}, {"PMIX_RANK", "0"}};
    if (*uri != '\0') environment.emplace_back("PMIX_SERVER_URI41", uri);
    const Result result =
        Program({driver::test_program("launcher_actor"), driver::new_tag(), "ok"}, environment)
            .finish();
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(
        has(result.err, "PMIX_NAMESPACE=space speaks of a PMIx server that does not answer"))
        << result.err;
    EXPECT_TRUE(has(result.err, "[VIA-0502]")) << result.err;
    EXPECT_LT(result.seconds, driver::kHangSeconds);
  }
}

TEST(PmixRefusal, ALibraryThatCannotBeLoaded) {
  const std::string folder = testing::TempDir() + driver::new_tag();
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  const std::string library = folder + "/libpmix.so.2";
  std::ofstream(library) << "this is no library";
  const Result result = Program({driver::test_program("launcher_actor"), driver::new_tag(), "ok"},
                                {{"PMIX_NAMESPACE", "space"}, {"LD_LIBRARY_PATH", folder}})
                            .finish();
  ::unlink(library.c_str());
  ::rmdir(folder.c_str());
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.err, "libpmix.so.2 cannot be loaded")) << result.err;
  EXPECT_TRUE(has(result.err, "Debian: libpmix2")) << result.err;
  EXPECT_TRUE(has(result.err, "[VIA-0501]")) << result.err;
}

}  // namespace
