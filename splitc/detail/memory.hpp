#pragma once
// The parts of a process' memory that the others reach with plain loads and stores: the symmetric
// region (spread memory and malloc's heap), and the program's static data.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "viaduct/job.hpp"
#include "viaduct/splitc/detail/hot.hpp"
#include "viaduct/splitc/settings.hpp"

namespace viaduct::splitc::detail {

/// A range of this process' memory that others have mapped or may map.
struct SharedRange {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
};

/// The regions of all processes, each mapped at one address in all processes: that of process p at
/// place + (p << shift).
struct AlignedRegions {
  std::uint64_t first = 0;  ///< global address of the region
  std::uint64_t place = 0;
  std::size_t bytes = 0;    ///< of each region; 0: they are not mapped so
  unsigned shift = 0;
};

class Checks;

class Memory {
 public:
  /// Collective; the process has one thread (except ranks that are threads). Maps the symmetric
  /// region, moves the program's static data into shared memory, directs malloc into the region.
  /// Throws Error that names the obstacle and the setting that removes it.
  Memory(Job& job, const Settings& settings);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Collective, before any process' memory has been mapped: maps the regions of all processes,
  /// each at one address in all of them. Where a process cannot map one of them so, no process has
  /// them so: the answer is empty.
  [[nodiscard]] AlignedRegions align_regions();
  /// From now on find() answers null for @p process and asks it for nothing: @p process shares no
  /// memory with this process.
  void hide(std::uint32_t process);
  /// The view of @p process' symmetric region, mapped at the first call; bytes is 0 when it cannot
  /// be mapped.
  [[nodiscard]] View view_of(std::uint32_t process);
  /// The address in this process of [address, address + bytes) of @p process: in its region or its
  /// static data. Null: in neither, so that only messages reach it.
  [[nodiscard]] std::byte* find(std::uint32_t process, std::uint64_t address, std::size_t bytes);
  /// Whether the others can find() this range of this process.
  [[nodiscard]] bool is_shared(const void* local, std::size_t bytes) const noexcept;
  /// All ranges that the others can find().
  [[nodiscard]] std::span<const SharedRange> shared_ranges() const noexcept;

  // Chunks: RDMA devices register each as a whole, and then reach it without the owner's part.
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
  /// The chunk, of at most kChunkBytes, that the global address @p address lies in; empty when
  /// @p address is in no memory that others can reach.
  [[nodiscard]] SharedRange chunk_at(std::uint64_t address) const noexcept;
  /// Makes all pages of @p chunk present, and keeps them from now on: memory that is freed there is
  /// zeroed, and its pages are not returned to the system, since a device would go on using them.
  /// False: there is not enough memory.
  [[nodiscard]] bool keep_chunk(const SharedRange& chunk) noexcept;

  /// Local address to the address in a global pointer, and back (global_ptr.hpp).
  [[nodiscard]] std::uint64_t globalize(const void* local) const noexcept;
  [[nodiscard]] void* localize(std::uint64_t address) const noexcept;

  // Allocation, in global addresses. Zeroed. Throws Error.
  /// From the part that all processes allocate alike: the same address everywhere, as long as all
  /// make the same calls. Reserves this process' pages.
  [[nodiscard]] std::uint64_t allocate_alike(std::size_t bytes);
  void release_alike(std::uint64_t address);
  /// Undoes an allocate_alike() of this process while another process had no room.
  void cancel_alike(std::uint64_t address);
  /// From this process' own slice, which is free at this address in every process. Nothing is
  /// reserved in the others.
  [[nodiscard]] std::uint64_t allocate_own(std::size_t bytes);
  /// The size that was asked for where allocate_alike() or this process' allocate_own() answered
  /// @p address, at least 1; 0: there is no such allocation.
  [[nodiscard]] std::size_t bytes_at(std::uint64_t address) const noexcept;
  /// Freeing takes two steps, by the process that has allocated: this function answers what
  /// bytes_at() does, once; then all processes clear() their parts; then release_own() makes the
  /// place free.
  [[nodiscard]] std::size_t begin_release_own(std::uint64_t address);
  void release_own(std::uint64_t address);
  /// The process whose slice @p address lies in; kMaxProcesses: in none.
  [[nodiscard]] std::uint32_t owner_of(std::uint64_t address) const noexcept;
  /// Zeroes this process' part of an allocation that is being freed.
  void clear(std::uint64_t address, std::size_t bytes) noexcept;

  /// The tables of checked mode (docs/checked.md); null: no source of the program is checked.
  [[nodiscard]] Checks* checks() noexcept;
  /// Whether @p local lies in the program itself, so that all processes have the same bytes there.
  [[nodiscard]] bool is_in_program(const void* local) const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::splitc::detail
