// What viaduct-run says while its standard error takes nothing, and afterwards.

#include "runtime/launcher/say.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <string>

#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::launcher {
namespace {

/// Everything that comes until @p last has come.
std::string read_until(int from, const std::string& last) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (text.find(last) == std::string::npos) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// More than may wait: a report of what each of thousands of ranks waits for is as long.
TEST(Say, ALongReportIsSaidAndWhatWasDroppedIsCounted) {
  Pipe pipe = open_pipe();
  const FileDescriptor before(::dup(STDERR_FILENO));
  ASSERT_GE(::dup2(pipe.writing.get(), STDERR_FILENO), 0);
  say("first " + std::string(std::size_t{1} << 20, '#'));
  say("second " + std::string(std::size_t{1} << 20, '+'));
  say("third");
  const std::string text = read_until(pipe.reading.get(), "took nothing\n");
  ::dup2(before.get(), STDERR_FILENO);
  EXPECT_EQ(std::count(text.begin(), text.end(), '#'), 1 << 20);
  EXPECT_EQ(std::count(text.begin(), text.end(), '+'), 1 << 20);
  EXPECT_EQ(text.find("third"), std::string::npos);
  EXPECT_TRUE(
      text.ends_with("+\nviaduct-run: 1 sentence was dropped, since standard error took nothing\n"))
      << text.substr(text.size() - std::min<std::size_t>(text.size(), 200));
}

}  // namespace
}  // namespace viaduct::launcher
