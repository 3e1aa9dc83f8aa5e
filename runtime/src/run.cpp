#include <cxxabi.h>
#include <fmt/format.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "runtime/errors/codes.hpp"
#include "runtime/src/job_impl.hpp"
#include "runtime/src/rank_name.hpp"
#include "runtime/standard_streams.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct {

using Body = int (*)(Job&, int, char**);

/// run()'s access to the functions of a Job that only run() may call.
struct RankRun {
  Body body;
  int argc;
  char** argv;

  /// As the rank's own log would; there may be no Job.
  static void complain(const char* what) noexcept {
    const std::uint32_t rank = rank_of_this_thread();
    const std::uint32_t ranks = rank == kNoRankName ? 1 : 2;  // 2: more than one, so it is named
    Log(LogLevel::error, rank, ranks).write(LogLevel::error, what);
  }

  /// A process' exit code has eight bits. What is not 0 must not become 0.
  static int exit_code_of(int code) noexcept { return code != 0 && (code & 0xff) == 0 ? 1 : code; }

  /// The body's exit code; 1, and a Job that will not finalize, when it throws.
  int call(Job& job) const {
    try {
      const int code = exit_code_of(body(job, argc, argv));
      job.impl_->failed = code != 0;
      // The Job's end waits for other ranks, and viaduct-run may end this process meanwhile. The
      // others must hear of a failure also when nobody reads the output.
      if (code == 0)
        std::fflush(stdout);
      else
        flush_standard_output_at_once();
      return code;
    } catch (const abi::__forced_unwind&) {
      complain(with_code(errors::program_threw,
                         "pthread_exit() has ended the program's body; let the body return")
                   .c_str());
      job.impl_->abandoned = true;
      throw;
    } catch (const Error& problem) {
      complain(problem.what());
    } catch (const std::exception& problem) {
      complain(with_code(errors::program_threw, problem.what()).c_str());
    } catch (...) {
      constexpr const char* kWhat =
          "an exception that is no std::exception left the program's body";
      complain(with_code(errors::program_threw, kWhat).c_str());
    }
    job.impl_->abandoned = true;
    return 1;
  }

  [[nodiscard]] int alone() const {
    try {
      Job job;
      return call(job);
    } catch (const std::exception& problem) {
      complain(problem.what());
    }
    return 1;
  }

  void thread(const std::shared_ptr<ThreadWorld>& world, const Launch& launch,
              std::uint32_t rank) const {
    int code = 1;
    try {
      Job job(Job::Impl::of_thread(world, launch, rank));
      code = call(job);
    } catch (const abi::__forced_unwind&) {
      lose_rank(*world, launch, rank, code);
      throw;
    } catch (const std::exception& problem) {
      name_this_thread(rank);
      complain(problem.what());
    }
    if (world->page->record(Rank{rank}).state.load() != RankState::finalized) {
      lose_rank(*world, launch, rank, code);
    } else if (code != 0) {
      world->page->record(Rank{rank}).cause.store(code, std::memory_order_relaxed);
      note_failure(*world, code);
    }
  }

  static void lose_rank(ThreadWorld& world, const Launch& launch, std::uint32_t rank, int code) {
    lose_thread_rank(world, Rank{rank}, RankState::killed, code);
    if (!launch.keep_going) end_process(code);
  }

  static void note_failure(ThreadWorld& world, int code) {
    const std::lock_guard lock(world.mutex);
    if (!world.failed) world.first_failure = code;
    world.failed = true;
  }

  /// Ends the other ranks, too, as viaduct-run does when they are processes, with no clearing up.
  /// The plain system call, since a sanitizer's _exit would report the other ranks' threads as
  /// leaked.
  [[noreturn]] static void end_process(int code) {
    flush_all_within(std::chrono::milliseconds(200));
    while (true) ::syscall(SYS_exit_group, code);
  }

  [[nodiscard]] int threads(const Launch& launch) const {
    const auto world = std::make_shared<ThreadWorld>(PageMapping::attach(launch.page));
    std::vector<std::thread> ranks;
    try {
      for (std::uint32_t i = 0; i < launch.size; ++i) {
        ranks.emplace_back([this, &world, &launch, i] { thread(world, launch, i); });
      }
    } catch (const std::exception& problem) {  // no thread, or no memory for one
      complain(with_code(errors::system_refused,
                         fmt::format("cannot start rank {} of {} as a thread (ulimit -u): {}",
                                     ranks.size(), launch.size, problem.what()))
                   .c_str());
      end_process(1);
    }
    for (std::thread& rank : ranks) rank.join();
    return world->failed ? world->first_failure : 0;
  }
};

int run(int (*body)(Job&, int, char**), int argc, char** argv) {
  open_standard_streams();
  const RankRun rank_run{body, argc, argv};
  try {
    const Launch launch = detect_launch();
    if (launch.mode == Launch::Mode::threads && launch.size > 1) return rank_run.threads(launch);
  } catch (const std::exception& problem) {
    RankRun::complain(problem.what());
    return 1;
  }
  return rank_run.alone();
}

}  // namespace viaduct
