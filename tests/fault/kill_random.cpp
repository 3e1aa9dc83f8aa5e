// Kills a random rank at a random moment, again and again, and looks at what the launcher says and
// what is left.
//
//     kill_random [--runs N] [--seed S] [--ranks N] [--survive [--device] | --launcher]
//
// Every run has a wanted state (idle, in a handler, holding credits, waiting; now and then:
// whatever comes, start-up included) and a random rank: the kill comes at the first moment after a
// random delay at which that rank is in that state, and stays: it is stopped first. What is counted
// is the state that the victim died in. With --survive the others go on (--keep-going) and must all
// be told of the loss. With --launcher the launcher is killed while that rank is in that state, and
// nothing may be left. The last line prints the longest times: two seconds are promised, on a
// machine that has time for the job. The test itself fails only after driver::patience_seconds(),
// which a hang alone reaches.

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "runtime/program/command_line.hpp"
#include "tests/fault/leftovers.hpp"
#include "tests/fault/states.hpp"
#include "tests/multiprocess/launcher_driver.hpp"
#include "viaduct/runtime/clock.hpp"

namespace {

using fault::State;
using Random = std::mt19937_64;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint32_t kLeastOfEach = 10;  // in a hundred runs
constexpr std::array kWanted{State::idle, State::in_handler, State::holding, State::waiting};

std::uint64_t patience_ns() {
  return static_cast<std::uint64_t>(driver::patience_seconds()) * kSecond;
}

struct Options {
  std::uint32_t runs = 100;
  std::uint64_t seed = std::random_device{}();
  std::uint32_t ranks = 6;
  bool survive = false;
  bool device = false;
  bool launcher = false;
};

/// One job, one victim.
class Run {
 public:
  Run(const Options& options, std::string directory)
      : options_(options),
        directory_(std::move(directory)),
        leftovers_(directory_),
        tag_(driver::new_tag()),
        page_(fault::Page::create(page_fd_)),
        job_(command(), {{"TMPDIR", directory_}}) {}
  ~Run() {
    ::close(page_fd_);
    ::munmap(&page_, sizeof page_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Empty, or what went wrong. @p wanted starting: kills at once, whatever the victim does.
  std::string kill_one(State wanted, std::uint32_t victim, std::uint64_t delay_ns);

  [[nodiscard]] State died_in() const { return died_in_; }
  [[nodiscard]] double seconds_to_end() const { return seconds_to_end_; }
  [[nodiscard]] double seconds_to_notice() const { return seconds_to_notice_; }

 private:
  [[nodiscard]] std::vector<std::string> command() const {
    std::vector<std::string> words{driver::viaduct_run(), "-n", std::to_string(options_.ranks),
                                   "--timeout", std::to_string(driver::patience_seconds())};
    if (options_.survive) words.emplace_back("--keep-going");
    for (const std::string& word : {driver::test_program("traffic"), std::to_string(page_fd_),
                                    std::string(options_.survive ? "survive" : "go-on"), tag_})
      words.push_back(word);
    return words;
  }
  template <class Condition>
  static bool wait_for(Condition condition, std::uint64_t limit_ns) {
    const std::uint64_t until = viaduct::monotonic_ns() + limit_ns;
    while (!condition()) {
      if (viaduct::monotonic_ns() > until) return false;
      ::sched_yield();
    }
    return true;
  }
  [[nodiscard]] pid_t launcher() const;
  static bool stop_in(const fault::RankLine& line, State wanted, int pidfd);
  std::string check_survivors(std::uint32_t victim);

  const Options& options_;
  std::string directory_;
  fault::Leftovers leftovers_;
  std::string tag_;
  int page_fd_ = -1;
  fault::Page& page_;
  driver::Program job_;
  State died_in_ = State::starting;
  std::uint64_t killed_ns_ = 0;
  double seconds_to_end_ = 0;
  double seconds_to_notice_ = 0;
};

/// A child of the process that was started, whose other child is the watchdog; 0: not there.
pid_t Run::launcher() const {
  for (const pid_t pid : driver::processes_with(tag_))
    if (driver::parent_of(pid) == job_.pid() && driver::name_of(pid) == "viaduct-run") return pid;
  return 0;
}

/// Stops the process of @p line, and answers whether it stands in the wanted state; else it goes
/// on.
bool Run::stop_in(const fault::RankLine& line, State wanted, int pidfd) {
  if (line.state != wanted) return false;
  ::syscall(SYS_pidfd_send_signal, pidfd, SIGSTOP, nullptr, 0);
  const std::string file = fmt::format("/proc/{}/stat", line.pid.load());
  const auto stands = [&file] {
    std::ifstream stat(file);
    std::string text;
    std::getline(stat, text);
    const std::size_t name_end = text.rfind(')');
    return name_end == std::string::npos || text.compare(name_end + 2, 1, "T") == 0;
  };
  if (!wait_for(stands, patience_ns()) || line.state != wanted) {
    ::syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, nullptr, 0);
    return false;
  }
  return true;
}

std::string Run::kill_one(State wanted, std::uint32_t victim, std::uint64_t delay_ns) {
  fault::RankLine& line = page_.ranks[victim];
  const bool steered = wanted != State::starting;
  const auto ready = [&] {
    for (std::uint32_t r = 0; r < options_.ranks; ++r)
      if (page_.ranks[r].rounds < 1) return false;
    return true;
  };
  if (!wait_for([&] { return line.pid != 0; }, patience_ns())) return "the victim never started";
  if (steered && !wait_for(ready, patience_ns()))
    return "the ranks did not all get through a round";
  const pid_t pid = options_.launcher ? launcher() : line.pid.load();
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) return "the victim was gone before it was killed";
  for (std::uint32_t r = 0; r < options_.ranks; ++r)
    if (page_.ranks[r].pid != 0) leftovers_.note_memory_of(page_.ranks[r].pid);
  leftovers_.note_sockets_of(tag_);
  if (steered && leftovers_.memory_files() < options_.ranks)
    return "the ranks' memory files were not found";
  (void)wait_for([] { return false; }, delay_ns);
  if (steered &&
      !wait_for(
          [&] { return options_.launcher ? line.state == wanted : stop_in(line, wanted, pidfd); },
          patience_ns()))
    return fmt::format("rank {} was never {}", victim, to_string(wanted));
  died_in_ = line.state;
  killed_ns_ = viaduct::monotonic_ns();
  if (::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0) != 0) return "nobody was killed";
  pollfd end{pidfd, POLLIN, 0};
  const bool ended = ::poll(&end, 1, driver::patience_seconds() * 1000) == 1;
  ::close(pidfd);
  if (!ended) return "the victim does not die";
  if (!options_.launcher) died_in_ = line.state;

