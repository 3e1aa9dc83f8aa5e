// A program whose ranks end, hang, leave and misbehave in the ways that the launcher's tests ask
// for.
//
//   launcher_actor TAG VERB [ARGUMENTS]
//
// TAG is only there to be found in /proc/PID/cmdline.

#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/programs/launcher_actor.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/runtime/settings.hpp"
#include "viaduct/runtime/stats.hpp"
#include "viaduct/via/nic.hpp"

namespace {

using actor::barrier;
using actor::hang;
using actor::say;
using actor::self;
using actor::sleep_until;
using viaduct::Job;
using viaduct::Rank;
using viaduct::Status;

int number(char** argv, int at) { return std::atoi(argv[at]); }

/// What works in a job on several hosts without any provider: bootstrap data, barriers, who is
/// where.
int spread(Job& job, char**) {
  const std::vector<std::byte> big(60000, static_cast<std::byte>(index(job.rank())));
  job.bootstrap().put("big", big);
  job.bootstrap().fence();
  for (std::uint32_t i = 0; i < job.size(); ++i) {
    if (job.bootstrap().get(Rank{i}, "big") !=
        std::vector<std::byte>(60000, static_cast<std::byte>(i)))
      return 3;
  }
  constexpr int kBarriers = 20;
  for (int i = 0; i < kBarriers; ++i) {
    if (barrier(job) != Status::ok) return 4;
  }
  std::string beside;
  for (std::uint32_t i = 0; i < job.size(); ++i) {
    if (job.same_host(Rank{i})) beside.append(" ").append(std::to_string(i));
  }
  say("rank " + std::to_string(index(job.rank())) + " of " + std::to_string(job.size()) +
      " on host " + std::to_string(job.host_of(job.rank())) + " of " + std::to_string(job.hosts()) +
      " with" + beside);
  return 0;
}

/// Waits until so many are lost (one, if it is not said), and says who.
int await_loss(Job& job, char** argv) {
  const std::uint32_t wanted = static_cast<std::uint32_t>(argv[3] != nullptr ? number(argv, 3) : 1);
  const auto lost = [&] {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < job.size(); ++i) sum += job.is_lost(Rank{i}) ? 1U : 0U;
    return sum;
  };
  say("ready");
  sleep_until(job, [&] { return lost() >= wanted; });
  for (std::uint32_t i = 0; i < job.size(); ++i) {
    if (job.is_lost(Rank{i})) say("lost " + std::to_string(i));
  }
  return 0;
}

/// What each rank tells of its ports, from a thread beside it, every host knows.
int ports(Job& job, char**) {
  for (const std::uint32_t down : {1U, 0U}) {
    std::thread([&] { job.tell_port(down == 1); }).join();
    job.bootstrap().fence();
    for (std::uint32_t i = 0; i < job.size(); ++i)
      if (job.record(Rank{i}).ports_down.load() != down) return 3;
    job.bootstrap().fence();
  }
  return 0;
}

/// Opens the default NIC and finds the others' rings.
int open_default_nic(Job& job, char**) {
  const auto nic = viaduct::via::open_nic(job);
  return barrier(job) == Status::ok ? 0 : 9;
}

// --- ways to end ---------------------------------------------------------------------------------

int ok(Job& job, char**) { return barrier(job) == Status::ok ? 0 : 9; }

int return_code(Job& job, char** argv) {
  return static_cast<int>(index(job.rank())) == number(argv, 3) ? number(argv, 4) : 0;
}

int throw_one(Job& job, char** argv) {
  if (static_cast<int>(index(job.rank())) == number(argv, 3))
    throw std::runtime_error("thrown on purpose");
  sleep_until(job, [&] { return job.life_epoch() != 0; });
  return 0;
}

int exit_thread(Job& job, char** argv) {
  if (static_cast<int>(index(job.rank())) == number(argv, 3)) ::pthread_exit(nullptr);
  hang();
}

/// The survivors of a rank's end: they are told, who it was, in time.
int survive(Job& job, Rank victim) {
  const Status status = barrier(job);
  std::string line =
      "survivor " + std::to_string(index(job.rank())) + ": " + viaduct::to_string(status);
  line += job.is_lost(victim) ? ", lost" : ", not lost";
  say(line + ", first " + std::to_string(job.page().first_lost.load()));
  return status == Status::peer_lost && job.is_lost(victim) ? 0 : 9;
}

int leave(Job& job, char** argv) {
  const Rank victim{static_cast<std::uint32_t>(number(argv, 3))};
  if (job.rank() == victim) std::exit(0);
  return survive(job, victim);
}

int die(Job& job, char** argv) {
  const Rank victim{static_cast<std::uint32_t>(number(argv, 3))};
  if (job.rank() == victim) ::raise(number(argv, 4));
  return survive(job, victim);
}

