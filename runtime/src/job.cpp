#include "viaduct/job.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>

#include "runtime/errors/codes.hpp"
#include "runtime/hang_report.hpp"
#include "runtime/job_size.hpp"
#include "runtime/src/cores.hpp"
#include "runtime/src/job_impl.hpp"
#include "runtime/src/join.hpp"
#include "runtime/src/rank_name.hpp"
#include "runtime/src/stats_table.hpp"
#include "runtime/standard_streams.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/runtime/settings.hpp"
#include "viaduct/runtime/stats.hpp"

namespace viaduct {
namespace {

/// Time that a rank that has failed waits for the others to finalize with it: ranks that fail as
/// well need this time for their own messages.
constexpr std::chrono::milliseconds kGraceOfFailed{1000};

LogLevel level_of(const std::string& name) {
  if (name == "error") return LogLevel::error;
  if (name == "info") return LogLevel::info;
  if (name == "debug") return LogLevel::debug;
  return LogLevel::warn;
}

/// The cores that the host's ranks share, as seen from one of them: by the launcher's word, or all
/// that any of them may run on.
std::uint32_t shared_cores(const Launch& launch, const JobPage& page) {
  if (launch.cores == 0) return std::max(usable_cores(), cores_in(page));
  return launch.bound ? launch.cores : std::min(launch.cores, usable_cores());
}

[[noreturn]] void refuse_second_job(std::uint32_t rank) {
  throw Error(errors::second_job, std::errc::operation_not_permitted,
              fmt::format("rank {} cannot have a second Job: a process creates one, once", rank));
}

/// From starting to running: a rank has one Job in its life.
void enter_record(RankRecord& record, std::uint32_t rank) {
  RankState expected = RankState::starting;
  if (!record.state.compare_exchange_strong(expected, RankState::running,
                                            std::memory_order_acq_rel)) {
    refuse_second_job(rank);
  }
  record.pid.store(::getpid(), std::memory_order_relaxed);
  record.activity.store(Activity::barrier, std::memory_order_relaxed);
}

MappedMemory map_peer(Bootstrap& bootstrap, Rank peer, std::size_t expected_bytes) {
  const FileDescriptor file = bootstrap.fetch_fd(peer);
  struct stat status {};
  const int problem = ::fstat(file.get(), &status) != 0 ? errno : 0;
  if (problem != 0 || static_cast<std::size_t>(status.st_size) != expected_bytes) {
    throw Error(
        errors::settings_differ, problem != 0 ? problem : EINVAL,
        fmt::format(
            "the shared window of rank {} has {} bytes, this rank's {}: give every rank the same "
            "VIADUCT_SHM_WINDOW",
            index(peer), status.st_size, expected_bytes));
  }
  return map_window(file.get(), expected_bytes);
}

}  // namespace

std::unique_ptr<Job::Impl> Job::Impl::of_thread(std::shared_ptr<ThreadWorld> world,
                                                const Launch& launch, std::uint32_t rank) {
  auto impl = std::make_unique<Impl>();
  impl->launch = launch;
  impl->launch.rank = rank;
  impl->bootstrap = make_thread_bootstrap(world, impl->fork_mark, Rank{rank});
  impl->world = std::move(world);
  return impl;
}

/// Joins the others of the job where viaduct-run has not done so.
Launch Job::Impl::joined(Launch launch) {
  using Mode = Launch::Mode;
  if (launch.mode != Mode::rendezvous && launch.mode != Mode::pmix) return launch;
  RuntimeSettings settings;
  config::load(&settings, runtime_options());
  const std::chrono::nanoseconds limit(settings.join_timeout_ns);
  if (launch.mode == Mode::rendezvous) return viaduct::join(rendezvous_by_address(limit));
  pmix = std::make_unique<Pmix>();
  return viaduct::join(rendezvous_by_pmix(*pmix, limit));
}

std::unique_ptr<Job::Impl> Job::Impl::from_environment() {
  open_standard_streams();  // before libraries (PMIx, verbs) open files, too
  auto impl = std::make_unique<Impl>();
  const Launch launch = impl->joined(detect_launch());
  if (launch.mode == Launch::Mode::threads && launch.size > 1) {
    throw Error(
        errors::job_of_threads, std::errc::operation_not_permitted,
        fmt::format(
            "this program creates a Job itself and so has one rank, but it was started as {} ranks "
            "that are threads: let it call viaduct::run(), or start it with --mode processes",
            launch.size));
  }
  if (launch.mode != Launch::Mode::processes) {
    PageMapping page = launch.page >= 0 ? PageMapping::attach(launch.page) : PageMapping::create(1);
    auto alone = of_thread(std::make_shared<ThreadWorld>(std::move(page)), launch, 0);
    alone->pmix = std::move(impl->pmix);
    return alone;
  }
  impl->launch = launch;
  impl->lifeline = Lifeline(FileDescriptor(launch.lifeline));
  impl->own_page = PageMapping::attach(launch.page);
  if (impl->own_page.shape().ranks != launch.size) {
    throw Error(errors::not_from_launcher, std::errc::bad_message,
                fmt::format("the job page is for {} ranks, VIADUCT_SIZE says {}",
                            impl->own_page.shape().ranks, launch.size));
  }
  // Before the socket is touched, which is the first Job's.
  if (impl->own_page->record(Rank{launch.rank}).state.load() != RankState::starting)
    refuse_second_job(launch.rank);
  impl->bootstrap = make_socket_bootstrap(FileDescriptor(launch.socket), impl->fork_mark,
                                          Rank{launch.rank}, launch.size);
  return impl;
}

Job::Job() : Job(Impl::from_environment()) {}

Job::Job(Owned<Impl> impl)
    : rank_{impl->launch.rank},
      size_(impl->launch.size),
      threads_mode_(impl->launch.mode == Launch::Mode::threads),
      page_(impl->page()),
      windows_(std::make_unique<std::byte*[]>(impl->launch.size)),
      stats_(std::make_unique<Stats>()),
      log_(std::make_unique<Log>(LogLevel::warn, 0, 1)),
      settings_(std::make_unique<RuntimeSettings>()),
      fork_mark_(impl->fork_mark.word()),
      impl_(std::move(impl)) {
  impl_->job_bootstrap = impl_->bootstrap.get();
  bootstrap_ = std::move(impl_->bootstrap);
  impl_->exceptions_before = std::uncaught_exceptions();
  join();
}

void Job::join() {
  name_this_thread(index(rank_));
  config::load(settings_.get(), runtime_options());
  *log_ = Log(level_of(settings_->log), index(rank_), size_);
  if (index(rank_) == 0) {
    if (const std::string unknown = config::unknown_variables(); !unknown.empty())
      log_->write(LogLevel::warn, unknown);
  }
  enter_record(record(rank_), index(rank_));
  note_own_cores(*page_);
  if (!membarrier_register()) page_->without_membarrier.fetch_add(1, std::memory_order_relaxed);
  segment_ = std::make_unique<Segment>(static_cast<std::size_t>(settings_->shm_window));
  windows_[index(rank_)] = segment_->base();
  if (impl_->world) {
    const std::lock_guard lock(impl_->world->mutex);
    impl_->world->windows[index(rank_)] = segment_->base();
  }
  bootstrap_->share_fd(segment_->fd());
  bootstrap_->fence();
  wait_policy_ =
      choose_wait_policy(*settings_, page_->local_size, shared_cores(impl_->launch, *page_));
  membarrier_works_ = page_->without_membarrier.load(std::memory_order_relaxed) == 0;
  record(rank_).activity.store(Activity::computing, std::memory_order_relaxed);
  log_->write(LogLevel::debug, fmt::format("joined a job of {} ranks", size_));
}

Job::~Job() {
  if (in_forked_child()) {
    violate_contract(
        errors::forked_child,
        "a child that a rank forked must end with exec or _exit, not through the Job's destructor");
  }
  if (impl_->abandoned || std::uncaught_exceptions() > impl_->exceptions_before)
    impl_->job_bootstrap->tell_failing();
  else
    finalize();
  if (impl_->world) {  // a peer's thread may still read the segment; the world ends it
    const std::lock_guard lock(impl_->world->mutex);
    impl_->world->retired.push_back(std::unique_ptr<Segment>(segment_.release()));
  }
  name_this_thread(kNoRankName);
}

void Job::finalize() noexcept {
  RankRecord& own = record(rank_);
  own.operation.store(kEndingJob, std::memory_order_relaxed);
  own.waits_for_peer.store(RankRecord::kNoPeer, std::memory_order_relaxed);
  own.activity.store(Activity::barrier, std::memory_order_relaxed);
  if (!impl_->failed) announce_end();
  try {
    if (settings_->stats) put_stats(*bootstrap_, stats_->rows());
    JobBootstrap& bootstrap = *impl_->job_bootstrap;
    const bool released =
        impl_->failed ? bootstrap.fence_failed(kGraceOfFailed) : bootstrap.fence_survivors();
    if (!released) return;  // this rank must not seem to have ended well
    if (settings_->stats && index(rank_) == 0) print_stats(*impl_->job_bootstrap, size_);
  } catch (const std::exception& problem) {
    log_->write(LogLevel::error, fmt::format("finalizing: {}", problem.what()));
  }
  record(rank_).state.store(RankState::finalized, std::memory_order_release);
  if (impl_->pmix) impl_->pmix->finalize();
}

std::byte* Job::window_of(Rank peer) {
  impl_->fork_mark.refuse_in_child("Job::window_of");
  const std::uint32_t i = index(peer);
  if (i >= size_) {
    throw Error(errors::no_such_rank, std::errc::invalid_argument,
                fmt::format("rank {} is out of range: {}", i, describe_ranks(size_)));
  }
  if (windows_[i] != nullptr) return windows_[i];
  if (!same_host(peer))
    throw Error(errors::other_host, std::errc::host_unreachable,
                fmt::format("rank {} is on another host than rank {}: its memory cannot be mapped",
                            i, index(rank_)));
  if (impl_->world) {
    const std::lock_guard lock(impl_->world->mutex);
    windows_[i] = impl_->world->windows[i];
  } else {
    impl_->peer_windows.push_back(map_peer(*bootstrap_, peer, segment_->window_bytes()));
    windows_[i] = impl_->peer_windows.back().get();
  }
  return windows_[i];
}

bool Job::is_lost(Rank peer) const noexcept {
  const RankState state = page_->record(peer).state.load(std::memory_order_acquire);
  return state == RankState::left || state == RankState::killed;
}

}  // namespace viaduct
