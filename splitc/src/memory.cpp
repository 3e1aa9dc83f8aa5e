#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <exception>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/errors/codes.hpp"
#include "runtime/sanitizers.hpp"
#include "splitc/detail/heap.hpp"
#include "splitc/src/fork_copy.hpp"
#include "splitc/src/mapped.hpp"
#include "splitc/src/memory_impl.hpp"
#include "splitc/src/statics.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/file_descriptor.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/splitc/detail/here.hpp"

namespace viaduct::splitc::detail {
namespace {

constexpr std::string_view kKey = "splitc.memory";
constexpr std::string_view kAlignedKey = "splitc.aligned";
constexpr MemoryFile::Names kNames{"viaduct-splitc", "memory of a Split-C process",
                                   "VIADUCT_SPREAD_BYTES or VIADUCT_HEAP_BYTES"};

/// The data that the processes exchange.
struct Record {
  std::uint64_t image_begin;
  std::uint64_t image_end;
  std::uint64_t region_bytes;
  std::uint64_t mapped_at;  // used by ranks that are threads
};

struct ProcessWide {
  std::mutex mutex;
  std::list<LastingMemory> lasting;
  MappedMemory reserved;
  std::uint64_t reserved_at = 0;  // threads: no memory lies at the region's addresses
  std::size_t reserved_bytes = 0;
  bool has_moved = false;  // processes: the region will not move again
};

ProcessWide& process_wide() {
  static auto* const instance = new ProcessWide;  // never destroyed: forks and exit() come later
  return *instance;
}

/// Threads: keeps other mappings away from the region's addresses.
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

}  // namespace

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
  if (checks_are_asked_for())
    checks = std::make_unique<Checks>(job, layout, threads, lasting.front());
  meet();
  prepare_copy_on_fork(1 + image.statics.size() + (checks != nullptr ? 1 : 0));
  shared.reserve(1 + image.statics.size());
  // Last, when no step can fail any more: static data do not move back.
  if (private_statics.empty()) {
    private_statics = share_statics(image, *file, layout.statics_at);
    if (!private_statics.empty()) say_private();
  }
  copy_on_fork(own, layout.statics_at, file->fd(), 0);
  if (checks != nullptr) checks->copy_on_fork();
  if (private_statics.empty()) note_statics();
  if (shares_heap) direct_malloc();
}

Memory::Impl::~Impl() {
  ProcessWide& all = process_wide();
  const std::lock_guard lock(all.mutex);
  all.lasting.splice(all.lasting.end(), lasting);
}

void Memory::Impl::map_own() {
  LastingMemory& mine = lasting.front();
  mine.file = std::make_unique<MemoryFile>(kNames, layout.statics_at + statics_bytes);
  file = mine.file.get();
  const std::size_t bytes = layout.statics_at;  // the page behind the region is mapped with it
  mine.region =
      threads ? map_region(bytes, file->fd()) : map_region_at(layout.base, bytes, file->fd());
  own = mine.region.get();
  if (own == nullptr)
    throw_errno(errors::address_space, fmt::format("cannot map {} bytes of shared memory: address "
                                                   "space is short: raise ulimit -v, or lower "
                                                   "VIADUCT_SPREAD_BYTES",
                                                   bytes));
  Peer& self = peers[index(job.rank())];
  self.is_known = true;
  self.base = own;
  shared.push_back({own, layout.region_bytes});
}

/// Exchanges the records of all processes; throws Error when this process runs another program than
/// process 0, or has other settings.
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

/// Tells the others, who know the file's size, that its last part is not in use. The word lies in
/// the page behind the region, which is otherwise empty. They look at it in find_static().
void Memory::Impl::say_private() {
  file->reserve(layout.region_bytes, layout.statics_at);
  std::atomic_ref(word_behind(own)).store(1, std::memory_order_release);
}

void Memory::Impl::direct_malloc() {
  if (heap_hook()(own + layout.heap_at, layout.heap_bytes)) {
    if (checks != nullptr) checks->watch_heap();
    return;
  }
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
    if (aligned.bytes != 0) {
      p.region = map_aligned(process, theirs.get());
    } else {
      p.region = map_region(layout.statics_at, theirs.get());
    }
    if (bytes > layout.statics_at)
      p.statics = map_region(bytes - layout.statics_at, theirs.get(), layout.statics_at);
    const bool all = p.region && (p.statics || bytes == layout.statics_at);
    if (!all && aligned.bytes == 0)
      job.log().write(LogLevel::warn,
                      fmt::format("cannot map {} bytes of process {}'s memory (ulimit -v?): "
                                  "messages carry what goes there",
                                  bytes, process));
    if (!all) {
      p.region.reset();
      p.statics.reset();
      return;
    }
    // A forked child must not use them.
    ::madvise(p.region.get(), p.region.bytes(), MADV_DONTFORK);
    if (p.statics) ::madvise(p.statics.get(), p.statics.bytes(), MADV_DONTFORK);
    p.base = p.region.get();
  } catch (const Error& problem) {
    const bool lost = job.is_lost(Rank{process});  // the operation will say so
    job.log().write(lost ? LogLevel::debug : LogLevel::warn,
                    fmt::format("{}: messages carry what goes to the memory of process {}",
                                problem.sentence(), process));
  }
}

