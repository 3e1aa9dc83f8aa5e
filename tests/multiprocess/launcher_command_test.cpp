// viaduct-run's command line.

#include <gtest/gtest.h>

#include "tests/multiprocess/launcher_driver.hpp"

namespace {

using driver::has;
using driver::launched_script;
using driver::Program;
using driver::Result;
using driver::Words;
using driver::operator+;

TEST(CommandLine, MistakesAre2) {
  const std::vector<Words> bad{{},
                               {"-n"},
                               {"-n", "0", "true"},
                               {"-n", "-1", "true"},
                               {"-n", "two", "true"},
                               {"-n", "70000", "true"},
                               {"-n", "99999999999999999999", "true"},
                               {"--nonsense", "true"},
                               {"--mode", "fibers", "true"},
                               {"--mode", "threads", "--bind", "true"},
                               {"--provider", "carrier-pigeon", "true"},
                               {"--provider", "shm:rxe0", "true"},
                               {"--timeout", "0", "true"},
                               {"--timeout", "nan", "true"},
                               {"--timeout", "soon", "true"},
                               {"-n", "2"},
                               {"-n", "2", ""},
                               {"--", ""}};
  for (const Words& options : bad) {
    const Result result = Program(Words{driver::viaduct_run()} + options).finish();
    std::string line;
    for (const auto& word : options) line += word + " ";
    EXPECT_EQ(result.code, 2) << line;
    EXPECT_EQ(result.err.rfind("viaduct-run: ", 0), 0U) << line << result.err;
    EXPECT_EQ(driver::count(result.err, "\n"), 1) << line << result.err;
  }
}

TEST(CommandLine, ANumberOfRanksThatIsNoneIsToldTheRange) {
  for (const char* const ranks :
       {"-1", "0", "99999999999999999999", "-99999999999999999999", "1.5", "two", ""}) {
    const Result result = Program({driver::viaduct_run(), "-n", ranks, "true"}).finish();
    EXPECT_EQ(result.code, 2) << ranks;
    EXPECT_TRUE(has(result.err, "--ranks: give a whole number from 1 to 65536;")) << result.err;
  }
}

TEST(CommandLine, TooManyRanksAreToldTheLimitAndWhatToDo) {
  const std::string sentence = "a job has at most 65536 processes, not 65537: a global pointer";
  for (const Words& options : std::vector<Words>{{"-n", "65537"},
                                                 {"--hosts", "a:65536,b:1"},
                                                 {"--hosts", "a:65537"},
                                                 {"--hosts", "a,b", "-n", "65537"}}) {
    const Result result = Program(Words{driver::viaduct_run()} + options + Words{"true"}).finish();
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(has(result.err, sentence)) << result.err;
    EXPECT_TRUE(has(result.err, "start fewer processes")) << result.err;
  }
}

TEST(CommandLine, UnknownProviderSaysWhatThereIs) {
  const Result result =
      Program({driver::viaduct_run(), "--provider", "carrier-pigeon", "true"}).finish();
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err, "there is no provider \"carrier-pigeon\"; this build has: shm"))
      << result.err;
}

TEST(CommandLine, OptionsEndAtTheProgram) {
  const Result result =
      Program({driver::viaduct_run(), "-n", "1", "echo", "-n", "3", "--label", "--help"}).finish();
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "3 --label --help");
}

TEST(CommandLine, BehindTwoDashesStandsTheProgram) {
  const Result none = Program({driver::viaduct_run(), "--", "-n", "2", "true"}).finish();
  EXPECT_EQ(none.code, 125) << none.err;
  EXPECT_TRUE(has(none.err, "cannot execute -n (it is in no folder of PATH")) << none.err;
  EXPECT_TRUE(has(none.err, "viaduct-run's own options stand before --")) << none.err;
  EXPECT_TRUE(has(none.err, "[VIA-1002]")) << none.err;
  const Result some = Program({driver::viaduct_run(), "-n", "1", "--", "echo", "-n", "3"}).finish();
  EXPECT_EQ(some.code, 0);
  EXPECT_EQ(some.out, "3");
}

TEST(CommandLine, NumbersAreDecimal) {
  const Result ten = launched_script({"-n", "010"}, "echo rank");
  EXPECT_EQ(ten.code, 0) << ten.err;
  EXPECT_EQ(driver::count(ten.out, "rank"), 10);
  for (const Words& option : {Words{"-n", "0x2"}, Words{"--timeout", "0x10"}}) {
    const Result result = launched_script(option, "true");
    EXPECT_EQ(result.code, 2) << option[0];
    EXPECT_TRUE(has(result.err, "numbers are decimal")) << result.err;
  }
  EXPECT_EQ(launched_script({"-n", "18446744073709551616"}, "true").code, 2);
}

TEST(CommandLine, Questions) {
  EXPECT_TRUE(has(Program({driver::viaduct_run(), "--version"}).finish().out, "viaduct-run "));
  EXPECT_TRUE(has(Program({driver::viaduct_run(), "--help"}).finish().out, "--keep-going"));
  EXPECT_TRUE(has(Program({driver::viaduct_run(), "--help"}).finish().out,
                  "Usage: viaduct-run [OPTIONS] PROGRAM [ARGUMENTS]\n"));
  const Result config = Program({driver::viaduct_run(), "--help-config"},
                                {{"VIADUCT_YIELDS", "3"}, {"VIADUCT_PROVIDR", "shm"}})
                            .finish();
  EXPECT_EQ(config.code, 0);
  EXPECT_TRUE(has(config.out, "VIADUCT_SPIN_NS = auto")) << config.out;
  EXPECT_TRUE(has(config.out, "Now 3 (from the environment).")) << config.out;
  EXPECT_TRUE(has(config.out, "VIADUCT_PROVIDR is not a variable that Viaduct knows"))
      << config.out;
  EXPECT_TRUE(has(config.out, "Did you mean VIADUCT_PROVIDER?")) << config.out;
}

TEST(CommandLine, ProviderReachesTheRanks) {
  EXPECT_EQ(launched_script({"--provider", "shm"}, "test \"$VIADUCT_PROVIDER\" = shm").code, 0);
  EXPECT_EQ(
      launched_script({"--provider", "verbs:a:1"}, "test \"$VIADUCT_PROVIDER\" = verbs:a:1").code,
      0);
}

TEST(CommandLine, BindGivesEachRankOneCore) {
  const Result result =
      launched_script({"-n", "3", "--bind"}, "grep Cpus_allowed_list /proc/self/status");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(driver::count(result.out, "Cpus_allowed_list"), 3);
  EXPECT_FALSE(has(result.out, "-")) << "more than one core: " << result.out;
  EXPECT_FALSE(has(result.out, ",")) << "more than one core: " << result.out;
}

}  // namespace