  const driver::Result result = job_.finish();
  seconds_to_end_ = static_cast<double>(viaduct::monotonic_ns() - killed_ns_) * 1e-9;
  const std::string verdict =
      options_.launcher ? "the launcher process was killed by signal 9"
                        : fmt::format(
                              "rank {} (pid {}) was killed by signal 9 (Killed); it is the "
                              "first to fail",
                              victim, pid);
  constexpr int kLauncherFailed = 125;
  if (result.code != (options_.launcher ? kLauncherFailed : 128 + SIGKILL))
    return fmt::format("the exit code is {}:\n{}", result.code, result.err);
  if (driver::count(result.err, verdict) != 1)
    return fmt::format("the launcher does not say \"{}\" but:\n{}", verdict, result.err);
  if (std::string left = leftovers_.find(tag_, driver::patience_seconds()); !left.empty())
    return left;
  return options_.survive && steered ? check_survivors(victim) : std::string{};
}

/// What each survivor knows must agree with what the others know.
std::string Run::check_survivors(std::uint32_t victim) {
  for (std::uint32_t i = 0; i < options_.ranks; ++i) {
    if (i == victim) continue;
    const fault::RankLine& me = page_.ranks[i];
    if (me.state != State::finished) return fmt::format("rank {} survived but did not finish", i);
    const std::uint64_t noticed = me.noticed_ns;
    const std::uint64_t took = noticed > killed_ns_ ? noticed - killed_ns_ : 0;
    seconds_to_notice_ = std::max(seconds_to_notice_, static_cast<double>(took) * 1e-9);
    if (noticed == 0 || took > patience_ns())
      return fmt::format("rank {} was told of the loss after {:.3f} s", i,
                         static_cast<double>(took) * 1e-9);
    if (me.peer_lost == 0) return fmt::format("no request of rank {} was answered peer_lost", i);
    const std::uint64_t sent = me.sent[victim];
    // Every request is replied to or comes back, not both; one that the victim was handling when it
    // died comes back, and those whose replies its device had not sent.
    const std::uint64_t replied = me.replied[victim];
    const std::uint64_t returned = me.returned[victim];
    const std::uint64_t handled = page_.ranks[victim].handled[i];
    const std::uint64_t unsent = options_.device ? sent : 1;
    if (replied + returned != sent || handled > replied + unsent || replied > handled)
      return fmt::format(
          "rank {} sent {} requests to the victim, which handled {}: {} replies, {} returned", i,
          sent, handled, replied, returned);
    for (std::uint32_t j = 0; j < options_.ranks; ++j) {
      if (j == i || j == victim) continue;
      const std::uint64_t asked = me.sent[j];
      if (me.replied[j] != asked || page_.ranks[j].handled[i] != asked || me.returned[j] != 0)
        return fmt::format(
            "rank {} sent {} requests to rank {}, which handled {}: {} replies, {} returned", i,
            asked, j, page_.ranks[j].handled[i].load(), me.replied[j].load(),
            me.returned[j].load());
    }
  }
  return {};
}

