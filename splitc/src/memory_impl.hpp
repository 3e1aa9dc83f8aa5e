#pragma once
// The shared memory of a Split-C process: memory.cpp maps it, memory_spans.cpp allocates in it.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "splitc/detail/memory.hpp"
#include "splitc/src/checks.hpp"
#include "splitc/src/image.hpp"
#include "splitc/src/region.hpp"
#include "viaduct/runtime/mapped_memory.hpp"
#include "viaduct/runtime/memory_file.hpp"
#include "viaduct/runtime/span_allocator.hpp"

namespace viaduct::splitc::detail {

/// The state that outlives a Memory: malloc's blocks and static data are used until the process
/// ends, and other ranks that are threads may still read it.
struct LastingMemory {
  std::unique_ptr<MemoryFile> file;
  MappedMemory region;
  std::unique_ptr<MemoryFile> states_file;  // of Checks
  MappedMemory states;
};

struct Memory::Impl {
  static constexpr std::size_t kAlignment = 128;
  struct Peer {
    bool is_known = false;
    bool is_hidden = false;
    std::byte* base = nullptr;       // null: cannot be mapped
    MappedMemory region;             // of another process
    MappedMemory statics;            // of another process; empty: they are private, or not mapped
    bool statics_are_known = false;  // whether that process has moved its own there
  };

  Impl(Job& its_job, const Settings& settings);
  ~Impl();

  void map_own();
  void note_statics() noexcept;
  void say_private();
  /// The last word of the page behind the region that is mapped at @p base.
  [[nodiscard]] std::uint64_t& word_behind(std::byte* base) const noexcept {
    return reinterpret_cast<std::uint64_t*>(base + layout.statics_at)[-1];
  }
  void direct_malloc();
  void meet();
  void map_peer(std::uint32_t process);
  [[nodiscard]] bool map_all_aligned();
  [[nodiscard]] bool align_from(std::uint64_t place, unsigned shift);
  [[nodiscard]] MappedMemory map_aligned(std::uint32_t process, int fd) const noexcept;
  Peer& peer(std::uint32_t process) {
    Peer& p = peers[process];
    if (!p.is_known) map_peer(process);
    return p;
  }
  std::byte* find_static(Peer& p, std::uint64_t address, std::size_t bytes);
  void warn_private(std::uint64_t address);
  std::uint64_t allocate(SpanAllocator& spans, std::size_t first, std::size_t bytes,
                         const char* part);
  void release(SpanAllocator& spans, std::size_t first, std::uint64_t address, const char* what);
  /// In checked mode the span is withheld from later allocations for a while; else as release().
  void retire(SpanAllocator& spans, std::size_t first, std::uint64_t address, const char* what,
              Checks::Place place);
  /// In checked mode: frees the spans of @p spans that retire() has withheld. False: there were
  /// none.
  bool release_retired(SpanAllocator& spans, std::size_t first, std::size_t most_bytes);
  /// 0: nothing is allocated there, or it is retired.
  [[nodiscard]] std::size_t bytes_at(const SpanAllocator& spans, std::size_t first,
                                     std::uint64_t address) const noexcept;
  [[nodiscard]] std::size_t own_slice() const noexcept {
    return layout.slices_at + index(job.rank()) * layout.slice_bytes;
  }
  [[nodiscard]] bool in_region(std::uint64_t address) const noexcept {
    return address - layout.base < layout.region_bytes;
  }
  template <class Piece>
  void for_each_piece(std::size_t first, std::size_t last, Piece&& piece);
  void reserve(std::size_t first, std::size_t last);
  [[nodiscard]] Checks::Place place_of_call() const noexcept;
  void clear(std::size_t offset, std::size_t bytes, std::size_t free_from,
             std::size_t free_to) noexcept;

  Job& job;
  bool threads;
  bool shares_heap;
  Image image;
  std::string private_statics;  // why they are private; empty: they are shared
  bool said_private = false;
  RegionLayout layout;
  std::size_t statics_bytes = 0;
  std::list<LastingMemory> lasting{1};  // one: made before it is needed
  MemoryFile* file = nullptr;           // that of lasting.front()
  std::byte* own = nullptr;
  ImageShift shift;
  std::vector<Peer> peers;
  AlignedRegions aligned;    // what align_regions() is to answer
  MappedMemory own_aligned;  // this process' region again
  std::vector<SharedRange> shared;
  SpanAllocator alike;
  SpanAllocator slice;
  std::unordered_set<std::uint64_t> being_released;
  std::unique_ptr<Checks> checks;  // null: the program is not checked
  struct Retired {
    std::deque<std::uint64_t> addresses;
    std::size_t bytes = 0;
  };
  Retired retired_alike;
  Retired retired_slice;
  std::vector<bool> kept;  // chunks of the region, by number; empty: none is
};

}  // namespace viaduct::splitc::detail
