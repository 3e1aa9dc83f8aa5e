// Allocation in the shared memory of a Split-C process, and the chunks of it that RDMA devices
// keep.

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <exception>

#include "runtime/errors/codes.hpp"
#include "splitc/src/memory_impl.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/splitc/detail/collective_call.hpp"

namespace viaduct::splitc::detail {

std::uint64_t Memory::Impl::allocate(SpanAllocator& spans, std::size_t first, std::size_t bytes,
                                     const char* part) {
  const std::size_t span = checks == nullptr ? bytes : Checks::with_red_zone(bytes);
  auto offset = spans.try_allocate(span, kAlignment);
  if (!offset && release_retired(spans, first, 0)) offset = spans.try_allocate(span, kAlignment);
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
    if (checks != nullptr) checks->allocated(begin, bytes, span, place_of_call());
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
  if (checks != nullptr) checks->reused(first + offset, released->bytes);
  clear(first + offset, released->bytes, first + released->free_from, first + released->free_to);
}

std::size_t Memory::Impl::bytes_at(const SpanAllocator& spans, std::size_t first,
                                   std::uint64_t address) const noexcept {
  const std::uint64_t offset = address - layout.base;
  const std::size_t span = spans.bytes_at(offset - first);
  if (checks == nullptr || span == 0) return span;
  return checks->is_freed(offset) ? 0 : Checks::without_red_zone(span);
}

void Memory::Impl::retire(SpanAllocator& spans, std::size_t first, std::uint64_t address,
                          const char* what, Checks::Place place) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  const std::size_t bytes = checks == nullptr ? 0 : bytes_at(spans, first, address);
  if (bytes == 0) return release(spans, first, address, what);
  checks->freed(address - layout.base, bytes, place);
  Retired& retired = &spans == &alike ? retired_alike : retired_slice;
  retired.addresses.push_back(address);
  retired.bytes += bytes;
  (void)release_retired(spans, first, std::min(kMost, spans.total_bytes() / 8));
}

/// Frees the oldest spans first, so that every process does the same to the part that all allocate
/// alike.
bool Memory::Impl::release_retired(SpanAllocator& spans, std::size_t first,
                                   std::size_t most_bytes) {
  Retired& retired = &spans == &alike ? retired_alike : retired_slice;
  bool released = false;
  while (!retired.addresses.empty() && (most_bytes == 0 || retired.bytes > most_bytes)) {
    const std::uint64_t address = retired.addresses.front();
    retired.addresses.pop_front();
    retired.bytes -= Checks::without_red_zone(spans.bytes_at(address - layout.base - first));
    release(spans, first, address, "release_retired");
    released = true;
  }
  return released;
}

/// The place in the source of the call that this rank is in.
Checks::Place Memory::Impl::place_of_call() const noexcept {
  const auto file = reinterpret_cast<std::uint64_t>(call_place.file);
  if (file == 0) return {};
  return {reinterpret_cast<const char*>(threads ? file : shift.localize(file)), call_place.line};
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

/// Pages of kept chunks are present already; reserving them again would release them when there is
/// no memory for the rest.
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

std::uint64_t Memory::allocate_alike(std::size_t bytes) {
  return impl_->allocate(impl_->alike, impl_->layout.alike_at, bytes,
                         "the part of spread memory that all processes allocate alike");
}

void Memory::release_alike(std::uint64_t address) {
  impl_->retire(impl_->alike, impl_->layout.alike_at, address, "Memory::release_alike",
                impl_->place_of_call());
}

void Memory::cancel_alike(std::uint64_t address) {
  impl_->release(impl_->alike, impl_->layout.alike_at, address, "Memory::cancel_alike");
}

std::uint64_t Memory::allocate_own(std::size_t bytes) {
  return impl_->allocate(impl_->slice, impl_->own_slice(), bytes,
                         "this process' slice of spread memory");
}

std::size_t Memory::bytes_at(std::uint64_t address) const noexcept {
  const Impl& p = *impl_;
  if (const std::size_t bytes = p.bytes_at(p.alike, p.layout.alike_at, address); bytes != 0)
    return bytes;
  return p.bytes_at(p.slice, p.own_slice(), address);
}

std::size_t Memory::begin_release_own(std::uint64_t address) {
  Impl& p = *impl_;
  const std::size_t bytes = p.bytes_at(p.slice, p.own_slice(), address);
  return bytes != 0 && p.being_released.insert(address).second ? bytes : 0;
}

void Memory::release_own(std::uint64_t address) {
  impl_->being_released.erase(address);
  impl_->retire(impl_->slice, impl_->own_slice(), address, "Memory::release_own", {});
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
  if (at >= p.layout.region_bytes) return true;  // static data, whose pages are never freed
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
