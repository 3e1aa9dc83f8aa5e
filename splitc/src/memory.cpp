#include "splitc/detail/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/errors/codes.hpp"
#include "splitc/detail/heap.hpp"
#include "splitc/src/fork_copy.hpp"
#include "splitc/src/image.hpp"
#include "splitc/src/mapped.hpp"
#include "splitc/src/region.hpp"
#include "splitc/src/statics.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/mapped_memory.hpp"
#include "viaduct/runtime/memory_file.hpp"
#include "viaduct/runtime/span_allocator.hpp"

namespace viaduct::splitc::detail {
namespace {

constexpr std::string_view kKey = "splitc.memory";
constexpr std::size_t kAlignment = 128;
constexpr MemoryFile::Names kNames{"viaduct-splitc", "memory of a Split-C process",
                                   "VIADUCT_SPREAD_BYTES or VIADUCT_HEAP_BYTES"};

/// The data that the processes exchange.
struct Record {
  std::uint64_t image_begin;
  std::uint64_t image_end;
  std::uint64_t region_bytes;
  std::uint64_t mapped_at;  // of use to ranks that are threads
};

/// The state that outlives a Memory: malloc's blocks and static data are used until the process
/// ends, and other threads may look into what was theirs.
struct Lasting {
  std::unique_ptr<MemoryFile> file;
  MappedMemory region;
};
struct ProcessWide {
  std::mutex mutex;
  std::list<Lasting> lasting;
  MappedMemory reserved;
  std::uint64_t reserved_at = 0;  // threads: where region addresses point to nothing
  std::size_t reserved_bytes = 0;
  bool has_moved = false;  // processes: the region is where it is, for good
};

ProcessWide& process_wide() {
  static auto* const instance = new ProcessWide;  // never destroyed: forks and exit() come later
  return *instance;
}

/// Threads: nothing else may come to lie at the region's addresses.
void reserve_addresses(std::uint64_t base, std::size_t bytes) {
  ProcessWide& all = process_wide();
  const std::lock_guard lock(all.mutex);
  if (all.reserved_at == base && all.reserved_bytes >= bytes) return;
  all.reserved = map_region_at(base, bytes, -1);
  all.reserved_at = base;
  all.reserved_bytes = bytes;
}

void claim_process() {
  ProcessWide& all = process_wide();
  const std::lock_guard lock(all.mutex);
  if (all.has_moved)
    throw Error(errors::split_c_again, std::errc::operation_not_permitted,
                "Split-C can begin once in a process: its memory has been moved into the region "
                "already");
  all.has_moved = true;
}

struct Peer {
  bool is_known = false;
  bool has_statics = false;
  bool is_hidden = false;
  std::byte* base = nullptr;  // null: cannot be mapped
  MappedMemory region;        // of another process
};

}  // namespace

struct Memory::Impl {
  Impl(Job& its_job, const Settings& settings);
  ~Impl();

  void map_own();
  void note_statics() noexcept;
  void direct_malloc();
  void meet();
  void map_peer(std::uint32_t process);
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
  [[nodiscard]] std::size_t own_slice() const noexcept {
    return layout.slices_at + index(job.rank()) * layout.slice_bytes;
  }
  [[nodiscard]] bool in_region(std::uint64_t address) const noexcept {
    return address - layout.base < layout.region_bytes;
  }
  template <class Piece>
  void for_each_piece(std::size_t first, std::size_t last, Piece&& piece);
  void reserve(std::size_t first, std::size_t last);
  void clear(std::size_t offset, std::size_t bytes, std::size_t free_from,
             std::size_t free_to) noexcept;

