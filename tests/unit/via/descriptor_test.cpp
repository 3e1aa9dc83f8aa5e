// The binary layout that VIPL programs rely on, and the fillers.

#include "viaduct/via/descriptor.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace viaduct::via {
namespace {

// VIPL: Next 8, NextHandle 4, SegCount 2, Control 2, Reserved 4, ImmediateData 4, Length 4,
// Status 4.
static_assert(sizeof(ControlSegment) == 32);
static_assert(offsetof(ControlSegment, next) == 0 && sizeof(ControlSegment::next) == 8);
static_assert(offsetof(ControlSegment, next_handle) == 8 &&
              sizeof(ControlSegment::next_handle) == 4);
static_assert(offsetof(ControlSegment, segment_count) == 12 &&
              sizeof(ControlSegment::segment_count) == 2);
static_assert(offsetof(ControlSegment, control) == 14 && sizeof(ControlSegment::control) == 2);
static_assert(offsetof(ControlSegment, immediate_high) == 16 &&
              sizeof(ControlSegment::immediate_high) == 4);
static_assert(offsetof(ControlSegment, immediate_low) == 20 &&
              sizeof(ControlSegment::immediate_low) == 4);
static_assert(offsetof(ControlSegment, length) == 24 && sizeof(ControlSegment::length) == 4);
static_assert(offsetof(ControlSegment, status) == 28 && sizeof(ControlSegment::status) == 4);

// Data segments: Remote {Data 8, Handle 4, Reserved 4}, Local {Data 8, Handle 4, Length 4}.
static_assert(sizeof(DataSegment) == 16 && sizeof(LocalSegment) == 16 &&
              sizeof(AddressSegment) == 16 && sizeof(OperandSegment) == 16);
static_assert(offsetof(LocalSegment, address) == 0 && offsetof(LocalSegment, handle) == 8 &&
              offsetof(LocalSegment, length) == 12);
static_assert(offsetof(AddressSegment, address) == 0 && offsetof(AddressSegment, handle) == 8 &&
              offsetof(AddressSegment, reserved) == 12);
static_assert(sizeof(MemoryHandle) == 4);

static_assert(sizeof(Descriptor) == 64 && alignof(Descriptor) == 64);
static_assert(offsetof(Descriptor, control) == 0 && offsetof(Descriptor, segment) == 32);
static_assert(std::is_trivially_copyable_v<Descriptor> &&
              std::is_trivially_copyable_v<DescriptorWith<18>>);
static_assert(sizeof(DescriptorWith<3>) == 128 && sizeof(DescriptorWith<18>) == 64 + 16 * 16);

// Control bits, status bits, operation numbers, service levels, states.
static_assert(control_bits::operation_mask == 3 && control_bits::immediate == 4 &&
              control_bits::queue_fence == 8);
static_assert(static_cast<int>(Operation::send) == 0 &&
              static_cast<int>(Operation::rdma_write) == 1 &&
              static_cast<int>(Operation::rdma_read) == 2);
static_assert(descriptor_status::done == 0x1 && descriptor_status::format_error == 0x2 &&
              descriptor_status::protection_error == 0x4 &&
              descriptor_status::length_error == 0x8 && descriptor_status::partial_error == 0x10 &&
              descriptor_status::flushed == 0x20 && descriptor_status::transport_error == 0x40 &&
              descriptor_status::rdma_protection_error == 0x80 &&
              descriptor_status::remote_descriptor_error == 0x100);
static_assert(descriptor_status::error_mask == 0x1FE &&
              descriptor_status::operation_mask == 0x70000 &&
              descriptor_status::operation_shift == 16 &&
              descriptor_status::immediate_present == 0x80000);
static_assert(static_cast<int>(CompletedOperation::send) == 0 &&
              static_cast<int>(CompletedOperation::receive) == 1 &&
              static_cast<int>(CompletedOperation::rdma_write) == 2 &&
              static_cast<int>(CompletedOperation::remote_rdma_write) == 3 &&
              static_cast<int>(CompletedOperation::rdma_read) == 4);
static_assert(static_cast<int>(Reliability::unreliable) == 1 &&
              static_cast<int>(Reliability::delivery) == 2 &&
              static_cast<int>(Reliability::reception) == 4);
static_assert(static_cast<int>(ViState::idle) == 0 && static_cast<int>(ViState::connected) == 1 &&
              static_cast<int>(ViState::connecting) == 2 && static_cast<int>(ViState::error) == 3);

constexpr auto kHandle = static_cast<MemoryHandle>(0x11223344);
constexpr auto kRemote = static_cast<MemoryHandle>(0x55667788);

/// A descriptor as an earlier use may have left it.
template <class D>
D used() {
  D d;
  std::memset(static_cast<void*>(&d), 0xA7, sizeof d);
  return d;
}

void expect_fresh(const Descriptor& d) {
  EXPECT_EQ(d.control.next, nullptr);
  EXPECT_EQ(d.control.next_handle, 0U);
  EXPECT_EQ(d.control.status, 0U);
  EXPECT_FALSE(d.is_done());
  EXPECT_FALSE(d.failed());
  EXPECT_FALSE(d.has_immediate());
}

TEST(Descriptor, SegmentsFollowInMemory) {
  DescriptorWith<18> d{};
  const auto* const base = reinterpret_cast<const std::byte*>(&d);
  for (std::size_t i = 0; i < 18; ++i) {
    EXPECT_EQ(reinterpret_cast<const std::byte*>(d.segments() + i), base + 32 + 16 * i)
        << "segment " << i;
  }
  EXPECT_EQ(reinterpret_cast<const std::byte*>(&d.more[0]), base + 64);
}

TEST(Descriptor, Send) {
  auto d = used<Descriptor>();
  std::byte data[10];
  make_send(d, data, 10, kHandle);
  expect_fresh(d);
  EXPECT_EQ(d.control.control, 0U);
  EXPECT_EQ(d.control.segment_count, 1U);
  EXPECT_EQ(d.control.length, 10U);
  EXPECT_EQ(d.immediate(), 0U);
  EXPECT_EQ(d.segments()[0].local.address, data);
  EXPECT_EQ(d.segments()[0].local.handle, kHandle);
  EXPECT_EQ(d.segments()[0].local.length, 10U);
}

TEST(Descriptor, Receive) {
  auto d = used<Descriptor>();
  std::byte data[10];
  make_receive(d, data, 10, kHandle);
  expect_fresh(d);
  EXPECT_EQ(d.control.control, 0U);
  EXPECT_EQ(d.control.segment_count, 1U);
  EXPECT_EQ(d.segments()[0].local.address, data);
  EXPECT_EQ(d.segments()[0].local.length, 10U);
}

TEST(Descriptor, RdmaWriteAndRead) {
  std::byte data[10];
  for (const bool read : {false, true}) {
    auto d = used<Descriptor>();
    if (read) {
      make_rdma_read(d, data, 10, kHandle, 0x123456789abcdef0, kRemote);
    } else {
      make_rdma_write(d, data, 10, kHandle, 0x123456789abcdef0, kRemote);
    }
    expect_fresh(d);
    EXPECT_EQ(d.control.control, read ? 2U : 1U);
    EXPECT_EQ(d.control.segment_count, 2U);
    EXPECT_EQ(d.control.length, 10U);
    EXPECT_EQ(d.segments()[0].remote.address, 0x123456789abcdef0U);
    EXPECT_EQ(d.segments()[0].remote.handle, kRemote);
    EXPECT_EQ(d.segments()[1].local.address, data);
    EXPECT_EQ(d.segments()[1].local.handle, kHandle);
    EXPECT_EQ(d.segments()[1].local.length, 10U);
  }
}

TEST(Descriptor, Atomics) {
  std::byte old[8];
  auto add = used<DescriptorWith<3>>();
  make_fetch_add(add, old, kHandle, 64, kRemote, 5);
  expect_fresh(add);
  EXPECT_EQ(add.control.control, 3U | control_bits::atomic_add);
  EXPECT_EQ(add.control.segment_count, 3U);
  EXPECT_EQ(add.control.length, 8U);
  EXPECT_EQ(add.segments()[0].remote.address, 64U);
  EXPECT_EQ(add.segments()[0].remote.handle, kRemote);
  EXPECT_EQ(add.segments()[1].operands.operand, 5U);
  EXPECT_EQ(add.more[0].local.address, old);
  EXPECT_EQ(add.more[0].local.handle, kHandle);
  EXPECT_EQ(add.more[0].local.length, 8U);

  auto swap = used<DescriptorWith<3>>();
  make_compare_swap(swap, old, kHandle, 64, kRemote, 7, 9);
  expect_fresh(swap);
  EXPECT_EQ(swap.control.control, 3U);
  EXPECT_EQ(swap.segments()[1].operands.operand, 7U);
  EXPECT_EQ(swap.segments()[1].operands.desired, 9U);
}

TEST(Descriptor, Lists) {
  std::byte data[100];
  LocalSegment list[16];
  std::uint32_t total = 0;
  for (std::uint32_t i = 0; i < 16; ++i) {
    list[i] = {data + i, kHandle, i};
    total += i;
  }
  for (std::uint16_t count = 0; count <= 16; ++count) {
    auto d = used<DescriptorWith<18>>();
    make_list(d, list, count);
    expect_fresh(d);
    EXPECT_EQ(d.control.segment_count, count);
    EXPECT_EQ(d.control.length, static_cast<std::uint32_t>(count * (count - 1) / 2));
    for (std::uint16_t i = 0; i < count; ++i) {
      EXPECT_EQ(d.segments()[i].local.address, data + i);
      EXPECT_EQ(d.segments()[i].local.length, i);
    }
  }
  EXPECT_EQ(total, 120U);
}

TEST(Descriptor, Immediate) {
  auto d = used<Descriptor>();
  make_send(d, nullptr, 0, MemoryHandle::none);
  add_immediate(d, 0x0123456789abcdef);
  EXPECT_EQ(d.control.control, control_bits::immediate);
  EXPECT_EQ(d.control.immediate_low, 0x89abcdefU);
  EXPECT_EQ(d.control.immediate_high, 0x01234567U);
  EXPECT_EQ(d.immediate(), 0x0123456789abcdefU);
  // Making it anew takes the value away.
  make_send(d, nullptr, 0, MemoryHandle::none);
  EXPECT_EQ(d.control.control, 0U);
  EXPECT_EQ(d.immediate(), 0U);
}

TEST(Descriptor, Status) {
  Descriptor d{};
  d.control.status = descriptor_status::done | 0x30000 | descriptor_status::immediate_present;
  EXPECT_TRUE(d.is_done());
  EXPECT_FALSE(d.failed());
  EXPECT_TRUE(d.has_immediate());
  EXPECT_EQ(d.completed_operation(), CompletedOperation::remote_rdma_write);
  for (std::uint32_t bit = 0x2; bit <= 0x100; bit <<= 1) {
    d.control.status = descriptor_status::done | bit;
    EXPECT_TRUE(d.failed()) << bit;
  }
}

TEST(Rights, Inclusion) {
  EXPECT_TRUE(includes(Rights::all, Rights::atomic));
  EXPECT_TRUE(includes(Rights::rdma_write | Rights::rdma_read, Rights::rdma_read));
  EXPECT_TRUE(includes(Rights::none, Rights::none));
  EXPECT_FALSE(includes(Rights::rdma_write, Rights::rdma_read));
  EXPECT_FALSE(includes(Rights::rdma_write, Rights::all));
}

TEST(Names, AreDistinctSentences) {
  for (const auto cause :
       {ErrorCause::none, ErrorCause::connection_lost, ErrorCause::disconnected,
        ErrorCause::receive_queue_empty, ErrorCause::length, ErrorCause::protection,
        ErrorCause::queue_overrun, ErrorCause::format, ErrorCause::transport,
        ErrorCause::rdma_write_refused, ErrorCause::rdma_read_refused}) {
    for (const auto other : {ErrorCause::none, ErrorCause::length, ErrorCause::transport}) {
      EXPECT_EQ(cause == other, std::strcmp(to_string(cause), to_string(other)) == 0);
    }
    EXPECT_GT(std::strlen(to_string(cause)), 2U);
  }
  EXPECT_STRNE(to_string(ViState::idle), to_string(ViState::connected));
  EXPECT_STRNE(to_string(ConnectResult::rejected), to_string(ConnectResult::mismatch));
}

}  // namespace
}  // namespace viaduct::via
