/// Checked mode: the state of each block, and the sentences about wrong accesses.

#include "splitc/src/checks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "runtime/errors/codes.hpp"
#include "splitc/detail/machine.hpp"
#include "splitc/src/fork_copy.hpp"
#include "splitc/src/heap_checks.hpp"
#include "splitc/src/memory_impl.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

// Of a program that is compiled with the address sanitizer; null in others.
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* begin, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* begin, std::size_t bytes);
}

namespace viaduct::splitc::detail {
namespace {

constexpr std::string_view kKey = "splitc.states";
constexpr MemoryFile::Names kNames{"viaduct-splitc-states", "the tables of checked mode",
                                   "VIADUCT_SPREAD_BYTES or VIADUCT_HEAP_BYTES"};
/// How far a sentence looks for a block, in grains.
constexpr std::size_t kFarthest = std::size_t{1} << 22;
constexpr std::size_t kGrain = Checks::kGrain;

[[nodiscard]] std::uint8_t load(const std::uint8_t* state) noexcept {
  return __atomic_load_n(state, __ATOMIC_RELAXED);
}

/// The first of the bytes [first, last) that is in no block; @p last: all are.
std::size_t find_wrong(const std::uint8_t* states, std::size_t first, std::size_t last,
                       bool may_be_unknown) noexcept {
  constexpr std::size_t kEight = 8;  // states that are looked at together, where all are kGrain
  constexpr std::uint64_t kAllWhole = 0x1010101010101010;
  for (std::size_t at = first; at < last;) {
    const std::size_t begin = round_down(at, kGrain);
    if (last - begin >= kEight * kGrain && begin % (kEight * kGrain) == 0 &&
        __atomic_load_n(reinterpret_cast<const std::uint64_t*>(states + begin / kGrain),
                        __ATOMIC_RELAXED) == kAllWhole) {
      at = begin + kEight * kGrain;
      continue;
    }
    const std::uint8_t state = load(states + begin / kGrain);
    const std::size_t next = std::min(begin + kGrain, last);
    const bool known = state != Checks::kUnknown || !may_be_unknown;
    if (known && state > kGrain) return at;
    if (known && begin + state < next) return std::max(at, begin + state);
    at = next;
  }
  return last;
}

/// The first grain of the block that has bytes in grain @p grain, looked for kFarthest grains back
/// at most.
template <class Belongs>
std::size_t first_grain(const std::uint8_t* states, std::size_t grain, Belongs&& belongs) {
  const std::size_t least = grain > kFarthest ? grain - kFarthest : 0;
  while (grain > least && belongs(load(states + grain - 1))) --grain;
  return grain;
}

void poison(const std::byte* begin, std::size_t bytes) noexcept {
  if (&__asan_poison_memory_region != nullptr) __asan_poison_memory_region(begin, bytes);
}
void unpoison(const std::byte* begin, std::size_t bytes) noexcept {
  if (&__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(begin, bytes);
}

std::string plain(const Checks::Place& at) { return fmt::format("{}:{}", at.file, at.line); }

}  // namespace

std::string with_place(const char* operation, const Checks::Place& at) {
  if (at.file != nullptr) return fmt::format("{} at {}", operation, plain(at));
  if (at.code == nullptr) return operation;
  const auto code = reinterpret_cast<std::uintptr_t>(at.code);
  return fmt::format("{} in the code before {:#x} (addr2line -Cife PROGRAM {:#x})", operation, code,
                     code - 1);
}

Checks::Checks(Job& job, const RegionLayout& layout, bool threads, LastingMemory& lasting)
    : job_(job),
      layout_(layout),
      threads_(threads),
      states_bytes_(round_up(layout.statics_at / kGrain, kPageBytes)),
      region_(lasting.region.get()),
      peers_(job.size()) {
  lasting.states_file = std::make_unique<MemoryFile>(kNames, states_bytes_);
  states_fd_ = lasting.states_file->fd();
  lasting.states = map_region(states_bytes_, states_fd_);
  if (!lasting.states)
    throw_errno(
        errors::address_space,
        "checked mode: cannot map its tables: address space is short: raise ulimit -v, or lower "
        "VIADUCT_SPREAD_BYTES");
  own_ = reinterpret_cast<std::uint8_t*>(lasting.states.get());
  Peer& self = peers_[index(job.rank())];
  self.is_known = true;
  self.states = own_;
  const auto address = reinterpret_cast<std::uint64_t>(own_);
  job.bootstrap().put(kKey, std::as_bytes(std::span(&address, 1)));
  job.bootstrap().share_fd(states_fd_, kKey);
}

void Checks::copy_on_fork() noexcept {
  detail::copy_on_fork(reinterpret_cast<std::byte*>(own_), states_bytes_, states_fd_, 0);
}

void Checks::watch_heap() noexcept {
  begin_heap_checks(own_ + layout_.heap_at / kGrain, region_ + layout_.heap_at, layout_.heap_bytes);
}

void Checks::hide(std::uint32_t process) { peers_[process].is_known = true; }

void Checks::allocated(std::size_t offset, std::size_t bytes, std::size_t span, Place place) {
  std::uint8_t* const states = own_ + offset / kGrain;
  const std::size_t whole = bytes / kGrain;
  std::memset(states, kGrain, whole);
  std::memset(states + whole, kBehind, span / kGrain - whole);
  if (bytes % kGrain != 0) states[whole] = static_cast<std::uint8_t>(bytes % kGrain);
  blocks_.erase(blocks_.lower_bound(offset), blocks_.lower_bound(offset + span));
  blocks_[offset] = {bytes, place, {}};
  unpoison(region_ + offset, bytes);
  poison(region_ + offset + bytes, span - bytes);
}

void Checks::freed(std::size_t offset, std::size_t bytes, Place place) {
  std::memset(own_ + offset / kGrain, kFreed,
              std::max<std::size_t>(1, (bytes + kGrain - 1) / kGrain));
  if (const auto block = blocks_.find(offset); block != blocks_.end()) block->second.freed = place;
  poison(region_ + offset, bytes);
}

void Checks::reused(std::size_t offset, std::size_t span) noexcept {
  unpoison(region_ + offset, span);
}

bool Checks::is_freed(std::size_t offset) const noexcept {
  return load(own_ + offset / kGrain) == kFreed;
}

/// Null: the states are not visible to this process.
const std::uint8_t* Checks::states_of(std::uint32_t process) {
  Peer& peer = peers_[process];
  if (peer.is_known) return peer.states;
  peer.is_known = true;
  try {
    if (threads_) {
      const auto bytes = job_.bootstrap().get(Rank{process}, kKey);
      std::uint64_t address = 0;
      if (bytes.size() == sizeof address) std::memcpy(&address, bytes.data(), sizeof address);
      peer.states = reinterpret_cast<const std::uint8_t*>(address);
      return peer.states;
    }
    const FileDescriptor theirs = job_.bootstrap().fetch_fd(Rank{process}, kKey);
    peer.mapping = map_region(states_bytes_, theirs.get());
    if (peer.mapping) ::madvise(peer.mapping.get(), states_bytes_, MADV_DONTFORK);
    peer.states = reinterpret_cast<const std::uint8_t*>(peer.mapping.get());
  } catch (const Error&) {  // the process is lost: the operation will say so
  }
  return peer.states;
}

const std::uint8_t* Checks::states_for(std::uint32_t process, std::size_t offset) {
  if (offset >= layout_.heap_at) return states_of(process);
  if (offset < layout_.slices_at) return own_;
  const std::size_t slice = (offset - layout_.slices_at) / layout_.slice_bytes;
  return slice < peers_.size() ? states_of(static_cast<std::uint32_t>(slice)) : nullptr;
}

void Checks::check(const char* operation, std::uint32_t asker, std::uint64_t word,
                   std::size_t bytes, Place at) {
  const std::uint32_t process = process_of(word);
  const std::size_t first = address_of(word) - layout_.base;
  if (process >= peers_.size() || address_of(word) < layout_.base ||
      first >= layout_.region_bytes || bytes == 0)
    return;
  const std::size_t last = first + std::min(bytes, layout_.region_bytes - first);
  const std::uint8_t* const states = states_for(process, first);
  if (states == nullptr) return;
  const std::size_t wrong = find_wrong(states, first, last, first >= layout_.heap_at);
  if (wrong == last) [[likely]]
    return;
  std::string what =
      fmt::format("the {} bytes at {:#x} of process {}", bytes, address_of(word), process);
  if (asker != hot.myproc) what += fmt::format(", which process {} names,", asker);
  const std::string name = with_place(operation, at);
  if (load(states + wrong / kGrain) == kFreed) stop_freed(name, what, states, wrong);
  stop_outside(name, what, states, first, last, wrong);
}

/// Of blocks that this process has allocated, or all processes alike.
const Checks::Block* Checks::recorded(std::size_t begin) const noexcept {
  const auto found = blocks_.find(begin);
  return found == blocks_.end() ? nullptr : &found->second;
}

void Checks::stop_freed(const std::string& operation, const std::string& what,
                        const std::uint8_t* states, std::size_t wrong) {
  const std::size_t begin =
      kGrain * first_grain(states, wrong / kGrain, [](std::uint8_t s) { return s == kFreed; });
  const Block* const block = states == own_ ? recorded(begin) : nullptr;
  std::string which = fmt::format("a block at {:#x}", layout_.base + begin);
  if (block != nullptr) {
    which = fmt::format("a block of {} bytes at {:#x}", block->bytes, layout_.base + begin);
    if (block->allocated.file != nullptr) which += ", allocated at " + plain(block->allocated);
  }
  std::string freed = "that has been freed";
  if (block != nullptr && block->freed.file != nullptr) freed += " at " + plain(block->freed);
  stop(errors::freed_memory, operation.c_str(),
       fmt::format("{} are in {}, {}: let all processes come to a barrier after the last use, and "
                   "free it then",
                   what, which, freed));
}

void Checks::stop_outside(const std::string& operation, const std::string& what,
                          const std::uint8_t* states, std::size_t first, std::size_t last,
                          std::size_t wrong) {
  const auto is_block = [](std::uint8_t s) { return s != kUnknown && s <= kGrain; };
  const std::size_t grain = wrong / kGrain;
  const std::size_t least = grain > kFarthest ? grain - kFarthest : 0;
  std::size_t near = grain + 1;
  while (near > least && !is_block(load(states + near - 1))) --near;
  std::string where = "in no block that is allocated";
  const Block* block = nullptr;
  std::size_t begin = 0;
  if (near > least) {
    const std::size_t end = (near - 1) * kGrain + load(states + near - 1);
    begin = kGrain * first_grain(states, near - 1, [](std::uint8_t s) { return s == kGrain; });
    block = states == own_ ? recorded(begin) : nullptr;
    const std::string name =
        fmt::format("the block of {} bytes at {:#x}", end - begin, layout_.base + begin);
    if (first < end)
      where = fmt::format("partly outside: {} of them are behind the end of {}", last - end, name);
    else
      where = fmt::format("outside: they begin {} bytes behind the end of {}", first - end, name);
  } else {
    const std::size_t most = std::min(grain + kFarthest, states_bytes_);
    std::size_t next = grain;
    while (next < most && !is_block(load(states + next))) ++next;
    if (next < most)
      where = fmt::format("outside: they begin {} bytes before the block at {:#x}",
                          next * kGrain - first, layout_.base + next * kGrain);
  }
  if (block != nullptr && block->allocated.file != nullptr)
    where += ", allocated at " + plain(block->allocated);
  stop(
      errors::out_of_bounds, operation.c_str(),
      fmt::format("{} are {}: look at the subscript and the count, or allocate more", what, where));
}

}  // namespace viaduct::splitc::detail