  Job& job;
  bool threads;
  bool shares_heap;
  Image image;
  std::string private_statics;  // why they are; empty: they are shared
  bool said_private = false;
  RegionLayout layout;
  std::size_t statics_bytes = 0;
  std::list<Lasting> lasting{1};  // one: its place is there before it is needed
  MemoryFile* file = nullptr;     // in it
  std::byte* own = nullptr;
  ImageShift shift;
  std::vector<Peer> peers;
  std::vector<SharedRange> shared;
  SpanAllocator alike;
  SpanAllocator slice;
  std::unordered_set<std::uint64_t> being_released;
  std::vector<bool> kept;  // chunks of the region, by number; empty: none is
};

Memory::Impl::Impl(Job& its_job, const Settings& settings)
    : job(its_job),
      threads(its_job.threads_mode()),
      shares_heap(!threads && settings.heap == "shared" && heap_hook() != nullptr),
      image(main_image()),
      layout(lay_out(static_cast<std::uint64_t>(settings.segment_base),
                     static_cast<std::size_t>(settings.spread_bytes),
                     shares_heap ? static_cast<std::size_t>(settings.heap_bytes) : 0,
                     its_job.size())),
      peers(its_job.size()),
      alike(layout.alike_bytes, kAlignment),
      slice(layout.slice_bytes, kAlignment) {
  if (threads) {
    private_statics = "ranks are threads, which have one and the same";
    reserve_addresses(layout.base, layout.region_bytes);
  } else {
    claim_process();
    private_statics = reason_against_sharing(image);
  }
  if (private_statics.empty()) {
    for (const PageRange& range : image.statics) statics_bytes += range.bytes();
  }
  map_own();
  meet();
  prepare_copy_on_fork(1 + image.statics.size());
  shared.reserve(1 + image.statics.size());
  // Last, when nothing can go wrong any more: what moves does not move back.
  if (private_statics.empty()) share_statics(image, *file, layout.statics_at);
  copy_on_fork(own, layout.statics_at, file->fd(), 0);
  if (private_statics.empty()) note_statics();
  if (shares_heap) direct_malloc();
}

Memory::Impl::~Impl() {
  ProcessWide& all = process_wide();
  const std::lock_guard lock(all.mutex);
  all.lasting.splice(all.lasting.end(), lasting);
}

void Memory::Impl::map_own() {
  Lasting& mine = lasting.front();
  mine.file = std::make_unique<MemoryFile>(kNames, layout.statics_at + statics_bytes);
  file = mine.file.get();
  const std::size_t bytes = layout.statics_at;  // the page behind the region is mapped with it
  mine.region =
      threads ? map_region(bytes, file->fd()) : map_region_at(layout.base, bytes, file->fd());
  own = mine.region.get();
  if (own == nullptr)
    throw_errno(
        errors::address_space,
        fmt::format(
            "cannot map {} bytes of shared memory: address space is short (ulimit -v), or lower "
            "VIADUCT_SPREAD_BYTES",
            bytes));
  Peer& self = peers[index(job.rank())];
  self.is_known = true;
  self.base = own;
  shared.push_back({own, layout.region_bytes});
}

/// All processes are mapped; who runs another program, or has other settings, is told.
void Memory::Impl::meet() {
  const Record mine{image.all.begin, image.all.end, layout.region_bytes,
                    reinterpret_cast<std::uint64_t>(own)};
  job.bootstrap().put(kKey, std::as_bytes(std::span(&mine, 1)));
  job.bootstrap().share_fd(file->fd(), kKey);
  job.bootstrap().fence();
  const auto bytes = job.bootstrap().get(Rank{0}, kKey);
  Record first{};
  if (bytes.size() == sizeof first) std::memcpy(&first, bytes.data(), sizeof first);
  if (first.image_end - first.image_begin != mine.image_end - mine.image_begin)
    throw Error(errors::programs_differ, std::errc::invalid_argument,
                fmt::format("rank {} runs another program than rank 0: a Split-C job has one",
                            index(job.rank())));
  if (first.region_bytes != mine.region_bytes)
    throw Error(errors::settings_differ, std::errc::invalid_argument,
                fmt::format("the region for shared memory has {} bytes in rank {} and {} in rank "
                            "0: give every rank the same VIADUCT_HEAP, VIADUCT_HEAP_BYTES and "
                            "VIADUCT_SPREAD_BYTES",
                            mine.region_bytes, index(job.rank()), first.region_bytes));
  shift = ImageShift(image.all, {first.image_begin, first.image_end});
}

/// Static data has been moved into shared memory.
void Memory::Impl::note_statics() noexcept {
  std::size_t offset = layout.statics_at;
  for (const PageRange& range : image.statics) {
    auto* const begin = reinterpret_cast<std::byte*>(range.begin);
    copy_on_fork(begin, range.bytes(), file->fd(), offset);
    shared.push_back({begin, range.bytes()});
    offset += range.bytes();
  }
}

void Memory::Impl::direct_malloc() {
  if (heap_hook()(own + layout.heap_at, layout.heap_bytes)) return;
  job.log().write(LogLevel::warn,
                  "malloc is not the one that Split-C directs into shared memory (another library "
                  "has replaced it): messages carry what lies in its memory");
}

void Memory::Impl::map_peer(std::uint32_t process) {
  Peer& p = peers[process];
  p.is_known = true;
  try {
    if (threads) {
      const auto bytes = job.bootstrap().get(Rank{process}, kKey);
      Record theirs{};
      if (bytes.size() == sizeof theirs) std::memcpy(&theirs, bytes.data(), sizeof theirs);
      p.base = reinterpret_cast<std::byte*>(theirs.mapped_at);
      return;
    }
    const FileDescriptor theirs = job.bootstrap().fetch_fd(Rank{process}, kKey);
    struct stat status {};
    const bool known = ::fstat(theirs.get(), &status) == 0;
    const std::size_t bytes = known ? static_cast<std::size_t>(status.st_size) : 0;
    if (bytes < layout.statics_at) return;
    p.region = map_region(bytes, theirs.get());
    p.base = p.region.get();
    if (p.base == nullptr) {
      job.log().write(LogLevel::warn,
                      fmt::format("cannot map {} bytes of process {}'s memory (ulimit -v?): "
                                  "messages carry what goes there",
                                  bytes, process));
      return;
    }
    ::madvise(p.base, bytes, MADV_DONTFORK);  // a child has no business there
    p.has_statics = bytes > layout.statics_at;
  } catch (const Error& problem) {  // it is lost: the operation will say so
    job.log().write(LogLevel::debug, problem.what());
  }
}

/// @p address is a local one: all processes' statics lie alike in their programs.
std::byte* Memory::Impl::find_static(Peer& p, std::uint64_t address, std::size_t bytes) {
  if (!p.has_statics) {
    if (!private_statics.empty() && !said_private && !p.is_hidden) warn_private(address);
    return nullptr;
  }
  std::size_t offset = layout.statics_at;
  for (const PageRange& range : image.statics) {
    const std::uint64_t at = address - range.begin;
    if (at < range.bytes() && bytes <= range.bytes() - at) return p.base + offset + at;
    offset += range.bytes();
  }
  return nullptr;
}

/// Once, when @p address is in static data that could have been reached directly.
void Memory::Impl::warn_private(std::uint64_t address) {
  const bool is_static = std::any_of(
      image.statics.begin(), image.statics.end(),
      [address](const PageRange& range) { return address - range.begin < range.bytes(); });
  if (!is_static) return;
  said_private = true;
  job.log().write(
      LogLevel::warn,
      fmt::format("a global pointer to static data goes by messages, which is slow: the "
                  "program's static data is private, as {}; use heap or spread memory",
                  private_statics));
}

std::uint64_t Memory::Impl::allocate(SpanAllocator& spans, std::size_t first, std::size_t bytes,
                                     const char* part) {
  const auto offset = spans.try_allocate(bytes, kAlignment);
  if (!offset) {
    throw Error(errors::spread_memory_full, std::errc::not_enough_memory,
                fmt::format("no {} bytes are left in {}: {} of {} are allocated, the largest free "
                            "piece has {}; raise VIADUCT_SPREAD_BYTES",
                            bytes, part, spans.allocated_bytes(), spans.total_bytes(),
                            spans.largest_free_bytes()));
  }
  const std::size_t begin = first + *offset;
  try {
    file->check_headroom(bytes);
    reserve(round_down(begin, kPageBytes), round_up(begin + bytes, kPageBytes));
  } catch (...) {
    (void)spans.try_release(*offset);
    throw;
  }
  return layout.base + begin;
}

void Memory::Impl::release(SpanAllocator& spans, std::size_t first, std::uint64_t address,
                           const char* what) {
  const std::uint64_t offset = address - layout.base - first;
  const auto released = spans.try_release(offset);
  if (!released)
    violate_contract(errors::not_an_array,
                     fmt::format("{}: nothing is allocated at {:#x}", what, address));
  clear(first + offset, released->bytes, first + released->free_from, first + released->free_to);
}

/// Calls @p piece(first, last, is_kept) for the parts of [first, last) of the region that lie in
/// kept chunks, and for those that do not.
template <class Piece>
void Memory::Impl::for_each_piece(std::size_t first, std::size_t last, Piece&& piece) {
  while (!kept.empty() && first < last) {
    const bool is_kept = kept[first / kChunkBytes];
    std::size_t end = first;
    do {
      end = round_down(end, kChunkBytes) + kChunkBytes;
    } while (end < last && kept[end / kChunkBytes] == is_kept);
    end = std::min(end, last);
    piece(first, end, is_kept);
    first = end;
  }
  if (first < last) piece(first, last, false);
}

/// What is kept is there, and would be given back when there is no memory for the rest.
void Memory::Impl::reserve(std::size_t first, std::size_t last) {
  for_each_piece(first, last, [this](std::size_t from, std::size_t to, bool is_kept) {
    if (!is_kept) file->reserve(from, to);
  });
}

void Memory::Impl::clear(std::size_t offset, std::size_t bytes, std::size_t free_from,
                         std::size_t free_to) noexcept {
  for_each_piece(offset, offset + bytes, [&](std::size_t from, std::size_t to, bool is_kept) {
    if (is_kept)
      std::memset(own + from, 0, to - from);
    else
      file->clear(own, from, to - from, free_from, free_to);
  });
}

Memory::Memory(Job& job, const Settings& settings) : impl_(std::make_unique<Impl>(job, settings)) {
  if (!impl_->private_statics.empty() && !impl_->threads) {
    job.log().write(LogLevel::info,
                    fmt::format("the program's static data stays private, messages carry what goes "
                                "there: {}",
                                impl_->private_statics));
  }
}

Memory::~Memory() = default;

void Memory::hide(std::uint32_t process) {
  Peer& p = impl_->peers[process];
  p.is_known = p.is_hidden = true;
}

View Memory::view_of(std::uint32_t process) {
  const Impl& p = *impl_;
  const std::byte* const base = impl_->peer(process).base;
  if (base == nullptr) return {};
  return {make_word(process, p.layout.base), p.layout.region_bytes, const_cast<std::byte*>(base),
          0};
}

std::byte* Memory::find(std::uint32_t process, std::uint64_t address, std::size_t bytes) {
  Impl& p = *impl_;
  if (process == index(p.job.rank())) return static_cast<std::byte*>(localize(address));
  if (p.in_region(address)) {
    const std::uint64_t at = address - p.layout.base;
    std::byte* const base = p.peer(process).base;
    return base != nullptr && bytes <= p.layout.region_bytes - at ? base + at : nullptr;
  }
  if (p.threads) {
    if (p.peers[process].is_hidden) return nullptr;
    auto* const here = reinterpret_cast<std::byte*>(address);
    return is_mapped(here, bytes) ? here : nullptr;
  }
  return p.find_static(p.peer(process), p.shift.localize(address), bytes);
}

bool Memory::is_shared(const void* local, std::size_t bytes) const noexcept {
  if (impl_->threads) return true;
  for (const SharedRange& range : impl_->shared) {
    const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(local) - range.begin);
    if (at < range.bytes && bytes <= range.bytes - at) return true;
  }
  return false;
}

