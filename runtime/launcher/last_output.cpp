#include "runtime/launcher/last_output.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "runtime/launcher/say.hpp"

namespace viaduct::launcher {
namespace {

constexpr auto kMoment = std::chrono::milliseconds(20);
constexpr auto kWithoutReader = std::chrono::milliseconds(500);
constexpr auto kForTheReport = std::chrono::milliseconds(100);

}  // namespace

LastOutput::LastOutput(Labels& labels, std::chrono::milliseconds most)
    : labels_(labels), most_(most) {
  labels_.stop();
}

bool LastOutput::wait(bool failed, bool told_to_end) {
  const bool written = labels_.done_within(kMoment);
  complete_ = written && said_all_within(kMoment);
  if (complete_) return false;
  const auto now = Clock::now();
  if (labels_.written() != written_) progress_ = now;
  written_ = labels_.written();
  if (told_to_end) return now < begin_ + kWithoutReader;
  if (!written && !failed) return true;
  return now < std::min(progress_ + kWithoutReader, begin_ + most_);
}

void LastOutput::report() const {
  if (complete_) return;
  if (const std::size_t dropped = labels_.waiting(); dropped != 0)
    say(fmt::format("{} bytes of the ranks' output were dropped, since nobody took them in time",
                    dropped));
  static_cast<void>(said_all_within(kForTheReport));
}

}  // namespace viaduct::launcher
