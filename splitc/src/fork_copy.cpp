#include "splitc/src/fork_copy.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

#include "runtime/errors/codes.hpp"
#include "splitc/src/blocked_signals.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"
#include "viaduct/splitc/detail/collective.hpp"
#include "viaduct/splitc/detail/hot.hpp"

namespace viaduct::splitc::detail {
namespace {

struct Range {
  std::byte* begin;
  std::size_t bytes;
  int fd;
  std::size_t offset;
};

/// Held from before a fork until the child has its copy: no other child can then inherit the end of
/// the pipe that the parent waits for.
std::mutex g_mutex;
std::vector<Range> g_ranges;
std::size_t g_prepared = 0;  // ranges that there is room for
Pipe g_pipe;
bool g_forked_copy = false;

/// What the forking thread blocked before the fork. It must not lie in shared memory: the child
/// has its own from the fork on. Of this kind of thread-local data the stack's mapping holds all.
[[gnu::tls_model("initial-exec")]] thread_local SignalMask t_mask_before = 0;

[[noreturn]] void give_up(std::string_view why) noexcept {
  constexpr std::string_view kHead =
      "viaduct: a forked child cannot have a copy of its parent's shared memory and ends: ";
  (void)!::write(STDERR_FILENO, kHead.data(), kHead.size());
  (void)!::write(STDERR_FILENO, why.data(), why.size());
  ::_exit(127);
}

/// Copies the bytes of the file from @p begin to @p end to @p to, without the file's holes.
void read_data(int fd, off_t begin, off_t end, std::byte* to) noexcept {
  for (off_t at = begin; at < end;) {
    const off_t data = ::lseek(fd, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) return;  // only a hole is left
    off_t hole = data < 0 ? -1 : ::lseek(fd, data, SEEK_HOLE);
    if (hole < 0) give_up("its file cannot be read (lseek)\n");
    hole = std::min(hole, end);
    for (at = data; at < hole;) {
      const ssize_t got = ::pread(fd, to + (at - begin), static_cast<std::size_t>(hole - at), at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) give_up("its file cannot be read (pread)\n");
      at += got;
    }
  }
}

/// Puts the copy in the place of the shared memory in one step: the running code may use a stack,
/// or tables, that are part of that memory.
void replace(const Range& range) noexcept {
  void* const copy = ::mmap(nullptr, range.bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy == MAP_FAILED) give_up("there is no address space for it (ulimit -v)\n");
  const auto begin = static_cast<off_t>(range.offset);
  read_data(range.fd, begin, begin + static_cast<off_t>(range.bytes),
            static_cast<std::byte*>(copy));
  if (::syscall(SYS_mremap, copy, range.bytes, range.bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                range.begin) == -1)
    give_up("it cannot be moved into place (mremap)\n");
}

/// From here until the child has its copy no handler runs in the thread that forks, nor in the
/// child: the child's would write to the parent's memory, the parent's would change what the child
/// gets.
void before_fork() noexcept {
  t_mask_before = block_all_signals();
  g_mutex.lock();
  if (g_ranges.empty()) return;
  g_pipe = open_pipe();
  if (g_pipe.reading.is_open()) return;
  constexpr std::string_view kWarning =
      "viaduct: fork(): no file descriptor is free (ulimit -n), so the parent does not wait for "
      "the "
      "child's copy of its memory: what it writes meanwhile may show there\n";
  (void)!::write(STDERR_FILENO, kWarning.data(), kWarning.size());
}

/// The child's end of the pipe is closed when the copy is complete, and when the child dies. Until
/// then the child may still read g_pipe, which lies in static data that both share: the parent
/// closes its writing end and leaves the owner as it is.
void after_fork_in_parent() noexcept {
  if (g_pipe.reading.is_open()) {
    close_descriptor(g_pipe.writing.get());
    char nothing = 0;
    while (::read(g_pipe.reading.get(), &nothing, 1) < 0 && errno == EINTR) {
    }
    (void)g_pipe.writing.release();
    g_pipe.reading.reset();
  }
  g_mutex.unlock();
  set_blocked_signals(t_mask_before);
}

/// Writes to no shared memory before its copy is in place: g_pipe lies in static data, which the
/// parent shares.
void after_fork_in_child() noexcept {
  const int reading = g_pipe.reading.get();
  const int writing = g_pipe.writing.get();
  for (const Range& range : g_ranges) replace(range);
  const bool copied = !g_ranges.empty();
  g_ranges.clear();
  if (copied) {
    g_forked_copy = true;
    // Split-C's operations stop the child with a sentence; operations that go on with values in
    // registers stop it at their light poll.
    hot = outside();
    hot.next_header = &full_word;
    the_collective_engine = nullptr;
  }
  close_descriptor(reading);
  close_descriptor(writing);
  (void)g_pipe.reading.release();
  (void)g_pipe.writing.release();
  g_mutex.unlock();
  set_blocked_signals(t_mask_before);
}

}  // namespace

void prepare_copy_on_fork(std::size_t ranges) {
  static const int registered =
      ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  if (registered != 0)
    throw Error(errors::system_refused, registered,
                "cannot register what fork() must do (pthread_atfork)");
  const std::lock_guard lock(g_mutex);
  g_ranges.reserve(g_prepared + ranges);
  g_prepared += ranges;
}

void copy_on_fork(std::byte* begin, std::size_t bytes, int fd, std::size_t offset) noexcept {
  const std::lock_guard lock(g_mutex);
  g_ranges.push_back({begin, bytes, fd, offset});
}

bool is_forked_copy() noexcept { return g_forked_copy; }

}  // namespace viaduct::splitc::detail
