#include "examples/splitc/common/program.hpp"

#include <cstdio>
#include <utility>

namespace examples {
namespace {

constexpr int kBadInput = 2;
constexpr double kSecondsBetweenLines = 2;

// Thrown in all processes at once; one of them has the sentence.
struct Ended {
  std::string sentence;
};

}  // namespace

Program::Program(const std::string& name, const std::string& what_it_does)
    : command_line_(what_it_does, name) {
  command_line_.show_defaults();
}

int Program::run(int argc, char** argv, const std::function<int()>& body) {
  const auto complain = [this](const std::string& sentence) {
    fmt::print(stderr, "{}: {}\n", command_line_.name(), sentence);
  };
  const auto complain_once = [&](const std::string& sentence) {
    if (MYPROC == 0) complain(sentence);
    return kBadInput;
  };
  using Parsed = viaduct::program::CommandLine::Parsed;
  const Parsed parsed = command_line_.parse(argc, argv);
  if (parsed == Parsed::answered) {  // --help
    say("{}", command_line_.text());
    return 0;
  }
  if (parsed == Parsed::refused)
    return complain_once(fmt::format("{} (--help lists the options)", command_line_.text()));
  try {
    return body();
  } catch (const BadInput& error) {
    return complain_once(error.what());
  } catch (const Ended& ended) {
    if (!ended.sentence.empty()) complain(ended.sentence);
    return kBadInput;
  }
}

void together(const std::function<void()>& f) {
  std::string wrong;
  try {
    f();
  } catch (const std::exception& error) {
    wrong = error.what();
  }
  const int first = splitc::all_reduce_min(wrong.empty() ? PROCS : MYPROC);
  if (first == PROCS) return;
  throw Ended{first == MYPROC ? wrong : ""};
}

void on_process_0(const std::function<void()>& f) {
  together([&f] {
    if (MYPROC == 0) f();
  });
}

int verdict(const std::string& wrong, const std::string& checked) {
  if (!wrong.empty()) fmt::print(stderr, "process {}: WRONG: {}\n", MYPROC, wrong);
  const int bad = splitc::all_reduce_add(wrong.empty() ? 0 : 1);
  if (bad == 0) {
    say("verified: {}\n", checked);
  } else {
    say("NOT verified: {} of {} processes found a mistake\n", bad, PROCS);
  }
  return bad == 0 ? 0 : 1;
}

Stopwatch::Stopwatch() {
  splitc::barrier();
  start_ = splitc::get_seconds();
}

double Stopwatch::stop(double amount, const std::string& unit) {
  splitc::barrier();
  const double seconds = splitc::get_seconds() - start_;
  say("time {:.4f} s, rate {:.4g} {}/s, {} process{}\n", seconds, amount / seconds, unit, PROCS,
      PROCS == 1 ? "" : "es");
  return seconds;
}

Progress::Progress(std::string what, std::uint64_t total)
    : what_(std::move(what)),
      total_(total),
      start_(splitc::get_seconds()),
      next_(start_ + kSecondsBetweenLines) {}

void Progress::at(std::uint64_t done) {
  if (MYPROC != 0) return;
  const double now = splitc::get_seconds();
  if (now < next_ || done == 0) return;
  const double part = static_cast<double>(done) / static_cast<double>(total_);
  fmt::print(stderr, "{} {} of {} ({:.0f} %), {:.0f} s to go\n", what_, done, total_, 100 * part,
             (now - start_) * (1 - part) / part);
  next_ = now + kSecondsBetweenLines;
}

}  // namespace examples
