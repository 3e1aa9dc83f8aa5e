#include "via/src/mapping_monitor.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "runtime/blocked_signals.hpp"
#include "viaduct/runtime/mapped_memory.hpp"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

namespace viaduct::via {

namespace {

/// A process has one address space, and so one monitor.
std::mutex shared_mutex;
std::weak_ptr<MappingMonitor> shared_monitor;
/// A forked child has its parent's descriptor, which would keep the parent's memory watched when no
/// thread of the parent reads events any more.
std::atomic<int> descriptor_of_parent{-1};

void close_in_child() noexcept { close_descriptor(descriptor_of_parent.exchange(-1)); }

}  // namespace

std::shared_ptr<MappingMonitor> MappingMonitor::shared() {
  const std::lock_guard lock(shared_mutex);
  auto monitor = shared_monitor.lock();
  if (monitor == nullptr || monitor->owner_ != ::getpid()) {
    monitor = std::shared_ptr<MappingMonitor>(new MappingMonitor);
    shared_monitor = monitor;
  }
  return monitor;
}

MappingMonitor::MappingMonitor()
    : owner_(::getpid()), ring_(std::make_unique<std::array<Change, kRing>>()) {
  open();
  if (problem_.empty()) check();
  descriptor_of_parent = events_.get();
}

void MappingMonitor::open() {
  const auto fail = [this](const char* what, const char* remedy) {
    problem_ = std::string(what) + ": " + std::strerror(errno) + " (" + remedy + ")";
  };
  events_ = FileDescriptor(
      static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  if (!events_.is_open())
    return fail("userfaultfd is refused",
                "it needs Linux 5.19; in a container a seccomp profile that allows userfaultfd, "
                "for example --security-opt seccomp=unconfined");
  constexpr std::uint64_t kEvents =
      UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;
  uffdio_api api{};
  api.api = UFFD_API;
  // The last feature is not used: kernels that have it count the changes under way one by one
  // (quiet()).
  api.features = kEvents | UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
  if (::ioctl(events_.get(), UFFDIO_API, &api) != 0)
    return fail("userfaultfd tells of no changes here", "it needs Linux 5.19 on x86-64 or arm64");
  stop_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
  if (!stop_.is_open()) return fail("eventfd", "raise 'ulimit -n'");
  static const int registered = ::pthread_atfork(nullptr, nullptr, close_in_child);
  (void)registered;
}

void MappingMonitor::start() {
  const BlockedSignals blocked;
  try {
    thread_ = std::thread([this] { run(); });
    ::pthread_setname_np(thread_.native_handle(), "viaduct-maps");
  } catch (const std::system_error& e) {
    problem_ = std::string("no thread can be started to watch memory: ") + e.what() +
               " (raise 'ulimit -u')";
  }
}

/// Unmaps a page: tests whether the kernel tells of it, and whether quiet() is false meanwhile. All
/// other functions rely on both.
void MappingMonitor::check() {
  const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  MappedMemory page(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(page.get());
  if (!page || !enroll({begin, begin + bytes})) {
    problem_ = std::string("userfaultfd watches no memory: ") + std::strerror(errno) +
               " (it needs Linux 5.19 on x86-64 or arm64)";
    return;
  }
  try {
    std::atomic<bool> done{false};
    std::thread unmapper([&page, &done] {
      page.reset();
      done = true;
    });
    bool told = false;
    while (!done) {
      constexpr int kLookMs = 1;
      pollfd wait{events_.get(), POLLIN, 0};
      if (::poll(&wait, 1, kLookMs) != 1) continue;
      told = told || !quiet();
      while (take()) {
      }
    }
    unmapper.join();
    PageRange seen;
    if (told && state_.load() == 2 && read(0, seen) && seen.begin == begin) return start();
    problem_ = "userfaultfd does not tell of unmapped memory (it needs Linux 5.19)";
  } catch (const std::exception& e) {
    events_.reset();  // no thread reads events, for which the unmapping of the page would wait
    problem_ = std::string("no thread can be started to watch memory: ") + e.what() +
               " (raise 'ulimit -u')";
  }
}

MappingMonitor::~MappingMonitor() {
  if (owner_ != ::getpid()) {  // a forked child's copy: there is no thread here
    if (thread_.joinable()) thread_.detach();
    // close_in_child() has closed the parent's, and another file may have its number by now.
    (void)events_.release();
    return;
  }
  // Other copies of the descriptor may be open, so memory is unregistered here: no call waits for
  // the reading thread any more.
  for (const PageRange& range : watched_) {
    uffdio_range all{range.begin, range.end - range.begin};
    (void)::ioctl(events_.get(), UFFDIO_UNREGISTER, &all);
  }
  int expected = events_.get();
  (void)descriptor_of_parent.compare_exchange_strong(expected, -1);
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    thread_.join();
  }
}

// The reading thread: no lock, no allocation.

void MappingMonitor::run() noexcept {
  for (;;) {
    pollfd wait[2] = {{events_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(wait, 2, -1) < 0 && errno != EINTR) return;
    if (wait[1].revents != 0) return;
    while (wait[0].revents != 0 && take()) {
    }
  }
}

/// Takes some events. False: there was none.
bool MappingMonitor::take() noexcept {
  uffd_msg messages[kBatch];
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  state_.store(state + 1);
  const ssize_t got = ::read(events_.get(), messages, sizeof messages);
  const std::size_t count = got > 0 ? static_cast<std::size_t>(got) / sizeof messages[0] : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const uffd_msg& message = messages[i];
    PageRange range;
    if (message.event == UFFD_EVENT_UNMAP || message.event == UFFD_EVENT_REMOVE)
      range = {message.arg.remove.start, message.arg.remove.end};
    else if (message.event == UFFD_EVENT_REMAP)
      range = {message.arg.remap.from, message.arg.remap.from + message.arg.remap.len};
    else
      continue;
    // A reader that sees these stores sees the odd state, too, when it loads the state afterwards.
    Change& place = (*ring_)[state / 2 % kRing];
    place.begin.store(range.begin, std::memory_order_release);
    place.end.store(range.end, std::memory_order_release);
    state += 2;
  }
  state_.store(state);
  state_.notify_all();
  return count != 0;
}

bool MappingMonitor::read(std::uint64_t number, PageRange& out) const noexcept {
  const Change& place = (*ring_)[number % kRing];
  out = {place.begin.load(std::memory_order_acquire), place.end.load(std::memory_order_acquire)};
  // The reading thread may be a batch ahead of what it has announced.
  return state_.load() / 2 + kBatch <= number + kRing;
}

std::uint64_t MappingMonitor::settled() const noexcept {
  for (;;) {
    const std::uint64_t state = state_.load();
    if ((state & 1) == 0) return state;
    state_.wait(state);
  }
}

/// The kernel counts changes that have begun and whose event has not been read. While there are
/// any, it refuses to work on pages, before it looks at the range of pages: an empty one here.
bool MappingMonitor::quiet() const noexcept {
  uffdio_writeprotect nothing{};
  return ::ioctl(events_.get(), UFFDIO_WRITEPROTECT, &nothing) == 0 || errno != EAGAIN;
}

// The watched pages.

bool MappingMonitor::enroll(PageRange mapping) noexcept {
  uffdio_register wanted{};
  wanted.range = {mapping.begin, mapping.end - mapping.begin};
  wanted.mode = UFFDIO_REGISTER_MODE_WP;
  return ::ioctl(events_.get(), UFFDIO_REGISTER, &wanted) == 0;
}

bool MappingMonitor::is_watched(PageRange range) const noexcept {
  const auto after = std::upper_bound(
      watched_.begin(), watched_.end(), range.begin,
      [](std::uintptr_t at, const PageRange& watched) { return at < watched.begin; });
  // Neighbours have been joined.
  return after != watched_.begin() && std::prev(after)->end >= range.end;
}

void MappingMonitor::forget(PageRange range) { subtract(watched_, range); }

void MappingMonitor::set_watched(PageRange range) {
  forget(range);
  const auto at =
      std::lower_bound(watched_.begin(), watched_.end(), range,
                       [](const PageRange& a, const PageRange& b) { return a.begin < b.begin; });
  auto here = watched_.insert(at, range);
  if (const auto next = std::next(here); next != watched_.end() && next->begin == here->end) {
    here->end = next->end;
    here = std::prev(watched_.erase(next));
  }
  if (here != watched_.begin() && std::prev(here)->end == here->begin) {
    std::prev(here)->end = here->end;
    watched_.erase(here);
  }
}

/// Discarded pages stay watched in the kernel, and moved pages are watched at their new place:
/// treating either as unwatched costs no more than a call.
void MappingMonitor::forget_changed() {
  const std::uint64_t now = settled();
  if (now == watched_at_) return;
  if (!changes(watched_at_, now, [this](PageRange range) { forget(range); })) watched_.clear();
  watched_at_ = now;
}

bool MappingMonitor::watch(PageRange range) {
  if (!works()) return false;
  const std::lock_guard lock(mutex_);
  forget_changed();
  if (is_watched(range)) return true;
  const bool refused = refused_.begin <= range.begin && range.end <= refused_.end;
  if (refused && ++refusals_ % kRetry != 0) return false;
  std::uintptr_t reached = range.begin;
  for (const Mapping& mapping : mappings_at(range)) {
    if (mapping.range.begin > reached) return false;  // a hole
    if (!mapping.anonymous || !enroll(mapping.range)) {
      refused_ = mapping.range;
      refusals_ = 0;
      return false;
    }
    // Pages that were unmapped before the kernel watched them and mapped since are not watched:
    // then this is not one mapping any more.
    const auto now = mappings_at(mapping.range);
    if (now.size() == 1 && now[0].range.begin <= mapping.range.begin &&
        now[0].range.end >= mapping.range.end)
      set_watched(mapping.range);
    reached = mapping.range.end;
  }
  return reached >= range.end;
}

}  // namespace viaduct::via