/// The victim is killed behind a barrier; the others say how long it took until they knew.
int die_behind(Job& job, char** argv) {
  const Rank victim{static_cast<std::uint32_t>(number(argv, 3))};
  if (barrier(job) != Status::ok) return 3;
  if (job.rank() == victim) ::raise(SIGKILL);
  const std::uint64_t start = viaduct::monotonic_ns();
  const Status status = barrier(job);
  const std::uint64_t took_ms = (viaduct::monotonic_ns() - start) / 1'000'000;
  const bool told = status == Status::peer_lost && job.is_lost(victim);
  say("rank " + std::to_string(index(job.rank())) + (told ? " was told " : " was not told ") +
      std::to_string(took_ms) + " ms");
  return told ? 0 : 9;
}

/// The victim is killed on its way into a barrier (its ticket is written, nobody has counted it) or
/// before it; the others ask for two barriers.
int die_arriving(Job& job, char** argv) {
  const Rank victim{static_cast<std::uint32_t>(number(argv, 3))};
  if (job.rank() == victim) {
    if (std::string(argv[2]) == "die-arriving") job.record(victim).barrier_ticket.store(1);
    ::raise(SIGKILL);
  }
  const std::string first = viaduct::to_string(barrier(job));
  say("first " + first + ", second " + viaduct::to_string(barrier(job)));
  return 0;
}

/// The victim's body ends with a code while the others wait for it in a barrier.
int desert(Job& job, char** argv) {
  if (static_cast<int>(index(job.rank())) == number(argv, 3)) return number(argv, 4);
  const Status status = barrier(job);
  say("deserted: " + std::string(viaduct::to_string(status)));
  return status == Status::ok ? 0 : 9;
}

int hang_all(Job& job, char** argv) {
  const std::string verb = argv[2];
  if (verb != "hang") ::signal(SIGTERM, SIG_IGN);
  if (verb == "hang-stubborn") ::signal(SIGHUP, SIG_IGN);
  auto& record = job.record(job.rank());
  record.activity.store(viaduct::Activity::waiting_credit);
  record.waits_for_peer.store((index(job.rank()) + 1) % job.size());
  record.credits_in.store(3);
  record.bytes_expected.store(1000);
  record.bytes_seen.store(10);
  record.last_poll_ns.store(viaduct::monotonic_ns());
  record.operation.store("Endpoint::request");
  say("ready");
  hang();
}

int stop_one(Job& job, char** argv) {
  say("ready");
  if (static_cast<int>(index(job.rank())) == number(argv, 3)) ::raise(SIGSTOP);
  hang();
}

/// Prints the signals that come, and ends well with SIGTERM.
int print_signals(Job& job, char**) {
  sigset_t set;
  sigfillset(&set);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  static_cast<void>(barrier(job));
  say("ready");
  for (int got = 0; ::sigwait(&set, &got) == 0;) {
    if (got == SIGTERM) break;
    say(std::string("signal ") + std::to_string(got));
  }
  return 0;
}

// --- talking -------------------------------------------------------------------------------------

int print_stdin(Job& job, char**) {
  std::size_t bytes = 0;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::read(STDIN_FILENO, buffer.data(), buffer.size())) > 0;) {
    bytes += static_cast<std::size_t>(got);
  }
  say("rank " + std::to_string(index(job.rank())) + " read " + std::to_string(bytes));
  return 0;
}

