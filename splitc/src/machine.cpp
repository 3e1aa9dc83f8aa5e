/// Start and end of Split-C in a process, polling, waiting.

#include "splitc/detail/machine.hpp"
#include "runtime/job_size.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/runtime/stats.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <mutex>
#include <string>

#include "runtime/errors/codes.hpp"
#include "splitc/src/fork_copy.hpp"
#include "splitc/src/machine_impl.hpp"
#include "splitc/src/new_threads.hpp"
#include "splitc/src/served.hpp"
#include "splitc/src/wait.hpp"
#include "via/choice.hpp"
#include "viaduct/runtime/parts.hpp"
#include "viaduct/splitc/choice.hpp"
#include "viaduct/splitc/detail/collective.hpp"

namespace viaduct::splitc::detail {

constinit const Views no_views{};
constinit Alignment alignment;
constinit const std::uint64_t quiet_word = 0;
constinit const std::uint64_t full_word = 1;
thread_local constinit Hot hot;

namespace {

constexpr CounterName kCounterNames[kCounterCount] = {
    {"requests", "messages"}, {"waits", "requests"},       {"direct", "operations"},
    {"rdma", "operations"},   {"one_sided", "operations"}, {"chunks", "regions"},
    {"stores", "stores"},     {"pulled", "bytes"},
};
constexpr std::string_view kSettingsKey = "splitc.settings";
constexpr std::string_view kRegionsKey = "splitc.regions";

/// Settings must be the same everywhere: the sender lays out rings that the receiver reads, and the
/// region is the same in all processes.
void compare_settings(Job& job, const Settings& s) {
  using Values = std::array<std::int64_t, 9>;
  const Values mine{static_cast<std::int64_t>(path_of(s)),
                    s.heap == "shared" ? 1 : 0,
                    s.off_node ? 1 : 0,
                    s.vis,
                    s.slots,
                    s.credits,
                    s.segment_base,
                    s.spread_bytes,
                    s.heap_bytes};
  job.bootstrap().put_value(kSettingsKey, mine);
  via::state_transport(job);
  job.bootstrap().fence();
  if (job.bootstrap().get_value<Values>(Rank{0}, kSettingsKey) != mine)
    throw Error(errors::settings_differ, std::errc::invalid_argument,
                "the Split-C settings (VIADUCT_SPLITC_*, VIADUCT_HEAP, VIADUCT_SEGMENT_BASE, "
                "VIADUCT_SPREAD_BYTES, VIADUCT_HEAP_BYTES) of rank " +
                    std::to_string(index(job.rank())) +
                    " are not those of rank 0: give all ranks the same environment");
  via::require_same_transport(job);
}

MappedMemory make_views() {
  constexpr std::size_t kBytes = sizeof(Views);
  MappedMemory pages(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), kBytes);
  if (!pages) throw_errno(errors::system_refused, "cannot map the table of the processes' memory");
  return pages;
}

}  // namespace

void stop(ErrorCode id, const char* operation, const char* what) {
  violate_contract(id, std::string(operation) + ": " + what);
}

void stop(ErrorCode id, const char* operation, const std::string& what) {
  stop(id, operation, what.c_str());
}

void stop_no_process(const char* operation, const char* where, std::int64_t process) {
  stop(errors::no_such_process, operation,
       std::string(where) + " names process " + std::to_string(process) +
           ", but the job has the processes 0 to " + std::to_string(hot.procs - 1) +
           "; viaduct-run -n starts more");
}

namespace {

// Set even while `hot` shows no Machine because a function runs that atomic() has brought here.
thread_local constinit Machine* the_machine = nullptr;

[[noreturn, gnu::cold]] void stop_without_machine(const char* operation) {
  if (is_forked_copy())
    stop(errors::forked_child, operation,
         "called in a child that the process forked: the child has a copy of the process' memory "
         "and may exec or _exit, but takes no part in the job");
  if (the_machine != nullptr)
    stop(errors::communication_in_function, operation,
         "called by a function that atomic() runs: it may use local memory only; communicate "
         "where atomic() is called, before or after it");
  stop(errors::outside_splitc_main, operation,
       "called outside splitc_main: Split-C begins before it and ends when it returns, and belongs "
       "to the thread that runs it; a program has splitc_main() in the place of main()");
}

}  // namespace