std::span<const SharedRange> Memory::shared_ranges() const noexcept { return impl_->shared; }

std::uint64_t Memory::globalize(const void* local) const noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(local);
  const Impl& p = *impl_;
  if (!p.threads) return p.shift.moves() ? p.shift.globalize(address) : address;
  const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(local) - p.own);
  return at < p.layout.region_bytes ? p.layout.base + at : address;
}

void* Memory::localize(std::uint64_t address) const noexcept {
  const Impl& p = *impl_;
  if (!p.threads)
    return reinterpret_cast<void*>(p.shift.moves() ? p.shift.localize(address) : address);
  return p.in_region(address) ? p.own + (address - p.layout.base)
                              : reinterpret_cast<void*>(address);
}

std::uint64_t Memory::allocate_alike(std::size_t bytes) {
  return impl_->allocate(impl_->alike, 0, bytes,
                         "the part of spread memory that all processes allocate alike");
}

void Memory::release_alike(std::uint64_t address) {
  impl_->release(impl_->alike, 0, address, "Memory::release_alike");
}

std::uint64_t Memory::allocate_own(std::size_t bytes) {
  return impl_->allocate(impl_->slice, impl_->own_slice(), bytes,
                         "this process' slice of spread memory");
}

std::size_t Memory::bytes_at(std::uint64_t address) const noexcept {
  const Impl& p = *impl_;
  const std::uint64_t offset = address - p.layout.base;
  if (const std::size_t bytes = p.alike.bytes_at(offset); bytes != 0) return bytes;
  return p.slice.bytes_at(offset - p.own_slice());
}

