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

namespace viaduct::splitc::detail {

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