Machine& machine(const char* operation) {
  if (hot.machine == nullptr) [[unlikely]]
    stop_without_machine(operation);
  return *hot.machine;
}

Machine& machine_in_call(const char* operation) {
  if (the_machine == nullptr || is_forked_copy()) [[unlikely]]
    stop_without_machine(operation);
  return *the_machine;
}

void poll_slow() { machine("poll").impl().poll_lightly(); }

Machine::Machine(Job& job) : job_(job), settings_(load_settings()) {
  static_assert(kMaxJobSize <= kMaxProcesses && kMaxProcesses == 1U << (64 - kProcessShift));
  compare_settings(job, settings_);
  memory_ = std::make_unique<Memory>(job, settings_);
  try {
    impl_ = std::make_unique<Impl>(*this, job);
    hot.machine = the_machine = this;
    collective_engine_ = std::make_unique<CollectiveEngine>(*this);
    job.bootstrap().fence();
  } catch (...) {
    collective_engine_.reset();
    hot = outside();
    the_machine = nullptr;
    throw;
  }
}

Machine::~Machine() {
  if (std::uncaught_exceptions() == 0) {
    if (!impl_->failed) collective_engine_->end();
    impl_->leave();
  }
  collective_engine_.reset();
  hot = outside();
  the_machine = nullptr;
  impl_.reset();
  memory_.reset();
}

void Machine::set_failed() noexcept { impl_->failed = true; }

std::uint32_t Machine::poll() { return impl_->look(); }

void Machine::wait_until(const char* operation, std::uint32_t process,
                         const std::function<bool()>& done, Activity activity) {
  impl_->wait(operation, process, done, activity);
}

void Machine::wake_if_asleep(std::uint32_t process) noexcept {
  RankRecord& record = job_.record(Rank{process});
  if (record.sleeping.load(std::memory_order_relaxed) != 0) [[unlikely]]
    ring_doorbell(record);
}

bool Machine::by_message(std::uint32_t process) const noexcept {
  return (impl_->path == Path::message && process != hot.myproc) || impl_->is_remote(process);
}

bool Machine::is_remote(std::uint32_t process) const noexcept { return impl_->is_remote(process); }

bool Machine::tell_of_wait(std::uint32_t process, const std::uint64_t* record) {
  return impl_->try_request(process, wire_format::make(wire_format::Op::waits), record,
                            8 * via::kWordsPerSlot);
}

bool Machine::fetch(std::uint32_t process, std::uint64_t address, void* to, std::size_t bytes,
                    std::uint64_t ns) {
  const std::uint64_t start = monotonic_ns();
  const Handle handle = transfer("poll", make_word(process, address), to, bytes, Transfer::get);
  while (!impl_->is_complete(handle)) {
    if (monotonic_ns() - start > ns) return false;
    impl_->poll_now(true);
    sched_yield();
  }
  return true;
}

