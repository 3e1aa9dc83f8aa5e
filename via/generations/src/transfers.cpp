#include "via/generations/src/transfers.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "runtime/mappings.hpp"
#include "via/copy.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::via::generations {

// Buffers and regions.

const Arena* Staging::take() noexcept {
  if (free_.empty()) {
    if (all_.size() == kMost) return nullptr;
    try {
      all_.push_back(std::make_unique<Arena>(arenas_.make(kBufferBytes)));
      free_.reserve(all_.size());
      free_.push_back(all_.back().get());
    } catch (const std::exception&) {
      return nullptr;
    }
  }
  const Arena* const buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void Staging::give(const Arena* buffer) noexcept {
  if (buffer != nullptr) free_.push_back(buffer);  // room was reserved
}

std::uint32_t Regions::add(std::byte* address, std::size_t bytes) {
  // A device does not register read-only memory for writes.
  const bool writable =
      bytes == 0 || (is_page_writable(address) && is_page_writable(address + bytes - 1));
  all_.push_back(nic_.register_memory(
      tag_, address, bytes, writable ? Rights::rdma_write | Rights::rdma_read : Rights::rdma_read));
  return static_cast<std::uint32_t>(all_.back().handle());
}

void Regions::remove(std::uint32_t key) noexcept {
  std::erase_if(all_, [key](const MemoryRegion& region) {
    return static_cast<std::uint32_t>(region.handle()) == key;
  });
}

MemoryHandle Regions::find(const std::byte* address, std::size_t bytes) const noexcept {
  for (const MemoryRegion& region : all_) {
    const auto at = reinterpret_cast<std::uintptr_t>(address) -
                    reinterpret_cast<std::uintptr_t>(region.address());
    if (at <= region.bytes() && bytes <= region.bytes() - at) return region.handle();
  }
  return MemoryHandle::none;
}

std::byte* Regions::at(std::uint32_t key, std::uint64_t address, std::size_t bytes) const noexcept {
  for (const MemoryRegion& region : all_) {
    if (static_cast<std::uint32_t>(region.handle()) != key) continue;
    const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(region.address());
    if (offset > region.bytes() || bytes > region.bytes() - offset) return nullptr;
    return region.address() + offset;
  }
  return nullptr;
}

// Transfers.

Transfers::~Transfers() {
  while (done_ != begun_) {  // the VI has gone: nothing more is read or written
    staging_.give(records_[done_ % kTransferDepth].stage);
    ++done_;
  }
}

Transfers::Number Transfers::post(Vi& vi, const Range& range, Record&& record, MemoryHandle handle,
                                  std::byte* own) noexcept {
  Descriptor& descriptor = descriptors_[begun_ % kTransferDepth];
  const auto bytes = static_cast<std::uint32_t>(range.bytes);
  const auto key = static_cast<MemoryHandle>(range.key);
  if (record.reads)
    make_rdma_read(descriptor, own, bytes, handle, range.there, key);
  else
    make_rdma_write(descriptor, own, bytes, handle, range.there, key);
  if (vi.post_send(descriptor) != Status::ok) {
    staging_.give(record.stage);
    return 0;
  }
  records_[begun_ % kTransferDepth] = std::move(record);
  return ++begun_;
}

Transfers::Number Transfers::put(Vi& vi, const Range& range, bool copied) noexcept {
  if (!may_begin()) return 0;
  Record record;
  record.bytes = range.bytes;
  MemoryHandle handle = copied ? MemoryHandle::none : regions_.find(range.own, range.bytes);
  std::byte* own = range.own;
  if (handle == MemoryHandle::none) {
    record.stage = staging_.take();
    if (record.stage == nullptr) return 0;
    own = record.stage->memory();
    copy_bytes(own, range.own, range.bytes);
    handle = record.stage->handle();
  }
  const Number number = post(vi, range, std::move(record), handle, own);
  if (number != 0) last_put_ = range;
  return number;
}

Transfers::Number Transfers::get(Vi& vi, const Range& range) noexcept {
  if (!may_begin()) return 0;
  Record record;
  record.bytes = range.bytes;
  record.reads = true;
  MemoryHandle handle = regions_.find(range.own, range.bytes);
  std::byte* own = range.own;
  if (handle == MemoryHandle::none) {
    record.stage = staging_.take();
    if (record.stage == nullptr) return 0;
    record.own = range.own;
    own = record.stage->memory();
    handle = record.stage->handle();
  }
  const Number number = post(vi, range, std::move(record), handle, own);
  if (number != 0) last_read_ = number;
  return number;
}

void Transfers::completed() noexcept {
  Record& record = records_[done_ % kTransferDepth];
  const bool well = !descriptors_[done_ % kTransferDepth].failed();
  if (well && record.own != nullptr) copy_bytes(record.own, record.stage->memory(), record.bytes);
  staging_.give(std::exchange(record.stage, nullptr));
  ++done_;
  if (well && record.reads) settled_ = done_;
}

bool Transfers::is_done(Vi& vi, Number number) noexcept {
  if (settled_ >= number) return true;
  if (last_read_ >= number || !may_begin()) return false;
  // Reads some of the bytes that were put last, behind all puts.
  constexpr std::size_t kEnough = 8;
  Record record;
  record.bytes = std::min(last_put_.bytes, kEnough);
  record.reads = true;
  record.stage = staging_.take();
  if (record.stage == nullptr) return false;
  Range range = last_put_;
  range.bytes = record.bytes;
  const MemoryHandle handle = record.stage->handle();
  std::byte* const own = record.stage->memory();
  if (const Number read = post(vi, range, std::move(record), handle, own); read != 0)
    last_read_ = read;
  return false;
}

}  // namespace viaduct::via::generations
