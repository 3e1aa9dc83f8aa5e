#include "viaduct/via/descriptor.hpp"

namespace viaduct::via {

namespace {
void reset(Descriptor& d, std::uint16_t segments, std::uint16_t control,
           std::uint32_t length) noexcept {
  d.control = ControlSegment{nullptr, 0, segments, control, 0, 0, length, 0};
}

void make_atomic(DescriptorWith<3>& d, std::uint16_t flags, std::byte* old_value,
                 MemoryHandle handle, std::uint64_t remote_address, MemoryHandle remote_handle,
                 const OperandSegment& operands) noexcept {
  reset(d, 3, static_cast<std::uint16_t>(3U | flags), 8);
  d.segments()[0].remote = AddressSegment{remote_address, remote_handle, 0};
  d.segments()[1].operands = operands;
  d.more[0].local = LocalSegment{old_value, handle, 8};
}
}  // namespace

void make_send(Descriptor& d, std::byte* from, std::uint32_t bytes, MemoryHandle handle) noexcept {
  reset(d, 1, static_cast<std::uint16_t>(Operation::send), bytes);
  d.segments()[0].local = LocalSegment{from, handle, bytes};
}

void make_receive(Descriptor& d, std::byte* into, std::uint32_t bytes,
                  MemoryHandle handle) noexcept {
  make_send(d, into, bytes, handle);
}

void make_rdma_write(Descriptor& d, std::byte* from, std::uint32_t bytes, MemoryHandle handle,
                     std::uint64_t remote_address, MemoryHandle remote_handle) noexcept {
  reset(d, 2, static_cast<std::uint16_t>(Operation::rdma_write), bytes);
  d.segments()[0].remote = AddressSegment{remote_address, remote_handle, 0};
  d.segments()[1].local = LocalSegment{from, handle, bytes};
}

void make_rdma_read(Descriptor& d, std::byte* into, std::uint32_t bytes, MemoryHandle handle,
                    std::uint64_t remote_address, MemoryHandle remote_handle) noexcept {
  make_rdma_write(d, into, bytes, handle, remote_address, remote_handle);
  d.control.control = static_cast<std::uint16_t>(Operation::rdma_read);
}

void make_fetch_add(DescriptorWith<3>& d, std::byte* old_value, MemoryHandle handle,
                    std::uint64_t remote_address, MemoryHandle remote_handle,
                    std::uint64_t addend) noexcept {
  make_atomic(d, control_bits::atomic_add, old_value, handle, remote_address, remote_handle,
              {addend, 0});
}

void make_compare_swap(DescriptorWith<3>& d, std::byte* old_value, MemoryHandle handle,
                       std::uint64_t remote_address, MemoryHandle remote_handle,
                       std::uint64_t expected, std::uint64_t desired) noexcept {
  make_atomic(d, 0, old_value, handle, remote_address, remote_handle, {expected, desired});
}

void make_list(Descriptor& d, const LocalSegment* list, std::uint16_t count) noexcept {
  std::uint32_t total = 0;
  for (std::uint16_t i = 0; i < count; ++i) {
    d.segments()[i].local = list[i];
    total += list[i].length;
  }
  reset(d, count, static_cast<std::uint16_t>(Operation::send), total);
}

void add_immediate(Descriptor& d, std::uint64_t value) noexcept {
  d.control.control |= control_bits::immediate;
  d.control.immediate_low = static_cast<std::uint32_t>(value);
  d.control.immediate_high = static_cast<std::uint32_t>(value >> 32);
}

}  // namespace viaduct::via