Machine::Impl::Impl(Machine& owner, Job& its_job)
    : machine(owner), job(its_job), path(path_of(owner.settings())), idle(its_job.wait_policy()) {
  const Settings& settings = owner.settings();
  engine = via::channel::Engine::of(job);
  nic = std::make_unique<via::channel::Nic>(job, &engine->attention());
  engine->keep_attention();
  via::use_transport_where_needed(job, *nic);
  tag = nic->create_tag();
  group = std::make_unique<via::channel::Group>(*nic);
  nic->on_incoming_peer(
      [this](Rank from, std::uint64_t discriminator) { incoming(from, discriminator); });
  nic->on_ended([this](via::channel::ChannelEnd& c, via::ErrorCause cause) {
    ended(*static_cast<Channel*>(c.context()), cause);
  });
  flow = {static_cast<std::uint32_t>(settings.slots), static_cast<std::uint32_t>(settings.credits)};
  if (nic->transport() != nullptr) flow = flow.between_hosts();
  publish_every = std::max(1U, flow.credits / 4);
  channels.resize(job.size());
  owners.resize(job.size());
  mapped.resize(job.size());
  hot.myproc = index(job.rank());
  hot.procs = job.size();
  if (!job.threads_mode()) show_in_new_threads(hot.myproc, hot.procs);
  all_off_node = settings.off_node;
  for (std::uint32_t p = 0; p < job.size(); ++p) {
    if (!is_remote(p)) continue;
    any_off_node = true;
    machine.memory().hide(p);
    owners[p].known = true;  // and has no registered memory
  }
  if (path == Path::rdma) register_memory();
  set_one_sided();
  view_pages = make_views();
  views = reinterpret_cast<Views*>(view_pages.get());
  hot.views = views;
  align();
  static_assert(sizeof(engine->attention()) == sizeof(*hot.attention));
  hot.attention = reinterpret_cast<const std::uint64_t*>(&engine->attention());
  views->set(hot.myproc, owner.memory().view_of(hot.myproc));
  if (owner.memory().checks() == nullptr) {
    own_view = views->at(hot.myproc);
    own_first = without_process(own_view.first);
  }
  mapped[hot.myproc] = true;
  refresh_watch();
  served = std::make_unique<Served>(*this);
  // The staging memory stays until the job ends: peers may still copy from it.
  const auto blocks = static_cast<std::size_t>(settings.staging_bytes) / kBlockBytes;
  const std::size_t offset = job.segment().allocate(blocks * kBlockBytes + sizeof(Offer));
  try {
    stage = std::make_unique<Stage>(job.segment().base(), offset, blocks);
    job.stats().add("splitc", kCounterNames, counters);
  } catch (...) {
    job.segment().release(offset);
    throw;
  }
}

Machine::Impl::~Impl() {
  served.reset();
  for (Channel* c : all_channels) note_requests(*c);
  job.stats().remove(counters);
  registered.clear();
  all_channels.clear();
  channels.clear();
  group.reset();
  nic->destroy_tag(tag);
  nic.reset();
}