MappedMemory Memory::Impl::map_aligned(std::uint32_t process, int fd) const noexcept {
  const std::uint64_t place = aligned.place + (std::uint64_t{process} << aligned.shift);
  return map_region_if_free(place, aligned.bytes, fd);
}

/// Whether this process has the regions of all processes at their aligned places now.
bool Memory::Impl::map_all_aligned() {
  own_aligned = map_aligned(index(job.rank()), file->fd());
  if (!own_aligned) return false;
  // A forked child has a copy of its own, which is not here.
  ::madvise(own_aligned.get(), own_aligned.bytes(), MADV_DONTFORK);
  for (std::uint32_t process = 0; process < job.size(); ++process)
    if (peer(process).base == nullptr) return false;
  return true;
}

/// Collective. Whether all processes have all regions at these places now.
bool Memory::Impl::align_from(std::uint64_t place, unsigned shift) {
  // With the page behind it: a pointer to the end of the region's last object is aligned, too.
  aligned = {layout.base, place, layout.statics_at, shift};
  bool all = map_all_aligned();
  job.bootstrap().put_value(kAlignedKey, all);
  job.bootstrap().fence();
  for (std::uint32_t r = 0; r < job.size(); ++r)
    all = job.bootstrap().get_value<bool>(Rank{r}, kAlignedKey).value_or(false) && all;
  job.bootstrap().fence();
  if (all) return true;
  aligned = {};
  own_aligned.reset();
  for (std::uint32_t r = 0; r < job.size(); ++r)
    if (Rank{r} != job.rank()) peers[r] = {};
  return false;
}

/// @p address is a local address: the static data of all processes have the same layout.
std::byte* Memory::Impl::find_static(Peer& p, std::uint64_t address, std::size_t bytes) {
  if (p.statics && !p.statics_are_known) {
    p.statics_are_known = true;
    if (std::atomic_ref(word_behind(p.base)).load(std::memory_order_acquire) != 0)
      p.statics.reset();
  }
  if (!p.statics) {
    if (!private_statics.empty() && !said_private && !p.is_hidden) warn_private(address);
    return nullptr;
  }
  std::size_t offset = 0;
  for (const PageRange& range : image.statics) {
    const std::uint64_t at = address - range.begin;
    if (at < range.bytes() && bytes <= range.bytes() - at) return p.statics.get() + offset + at;
    offset += range.bytes();
  }
  return nullptr;
}

/// Warns once, when @p address is in static data that could have been reached directly.
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

Memory::Memory(Job& job, const Settings& settings) : impl_(std::make_unique<Impl>(job, settings)) {
  if (!impl_->private_statics.empty() && !impl_->threads) {
    job.log().write(LogLevel::info,
                    fmt::format("the program's static data stays private, messages carry what goes "
                                "there: {}",
                                impl_->private_statics));
  }
}

Memory::~Memory() = default;

AlignedRegions Memory::align_regions() {
  Impl& p = *impl_;
  const auto shift = static_cast<unsigned>(std::bit_width(p.layout.statics_at));
  // With more processes, mapping all regions at the start would take long.
  constexpr std::uint32_t kMostProcesses = 64;
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 43;
  const bool fits = p.job.size() <= kMostProcesses && shift < kAlignedShift &&
                    std::uint64_t{p.job.size()} << shift <= kMostBytes;
  // The thread sanitizer maps at address 0 where it does not allow a wanted place, and stops.
  if (!fits || p.threads || kThreadSanitizer) return {};
  // valgrind and the address sanitizer do not give the first place; those that use them choose the
  // region's place, and there is room behind it.
  constexpr std::uint64_t kUsual = std::uint64_t{1} << 43;
  constexpr std::uint64_t kBehind = std::uint64_t{1} << 40;
  if (!p.align_from(kUsual, shift))
    (void)p.align_from(round_up(p.layout.base + kBehind, std::uint64_t{1} << shift), shift);
  return p.aligned;
}

void Memory::hide(std::uint32_t process) {
  Impl::Peer& p = impl_->peers[process];
  p.is_known = p.is_hidden = true;
  if (impl_->checks != nullptr) impl_->checks->hide(process);
}

Checks* Memory::checks() noexcept { return impl_->checks.get(); }

bool Memory::is_in_program(const void* local) const noexcept {
  const PageRange& all = impl_->image.all;
  return reinterpret_cast<std::uintptr_t>(local) - all.begin < all.bytes();
}

View Memory::view_of(std::uint32_t process) {
  const Impl& p = *impl_;
  const std::byte* const base = impl_->peer(process).base;
  if (base == nullptr) return {};
  return {make_word(process, p.layout.base), p.layout.region_bytes, const_cast<std::byte*>(base)};
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

}  // namespace viaduct::splitc::detail
