#pragma once
/// @file
/// The job page in this process' memory, and the life events that are written to it.

#include <cstdint>

#include "viaduct/runtime/file_descriptor.hpp"
#include "viaduct/runtime/job_page.hpp"
#include "viaduct/runtime/mapped_memory.hpp"

namespace viaduct {

/// The page's dimensions as this process knows them. A rank can overwrite those in the page itself,
/// so no code counts by them after the page was made or attached.
struct PageShape {
  std::uint32_t ranks = 0;
  std::uint32_t hosts = 1;
};

class PageMapping {
 public:
  PageMapping() = default;
  /// Makes a new page for @p ranks ranks, in state starting.  Throws Error.
  static PageMapping create(std::uint32_t ranks);
  /// Maps the page behind @p fd, which the caller keeps.  Throws Error unless it is a job page of
  /// this version.
  static PageMapping attach(int fd);

  [[nodiscard]] JobPage* get() const noexcept { return reinterpret_cast<JobPage*>(pages_.get()); }
  JobPage* operator->() const noexcept { return get(); }
  JobPage& operator*() const noexcept { return *get(); }
  [[nodiscard]] const PageShape& shape() const noexcept { return shape_; }
  void set_hosts(std::uint32_t hosts) noexcept { get()->hosts = shape_.hosts = hosts; }
  /// The memfd of a page that this process made, else -1.
  [[nodiscard]] int fd() const noexcept { return file_.get(); }

 private:
  FileDescriptor file_;
  MappedMemory pages_;
  PageShape shape_;
};

/// Sets @p rank's end in its record, counts the epoch up, remembers the first one, rings the
/// doorbell of every rank that may wait.
void record_loss(JobPage& page, const PageShape& shape, Rank rank, RankState state,
                 std::int32_t cause) noexcept;

/// Counts @p rank's arrival at barrier @p ticket, and wakes the sleepers when it was the last one.
void arrive_at_barrier(JobPage& page, const PageShape& shape, Rank rank,
                       std::uint32_t ticket) noexcept;

/// Records that @p rank waits in its Job's destructor, and wakes ranks that may wait for it in a
/// barrier.
void announce_end(JobPage& page, const PageShape& shape, Rank rank) noexcept;

/// Counts a port of @p rank's that is down, or one that is up again.
void note_port(JobPage& page, Rank rank, bool down) noexcept;

}  // namespace viaduct