/// Collective: goes on serving until every process has reached its end, and compares the collective
/// calls that they have made. A process that has failed waits for kGraceNs at most: others may be
/// waiting for it.
void Machine::Impl::leave() {
  constexpr const char* kEnd = "the end of splitc_main";
  constexpr std::uint64_t kGraceNs = 1'000'000'000;
  const std::uint64_t start = monotonic_ns();
  const auto log_error_of = [&](auto&& wait_for) {
    try {
      wait_for();
    } catch (const std::exception& problem) {
      failed = true;
      job.log().write(LogLevel::error, problem.what());
    }
  };
  // Processes of other hosts read them as long as this one lives.
  if (!failed)
    log_error_of([&] {
      wait(
          kEnd, kNobody, [&] { return are_far_blocks_taken(); }, Activity::barrier);
    });
  const std::uint32_t ticket = job.barrier_arrive();
  const auto is_over = [&] { return job.barrier_done(ticket) != Status::retry; };
  log_error_of([&] {
    if (!failed) {
      CollectiveEngine& collectives = machine.collective_engine();
      const auto all_agree = [&] {
        const bool all_here = is_over();
        return collectives.has_compared_ends(all_here) && all_here;
      };
      wait(kEnd, kNobody, all_agree, Activity::barrier);
      return publish_dirty(true);  // a process may wait for the count of its last messages
    }
    // A sleep without a time limit might never end: no message may come.
    while (!is_over() && monotonic_ns() - start < kGraceNs) {
      if (poll_now() != 0) continue;
      const timespec pause{0, 100'000};
      nanosleep(&pause, nullptr);
    }
  });
}

/// Registers this process' memory and publishes the table, for processes that reach it by the NIC.
/// Other memory is reached by messages.
void Machine::Impl::register_memory() {
  regions_told = true;
  std::vector<std::uint64_t> table{static_cast<std::uint64_t>(tag)};
  for (const SharedRange& range : machine.memory().shared_ranges()) {
    if (!nic->is_reachable(range.begin, range.bytes)) continue;
    registered.push_back(nic->register_memory(tag, range.begin, range.bytes,
                                              via::Rights::rdma_write | via::Rights::rdma_read));
    table.push_back(machine.memory().globalize(range.begin));
    table.push_back(reinterpret_cast<std::uint64_t>(range.begin));
    table.push_back(range.bytes);
    table.push_back(static_cast<std::uint64_t>(registered.back().handle()));
  }
  job.bootstrap().put(kRegionsKey, std::as_bytes(std::span(table)));
  job.bootstrap().fence();
}

/// Sets the word that light polls look at. Arrivals by a transport, and on hot channels of other
/// clients, show in no word.
void Machine::Impl::refresh_watch() noexcept {
  const via::channel::Group::Watch watch = group->watched_word();
  if (watch.header == nullptr && !watch.several && next_header != &quiet_word) [[unlikely]] {
    look_to_come = true;
    transport_polled_at = ticks_now();
  }
  next_header = watch.several ? &full_word : &quiet_word;
  empty_header = 0;
  if (watch.header != nullptr && !watch.several) {
    next_header = reinterpret_cast<const std::uint64_t*>(watch.header);
    // The header of a message a lap ago, which stays until the next one. Where that has come
    // meanwhile, the word differs in the phase.
    const std::uint64_t header = __atomic_load_n(next_header, __ATOMIC_RELAXED);
    empty_header = (header & ~std::uint64_t{1}) | (~watch.phase & 1);
  }
  const bool remote = nic->transport() != nullptr || others_hot || look_to_come;
  hot.next_header = remote ? &full_word : next_header;
  hot.empty_header = remote ? 0 : empty_header;
}

/// The second part of a light poll. The transport and the hot channels of other clients are not
/// polled each time, since that costs more than most accesses. A wait of another client may have
/// set this one's channels aside: their rings are looked at once more, a while later, since no word
/// shows what a sender has written at that moment.
void Machine::Impl::poll_lightly() {
  VIADUCT_PART(cq_recv);
  constexpr std::uint64_t kEveryTicks = 2000;
  if (nic->transport() != nullptr || others_hot || look_to_come) {
    const std::uint64_t now = ticks_now();
    const bool due = now - transport_polled_at >= kEveryTicks;
    if (!due && !has_changed(next_header, empty_header) && !has_changed(hot.attention, 0)) return;
    transport_polled_at = now;
    if (due && std::exchange(look_to_come, false)) group->ring_for_missed();
  }
  poll_now(others_hot);
}

void Machine::Impl::check_may_wait(const char* operation) {
  if (engine->is_alone() || !engine->runs_handler()) return;
  stop(errors::wait_in_handler, operation,
       "called in a handler of Active Messages, where it would have to wait (for an answer, for "
       "credits, or for the connection that the first message to a process makes): a handler may "
       "read and write memory that is mapped here (global pointers on the path direct); let the "
       "program itself do the rest");
}

bool Machine::Impl::publish_withheld() noexcept {
  publish_dirty(true);
  const std::uint32_t broken_before = broken;
  for (Channel* c : all_channels)
    if (c->connected && !c->ended) refresh_credits(*c);
  return broken == broken_before;
}

void Machine::Impl::check_lost(const char* operation, std::uint32_t process) {
  if (process == kNobody) return;
  // Names the process that was lost first: its loss may be the cause of the others'.
  const std::uint32_t first = job.page().first_lost.load(std::memory_order_acquire);
  if (process == kAnyone) process = first - 1;
  if (process == kAnyone || !job.is_lost(Rank{process})) return;
  std::string sentence = std::string(operation) + ": process " + std::to_string(process) +
                         " is lost (it was killed, or has left";
  if (first != 0 && first - 1 != process)
    sentence += ", after process " + std::to_string(first - 1) + " was lost";
  throw Error(errors::process_lost, std::errc::connection_reset, sentence + ')');
}

bool Machine::Impl::is_ahead(std::uint32_t process) const noexcept {
  // With Active Messages a handler may run in that process meanwhile, and do anything.
  if (!engine->is_alone()) return false;
  const auto ticket_of = [this](std::uint32_t p) {
    return job.record(Rank{p}).barrier_ticket.load(std::memory_order_acquire);
  };
  // Compared by their distance, which survives the counter's overflow.
  return static_cast<std::int32_t>(ticket_of(process) - ticket_of(hot.myproc)) > 0 ||
         machine.collective_engine().waits_ahead(process);
}

bool Machine::Impl::all_others_are_ahead() const noexcept {
  for (std::uint32_t p = 0; p < job.size(); ++p)
    if (p != hot.myproc && !is_ahead(p)) return false;
  return true;
}

/// Throws only kGraceNs after the break: a broken connection may be the first sign of a process'
/// end, which check_lost() then reports.
void Machine::Impl::check_broken(const char* operation, std::uint32_t process) {
  constexpr std::uint64_t kGraceNs = 2'000'000'000;
  const auto is_broken = [](const auto& channel) {
    return channel != nullptr && channel->broken.is_there;
  };
  if (process == kAnyone) process = broken;
  const auto is_garbled = [](const auto& channel) {
    return channel != nullptr && channel->broken.garbled;
  };
  if (process < channels.size() &&
      std::any_of(channels[process].begin(), channels[process].end(), is_garbled))
    throw Error(errors::nonsense, std::errc::protocol_error,
                std::string(operation) + ": the connection with process " +
                    std::to_string(process) +
                    " has ended, since one side has written what made no sense to the other: is "
                    "something writing into the memory of either?");
  if (process >= channels.size() || monotonic_ns() - broken_at_ns < kGraceNs ||
      std::none_of(channels[process].begin(), channels[process].end(), is_broken))
    return;
  throw Error(errors::process_lost, std::errc::connection_reset,
              std::string(operation) + ": the connection to process " + std::to_string(process) +
                  " has broken: what was sent has not arrived in all repetitions; look at the "
                  "network between its host and this one (viaduct-info)");
}

/// Gives the region's objects aligned words where all processes can have them.
void Machine::Impl::align() {
  const bool direct = path == Path::automatic || path == Path::direct;
  const AlignedRegions aligned = direct && !any_off_node && !all_off_node
                                     ? machine.memory().align_regions()
                                     : AlignedRegions{};
  if (aligned.bytes == 0) {
    static std::mutex mutex;  // ranks may be threads
    const std::lock_guard lock(mutex);
    if (alignment.bytes != 0) alignment = {};  // of an earlier job
    return;
  }
  const std::uint64_t distance = std::uint64_t{1} << aligned.shift;
  alignment = {aligned.first, aligned.bytes, kAlignedBit + aligned.place,
               (std::uint64_t{1} << kProcessShift) + distance, job.size()};
  hot.aligned_bit = kAlignedBit;
  for (std::uint32_t p = 0; p < job.size(); ++p) map_view(p);
  explain_wild_accesses();
}

void Machine::Impl::force(Path to) {
  path = to;
  const bool direct = path == Path::automatic || path == Path::direct;
  hot.aligned_bit = direct && alignment.bytes != 0 ? kAlignedBit : 0;
  for (std::uint32_t p = 0; p < job.size(); ++p) {
    if (p == hot.myproc) continue;
    mapped[p] = false;
    views->set(p, {});
  }
  if (to == Path::rdma && !regions_told) register_memory();
  set_one_sided();
}

void Machine::Impl::map_view(std::uint32_t process) {
  mapped[process] = true;
  views->set(process, machine.memory().view_of(process));
}

}  // namespace viaduct::splitc::detail
