#pragma once
/// @file
/// Tells which pages of this process have been unmapped, moved or discarded: userfaultfd's events,
/// without trapping a single access and without hooks in the program's allocator
/// (docs/decisions/011).
///
/// The kernel holds a call that unmaps, moves or discards watched memory until its event has been
/// read. So:
///
/// 1. The reading thread never takes a lock, allocates or frees: a thread whose call the kernel
///    holds may have any lock of the program's, that of malloc too.
/// 2. The reading thread makes state() odd before it reads, and even when the changes that it has
///    read are in the ring. So a thread that sees an even state() after such a call has returned
///    finds the change in the ring.
/// 3. A call that has not returned, but whose pages another thread has been given by the kernel, is
///    seen by quiet().

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/mappings.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::via {

class MappingMonitor {
 public:
  /// The monitor of this process, since there is one address space; made at the first call,
  /// ended with the last. Unmaps a page of its own to test what the kernel tells, so works() is the
  /// truth.
  [[nodiscard]] static std::shared_ptr<MappingMonitor> shared();
  ~MappingMonitor();
  MappingMonitor(const MappingMonitor&) = delete;
  MappingMonitor& operator=(const MappingMonitor&) = delete;

  [[nodiscard]] bool works() const noexcept { return problem_.empty(); }
  /// The reason why the monitor does not work, with the remedy.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  /// Twice the number of changes so far, and 1 more while the reading thread is at work.
  [[nodiscard]] const std::atomic<std::uint64_t>& state() const noexcept { return state_; }
  /// state(), as soon as it is even. May block for the time that the reading thread needs.
  [[nodiscard]] std::uint64_t settled() const noexcept;
  /// Whether no call is under way that has unmapped or moved watched pages and is not in the ring.
  /// Cost: a system call.
  [[nodiscard]] bool quiet() const noexcept;

  /// Calls @p change with each range that was changed between two settled states. False: there were
  /// too many, so that every range may have changed.
  template <class Change>
  [[nodiscard]] bool changes(std::uint64_t from, std::uint64_t to, const Change& change) const {
    for (std::uint64_t i = from / 2; i != to / 2; ++i) {
      PageRange range;
      if (!read(i, range)) return false;
      change(range);
    }
    return true;
  }

  /// Watches the memory that is mapped at @p range from now on: all of each mapping that it
  /// touches, so that none is divided, which mremap() would notice. False: the kernel cannot watch
  /// it. Only private anonymous memory can be watched: other memory can lose its pages through a
  /// file descriptor, which the kernel does not report.  Cost: none to speak of when it is watched
  /// already.
  [[nodiscard]] bool watch(PageRange range);

  static constexpr std::size_t kRing = 1024;  // changes

 private:
  struct Change {
    std::atomic<std::uintptr_t> begin{0}, end{0};
  };
  static constexpr std::size_t kBatch = 16;  // messages read at once
  /// Misses after which memory that could not be watched is tried again.
  static constexpr std::uint32_t kRetry = 256;

  MappingMonitor();
  void open();
  void check();
  void start();
  void run() noexcept;
  bool take() noexcept;
  [[nodiscard]] bool read(std::uint64_t number, PageRange& out) const noexcept;
  void forget_changed();
  [[nodiscard]] bool is_watched(PageRange range) const noexcept;
  void set_watched(PageRange range);
  void forget(PageRange range);
  [[nodiscard]] bool enroll(PageRange mapping) noexcept;

  alignas(64) std::atomic<std::uint64_t> state_{0};
  FileDescriptor events_;  // userfaultfd
  FileDescriptor stop_;
  std::int64_t owner_;  // process
  std::string problem_;
  std::unique_ptr<std::array<Change, kRing>> ring_;
  std::thread thread_;

  std::mutex mutex_;                // for the members below; never the reading thread's
  std::vector<PageRange> watched_;  // sorted, disjoint
  std::uint64_t watched_at_ = 0;    // the state that it agrees with
  PageRange refused_;
  std::uint32_t refusals_ = 0;
};

}  // namespace viaduct::via