std::size_t Memory::begin_release_own(std::uint64_t address) {
  Impl& p = *impl_;
  const std::size_t bytes = p.slice.bytes_at(address - p.layout.base - p.own_slice());
  return bytes != 0 && p.being_released.insert(address).second ? bytes : 0;
}

void Memory::release_own(std::uint64_t address) {
  impl_->being_released.erase(address);
  impl_->release(impl_->slice, impl_->own_slice(), address, "Memory::release_own");
}

std::uint32_t Memory::owner_of(std::uint64_t address) const noexcept {
  const RegionLayout& layout = impl_->layout;
  const std::uint64_t at = address - layout.base - layout.slices_at;
  if (address < layout.base || at >= layout.slice_bytes * impl_->job.size()) return kMaxProcesses;
  return static_cast<std::uint32_t>(at / layout.slice_bytes);
}

void Memory::clear(std::uint64_t address, std::size_t bytes) noexcept {
  const std::size_t at = address - impl_->layout.base;
  impl_->clear(at, bytes, at, at + bytes);
}

SharedRange Memory::chunk_at(std::uint64_t address) const noexcept {
  const auto* const local = static_cast<const std::byte*>(localize(address));
  for (const SharedRange& range : impl_->shared) {
    const auto at = static_cast<std::size_t>(local - range.begin);
    if (at >= range.bytes) continue;
    const std::size_t first = round_down(at, kChunkBytes);
    return {range.begin + first, std::min(kChunkBytes, range.bytes - first)};
  }
  return {};
}

bool Memory::keep_chunk(const SharedRange& chunk) noexcept {
  Impl& p = *impl_;
  const auto at = static_cast<std::size_t>(chunk.begin - p.own);
  if (at >= p.layout.region_bytes) return true;  // static data, which stays as it is
  try {
    p.kept.resize(p.layout.region_bytes / kChunkBytes + 1);
    p.file->check_headroom(chunk.bytes);
    p.file->reserve(at, at + chunk.bytes);
    p.kept[at / kChunkBytes] = true;
    return true;
  } catch (const std::exception& problem) {
    p.job.log().write(LogLevel::debug, problem.what());
    return false;
  }
}

}  // namespace viaduct::splitc::detail