Options parse(int argc, char** argv) {
  Options options;
  viaduct::program::CommandLine app("Kills random ranks at random moments", "kill_random");
  app.option("--runs", options.runs, "Jobs, with one victim each").within(1, 1000000);
  app.option("--seed", options.seed, "Of the choice of victims and moments; printed, to repeat it");
  app.option("--ranks", options.ranks, "Ranks of each job").within(2, fault::kMaxRanks);
  const auto survive = app.flag("--survive", options.survive, "The others go on");
  app.flag("--device", options.device, "A device sends, and what it has not sent ends with it")
      .needs(survive);
  app.flag("--launcher", options.launcher, "The launcher is killed").excludes(survive);
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code)) std::exit(exit_code);
  return options;
}

int run_all(const Options& options, const std::string& directory) {
  Random random(options.seed);
  fmt::print("kill_random: seed {}, {} runs of {} ranks{}\n", options.seed, options.runs,
             options.ranks,
             options.survive    ? ", the others go on"
             : options.launcher ? ", of the launcher"
                                : "");
  std::array<std::uint32_t, fault::kStates> died{};
  double longest_end = 0;
  double longest_notice = 0;
  const std::uint64_t start = viaduct::monotonic_ns();
  for (std::uint32_t i = 0; i < options.runs; ++i) {
    const bool steered = i % 9 != 8;  // the others: at once, which meets start-up
    const State wanted = steered ? kWanted[i % kWanted.size()] : State::starting;
    const auto victim = static_cast<std::uint32_t>(random() % options.ranks);
    const std::uint64_t delay_ns = random() % 20'000'000;
    Run run(options, directory);
    const std::string problem = run.kill_one(wanted, victim, delay_ns);
    const State died_in = run.died_in();
    fmt::print("run {:3}: rank {} {} {}; the job had ended after {:.3f} s\n", i, victim,
               options.launcher ? "was" : "died", to_string(died_in), run.seconds_to_end());
    std::fflush(stdout);
    if (!problem.empty()) {
      fmt::print(stderr, "kill_random: run {} of seed {}, rank {}: {}\n", i, options.seed, victim,
                 problem);
      return 1;
    }
    ++died[static_cast<std::uint32_t>(died_in)];
    longest_end = std::max(longest_end, run.seconds_to_end());
    longest_notice = std::max(longest_notice, run.seconds_to_notice());
  }
  bool enough = true;
  const std::uint32_t least = options.runs * kLeastOfEach / 100;
  for (const State state : kWanted)
    enough = enough && died[static_cast<std::uint32_t>(state)] >= least;
  fmt::print(
      "kill_random: {} kills in {:.1f} s: {} starting, {} idle, {} in a handler, {} holding "
      "credits, {} waiting; "
      "longest time to the job's end {:.3f} s{}\n",
      options.runs, static_cast<double>(viaduct::monotonic_ns() - start) * 1e-9, died[0], died[1],
      died[2], died[3], died[4], longest_end,
      options.survive ? fmt::format(", to a survivor's notice {:.3f} s", longest_notice) : "");
  if (!enough) fmt::print(stderr, "kill_random: each state must be met at least {} times\n", least);
  return enough ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::string directory = (std::filesystem::temp_directory_path() / "viaduct-kill-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr || ::chdir(directory.c_str()) != 0) return 1;
  const int code = run_all(options, directory);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  return code;
}