/// Waits until the reader of the pipe @p fd has taken all of it, or until nobody reads it any more.
void await_taken(int fd) {
  int left = 0;
  while (::ioctl(fd, FIONREAD, &left) == 0 && left != 0) {
    pollfd end{fd, POLLOUT, 0};
    if (::poll(&end, 1, 0) == 1 && (end.revents & POLLERR) != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

/// Lines in pieces, on both streams. The reader meets the first pieces alone. The last line has no
/// end, and rank 1 then dies at once, unless all is to go well.
int print_lines(Job& job, char** argv) {
  const auto put = [](int fd, const std::string& text) {
    if (::write(fd, text.data(), text.size()) < 0) std::_Exit(99);
  };
  for (int i = 0; i < number(argv, 3); ++i) {
    put(STDOUT_FILENO, "line " + std::to_string(i));
    if (i < 3) await_taken(STDOUT_FILENO);
    put(STDOUT_FILENO, " of rank " + std::to_string(index(job.rank())) + "\n");
    put(STDERR_FILENO, "error " + std::to_string(i) + "\n");
  }
  put(STDOUT_FILENO, "no end");
  if (std::string(argv[2]) == "lines" && index(job.rank()) == 1) ::raise(SIGKILL);
  static_cast<void>(barrier(job));
  return 0;
}

int count_things(Job& job, char**) {
  static constexpr std::array<viaduct::CounterName, 2> kNames{
      {{"things", "pieces"}, {"bytes", "bytes"}}};
  const std::array<std::uint64_t, 2> values{index(job.rank()) + 1U, 100U};
  job.stats().add("actor", kNames, values);
  job.stats().remove(values);
  return 0;
}

int exchange(Job& job, char**) {
  auto& bootstrap = job.bootstrap();
  const std::uint32_t me = index(job.rank());
  const std::vector<std::byte> big(60000, static_cast<std::byte>(me));
  bootstrap.put("big", big);
  bootstrap.put("rank", std::as_bytes(std::span(&me, 1)));
  const int mine = ::memfd_create("more", MFD_CLOEXEC);
  if (::pwrite(mine, &me, sizeof me, 0) != sizeof me) return 10;
  bootstrap.share_fd(mine, "more");
  bootstrap.fence();
  for (std::uint32_t i = 0; i < job.size(); ++i) {
    const auto value = bootstrap.get(Rank{i}, "big");
    if (value != std::vector<std::byte>(60000, static_cast<std::byte>(i))) return 3;
    std::uint32_t theirs = 0;
    std::memcpy(&theirs, bootstrap.get(Rank{i}, "rank").data(), sizeof theirs);
    if (theirs != i) return 4;
    const viaduct::FileDescriptor window = bootstrap.fetch_fd(Rank{i});
    struct stat status {};
    if (::fstat(window.get(), &status) != 0 ||
        static_cast<std::size_t>(status.st_size) != job.segment().window_bytes())
      return 5;
    const viaduct::FileDescriptor more = bootstrap.fetch_fd(Rank{i}, "more");
    if (::pread(more.get(), &theirs, sizeof theirs, 0) != sizeof theirs || theirs != i) return 11;
  }
  bootstrap.fence();  // threads: a descriptor stays its owner's
  ::close(mine);
  const auto refuses = [](auto call) {
    try {
      call();
    } catch (const viaduct::Error& problem) {
      say(problem.what());
      return true;
    }
    return false;
  };
  if (!refuses([&] { static_cast<void>(bootstrap.get(Rank{0}, "nothing")); })) return 6;
  if (!refuses([&] { static_cast<void>(job.window_of(Rank{job.size()})); })) return 7;
  if (!job.threads_mode() && job.size() > 1) {
    if (!refuses([&] { bootstrap.put("k", std::vector<std::byte>(100000)); })) return 8;
    if (!refuses([&] { static_cast<void>(bootstrap.fetch_fd(Rank{job.size()})); })) return 9;
    if (!refuses([&] { static_cast<void>(bootstrap.fetch_fd(Rank{0}, "none")); })) return 12;
  }
  return 0;
}

/// Each rank writes into its right neighbour's window, many rounds; a barrier lost or passed too
/// early shows.
int write_around(Job& job, char** argv) {
  using Word = std::atomic<std::uint32_t>;
  const std::uint32_t me = index(job.rank());
  const std::size_t offset = job.segment().allocate(sizeof(Word));
  auto* const mine = reinterpret_cast<Word*>(job.segment().base() + offset);
  auto* const theirs = reinterpret_cast<Word*>(job.window_of(Rank{(me + 1) % job.size()}) + offset);
  const auto rounds = static_cast<std::uint32_t>(number(argv, 3));
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    theirs->store(round, std::memory_order_relaxed);
    if (barrier(job) != Status::ok) return 3;
    if (mine->load(std::memory_order_relaxed) != round) return 4;
    if (barrier(job) != Status::ok) return 5;
  }
  return 0;
}

int describe(Job& job, char**) {
  say("rank " + std::to_string(index(job.rank())) + " of " + std::to_string(job.size()) +
      (job.threads_mode() ? " threads" : "") +
      (job.membarrier_works() ? " membarrier" : " no-membarrier") +
      (job.wait_policy().spin_ticks != 0 ? " spins" : " yields"));
  return 0;
}

/// Bytes that no rank should send, by a seed.
int garbage(Job& job, char** argv) {
  if (index(job.rank()) == 1) {
    std::mt19937 random(static_cast<unsigned>(number(argv, 3)));
    std::vector<unsigned char> bytes(std::uniform_int_distribution<std::size_t>(1, 4000)(random));
    for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
    const int fd = number(argv, 4) != 0 ? std::atoi(std::getenv("VIADUCT_BOOTSTRAP_FD")) : -1;
    if (::write(fd, bytes.data(), bytes.size()) < 0) return 9;
  }
  hang();
}

int second_job(Job&, char**) {
  const Job another;
  return 0;
}

int close_socket(Job& job, char**) {
  if (index(job.rank()) == 1) {
    ::close(std::atoi(std::getenv("VIADUCT_BOOTSTRAP_FD")));
    hang();
  }
  return survive(job, Rank{1});
}

/// Rank 1 fails with a code, or for code 0 by an exception, and its process needs 1.5 s more to
/// end. The others look whether it is lost, or do not.
int fail_slowly(Job& job, char** argv) {
  if (index(job.rank()) != 1) {
    if (std::string_view(argv[4]) == "unnoticed") hang();
    return barrier(job) == Status::ok ? 0 : 9;
  }
  std::atexit([] { std::this_thread::sleep_for(std::chrono::milliseconds(1500)); });
  if (number(argv, 3) == 0) throw std::runtime_error("thrown on purpose");
  return number(argv, 3);
}

/// Each rank ends with the code of its place, the last rank first.
int codes(Job& job, char** argv) {
  const std::uint32_t later = job.size() - 1 - index(job.rank());
  std::this_thread::sleep_for(std::chrono::milliseconds(200) * later);
  return number(argv, 3 + static_cast<int>(index(job.rank())));
}

int start_program(Job&, char** argv) {
  const std::string command = self() + " " + argv[1] + " ok";
  const int status = std::system(command.c_str());
  return WEXITSTATUS(status);
}

int long_wait(Job& job, char**) {
  const std::uint64_t since = viaduct::monotonic_ns();
  job.record(job.rank()).activity.store(viaduct::Activity::waiting_message);
  job.record(job.rank()).operation.store("a test's wait");
  const auto limit = static_cast<std::uint64_t>(job.settings().hang_report_ns);
  // Two calls at least when the time has passed, however long the process was kept from its core.
  for (int late = 0; late < 2;) {
    if (viaduct::monotonic_ns() - since >= 2 * limit) ++late;
    job.report_long_wait(since);
  }
  return 0;
}

using Verb = int (*)(Job&, char**);
const std::map<std::string, Verb>& verbs() {
  static const std::map<std::string, Verb> all{{"ok", ok},
                                               {"return", return_code},
                                               {"throw", throw_one},
                                               {"leave", leave},
                                               {"die", die},
                                               {"die-arriving", die_arriving},
                                               {"die-twice", die_arriving},
                                               {"die-behind", die_behind},
                                               {"desert", desert},
                                               {"hang", hang_all},
                                               {"hang-ignoring", hang_all},
                                               {"hang-stubborn", hang_all},
                                               {"stop", stop_one},
                                               {"signals", print_signals},
                                               {"children", actor::children},
                                               {"children-cleared", actor::children},
                                               {"leave-child", actor::leave_child},
                                               {"leave-thread", actor::leave_thread},
                                               {"scribble", actor::scribble},
                                               {"name-victim", actor::name_victim},
                                               {"misuse", actor::misuse_in_child},
                                               {"streams", actor::streams},
                                               {"flood", actor::flood},
                                               {"blocked", actor::blocked},
                                               {"exit-thread", exit_thread},
                                               {"stdin", print_stdin},
                                               {"lines", print_lines},
                                               {"lines-well", print_lines},
                                               {"stats", count_things},
                                               {"exchange", exchange},
                                               {"around", write_around},
                                               {"spread", spread},
                                               {"ports", ports},
                                               {"await-loss", await_loss},
                                               {"nic", open_default_nic},
                                               {"describe", describe},
                                               {"garbage", garbage},
                                               {"second", second_job},
                                               {"close-socket", close_socket},
                                               {"fail-slowly", fail_slowly},
                                               {"codes", codes},
                                               {"nested", start_program},
                                               {"long-wait", long_wait}};
  return all;
}

int body(Job& job, int, char** argv) { return verbs().at(argv[2])(job, argv); }

/// A program that makes its Job by itself, outside run().
int direct(int, char** argv) {
  try {
    Job job;
    return ok(job, argv);
  } catch (const viaduct::Error& problem) {
    std::fprintf(stderr, "direct: %s\n", problem.what());
    return 3;
  }
}

/// A program that goes on after its Job, until the agent of its host has ended.
int outlive(const std::string& verb) {
  try {
    Job job;
    if (verb == "outlive-abandoned") throw std::runtime_error("on purpose");
    if (barrier(job) != Status::ok) return 9;
  } catch (const std::runtime_error&) {
    say("without a Job");
  }
  for (int i = 0; i < 100; ++i) ::usleep(10'000);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 98;
  const std::string verb = argv[2];
  if (verb == "sleep") actor::child_hang(argv);
  if (verb == "direct") return direct(argc, argv);
  if (verb.rfind("outlive", 0) == 0) return outlive(verb);
  if (verbs().count(verb) == 0) return 98;
  return viaduct::run(body, argc, argv);
}
