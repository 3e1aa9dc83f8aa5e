#include "viaduct/runtime/log.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <string>

namespace viaduct {
namespace {

/// What @p writer writes to standard error, the end of its log included.
template <class Writer>
std::string written(LogLevel threshold, Writer&& writer) {
  testing::internal::CaptureStderr();
  {
    const Log log(threshold, 3, 8);
    writer(log);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(Log, a_line_names_the_rank_and_the_level) {
  const auto text = written(LogLevel::warn, [](const Log& log) {
    log.write(LogLevel::error, "no room");
    log.write(LogLevel::info, "nobody asked");
  });
  EXPECT_EQ(text, "viaduct: [rank 3] error: no room\n");
}

TEST(Log, a_line_that_comes_again_is_counted) {
  const auto text = written(LogLevel::warn, [](const Log& log) {
    for (int i = 0; i < 1100; ++i) log.write(LogLevel::error, "no room");
  });
  EXPECT_EQ(text,
            "viaduct: [rank 3] error: no room\n"
            "viaduct: [rank 3] error: 10 times by now: no room\n"
            "viaduct: [rank 3] error: 100 times by now: no room\n"
            "viaduct: [rank 3] error: 1000 times by now: no room\n"
            "viaduct: [rank 3] error: 1100 times by now: no room\n");
}

TEST(Log, lines_that_differ_are_all_written) {
  const auto text = written(LogLevel::debug, [](const Log& log) {
    for (int i = 0; i < 5; ++i) log.write(LogLevel::debug, "a step");
    for (int i = 0; i < 5; ++i) log.write(LogLevel::error, std::to_string(i));
    log.write(LogLevel::warn, "4");
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
}

TEST(Log, a_line_that_is_forgotten_says_how_often_it_came) {
  const auto text = written(LogLevel::warn, [](const Log& log) {
    for (int i = 0; i < 2; ++i) log.write(LogLevel::error, "no room");
    for (int i = 0; i < 40; ++i) log.write(LogLevel::error, std::to_string(i));
    log.write(LogLevel::error, "no room");
  });
  const auto told = text.find("error: 2 times by now: no room\n");
  EXPECT_LT(told, text.find("error: 31\n")) << "32 lines are known";
  EXPECT_GT(told, text.find("error: 30\n"));
  EXPECT_GT(text.rfind("error: no room\n"), text.find("error: 39\n")) << "and is new again";
}

}  // namespace
}  // namespace viaduct
