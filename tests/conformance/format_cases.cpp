#include <sys/mman.h>
#include <functional>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"
#include "tests/conformance/lists.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::ViState;
namespace status = via::descriptor_status;
namespace control = via::control_bits;

using Spoil = std::function<void(AnyDescriptor&, const Buffer&, const RemoteBuffer&)>;

// Rank 0 posts one malformed send or RDMA descriptor.
void malformed_send(Rig& rig, const char* what, std::uint32_t wanted, const Spoil& spoil) {
  Note note("{}", what);
  Link link(rig, vi_attributes(8, offered_reliable_levels(rig)[0]));
  Buffer buffer(rig, 4096, Memory::shared, via::Rights::all);
  connect(rig, link);
  const RemoteBuffer remote = rig.exchange("the target", remote_view(buffer))[index(rig.other())];
  AnyDescriptor receive{};
  via::make_receive(receive, buffer.data(), 4096, buffer.handle());
  link.post_receive(receive);
  rig.sync("receives are posted");
  if (rig.first()) {
    AnyDescriptor bad{};
    AnyDescriptor good{};
    spoil(bad, buffer, remote);
    via::make_send(good, buffer.data(), 100, buffer.handle());
    link.post_send(bad);
    link.post_send(good);
    link.expect_next_send(bad);
    expect_failed(bad, wanted);
    link.expect_next_send(good);
    expect_flushed(good, CompletedOperation::send);
    rig.expect_error(
        wanted == status::length_error ? via::ErrorCause::length : via::ErrorCause::format,
        link.vi());
  }
  rig.expect_state(link.vi(), ViState::error);
  link.expect_next_receive(receive);
  expect_flushed(receive, CompletedOperation::receive);
  buffer.expect_clear(0, 4096);
  rig.sync("both in the error state");
  rig.forget_errors();
}

void many_segments(AnyDescriptor& d, const Buffer& buffer, std::uint16_t count) {
  std::vector<via::LocalSegment> list(count, buffer.segment(0, 4));
  via::make_list(d, list.data(), count);
}

void malformed(Rig& rig) {
  const auto most = static_cast<std::uint16_t>(rig.limits().max_segments);
  malformed_send(rig, "one segment too many", status::format_error,
                 [&](AnyDescriptor& d, const Buffer& b, const RemoteBuffer&) {
                   many_segments(d, b, static_cast<std::uint16_t>(most + 1));
                 });
  malformed_send(rig, "60000 segments", status::format_error,
                 [&](AnyDescriptor& d, const Buffer& b, const RemoteBuffer&) {
                   many_segments(d, b, most);
                   d.control.segment_count = 60000;
                 });
  malformed_send(rig, "a control bit that has no meaning", status::format_error,
                 [](AnyDescriptor& d, const Buffer& b, const RemoteBuffer&) {
                   via::make_send(d, b.data(), 20, b.handle());
                   d.control.control |= 0x4000;
                 });
  malformed_send(rig, "an RDMA write without an address segment", status::format_error,
                 [](AnyDescriptor& d, const Buffer&, const RemoteBuffer&) {
                   via::make_list(d, nullptr, 0);
                   d.control.control = static_cast<std::uint16_t>(via::Operation::rdma_write);
                 });
  malformed_send(rig, "an RDMA write with one data segment too many", status::format_error,
                 [&](AnyDescriptor& d, const Buffer& b, const RemoteBuffer& remote) {
                   many_segments(d, b, static_cast<std::uint16_t>(most + 1));
                   d.control.control = static_cast<std::uint16_t>(via::Operation::rdma_write);
                   d.control.segment_count = static_cast<std::uint16_t>(most + 2);
                   d.segments()[0].remote = {remote.address, remote.handle, 0};
                 });
}

void wrong_length(Rig& rig) {
  // The length of the control segment is the sum of the segments' lengths.
  for (const std::uint32_t claimed : {99U, 101U, 0U, 0xffffffffU}) {
    malformed_send(rig, "a length that is not the segments' sum",
                   status::format_error | status::length_error,
                   [&](AnyDescriptor& d, const Buffer& b, const RemoteBuffer&) {
                     via::make_send(d, b.data(), 100, b.handle());
                     d.control.length = claimed;
                   });
  }
}

void malformed_atomics(Rig& rig) {
  if (!rig.limits().atomics) rig.skip("no atomic operations");
  const auto swap = [](AnyDescriptor& d, const Buffer& b, const RemoteBuffer& remote) {
    via::DescriptorWith<3> small{};
    via::make_compare_swap(small, b.data(), b.handle(), remote.address, remote.handle, 0, 1);
    d.control = small.control;
    d.segment[0] = small.segment[0];
    d.segment[1] = small.segment[1];
    d.more[0] = small.more[0];
  };
  malformed_send(rig, "an atomic operation without local memory", status::format_error,
                 [&](AnyDescriptor& d, const Buffer& b, const RemoteBuffer& remote) {
                   swap(d, b, remote);
                   d.control.segment_count = 2;
                 });
  malformed_send(rig, "an atomic operation of 4 bytes", status::format_error | status::length_error,
                 [&](AnyDescriptor& d, const Buffer& b, const RemoteBuffer& remote) {
                   swap(d, b, remote);
                   d.more[0].local.length = 4;
                   d.control.length = 4;
                 });
}

void malformed_receive(Rig& rig) {
  Link link(rig, vi_attributes(8, offered_reliable_levels(rig)[0]));
  Buffer buffer(rig, 4096);
  connect(rig, link);
  AnyDescriptor bad{};
  AnyDescriptor send{};
  if (!rig.first()) {
    many_segments(bad, buffer, static_cast<std::uint16_t>(rig.limits().max_segments + 1));
    link.post_receive(bad);
  }
  rig.sync("a receive is posted");
  if (rig.first()) {
    via::make_send(send, buffer.data(), 10, buffer.handle());
    link.post_send(send);
  } else {
    link.expect_next_receive(bad);
    expect_failed(bad, status::format_error);
    rig.expect_error(via::ErrorCause::format, link.vi());
  }
  rig.expect_state(link.vi(), ViState::error);
  if (rig.first()) link.expect_next_send(send);
  rig.sync("both in the error state");
  rig.forget_errors();
}

void beyond_transfer_limit(Rig& rig) {
  // Segments may overlap, so that a long message needs little memory; pages that nobody touches
  // need none.
  const std::uint64_t limit = rig.limits().max_transfer_bytes;
  const std::uint64_t most = rig.limits().max_segments;
  const std::uint64_t each = limit / most + 1;
  if (each * most > 0xffffffff) rig.skip("a length that is too long cannot be written down");
  void* const pages =
      mmap(nullptr, each, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  {
    auto* const data = static_cast<std::byte*>(pages);
    const via::MemoryRegion region =
        rig.nic().register_memory(rig.tag(), data, each, via::Rights::none);
    Link link(rig, vi_attributes(8, offered_reliable_levels(rig)[0]));
    connect(rig, link);
    if (rig.first()) {
      AnyDescriptor d{};
      const std::vector<via::LocalSegment> list(
          most, via::LocalSegment{data, region.handle(), static_cast<std::uint32_t>(each)});
      via::make_list(d, list.data(), static_cast<std::uint16_t>(most));
      link.post_send(d);
      link.expect_next_send(d);
      expect_failed(d, status::length_error | status::format_error);
    }
    rig.expect_state(link.vi(), ViState::error);
    rig.sync("both in the error state");
  }
  munmap(pages, each);
  rig.forget_errors();
}

constexpr Case kCases[] = {
    {"format.send",
     "Too many segments, unknown control bits, a missing address: format error, both VIs are "
     "broken",
     Party::pair, malformed},
    {"format.length", "A length that differs from the sum of the segments is an error", Party::pair,
     wrong_length},
    {"format.atomics", "An atomic operation needs 8 local bytes", Party::pair, malformed_atomics},
    {"format.receive", "A malformed receive completes with a format error, no message goes into it",
     Party::pair, malformed_receive},
    {"format.max_transfer", "A message longer than max_transfer_bytes is an error", Party::pair,
     beyond_transfer_limit},
};

}  // namespace

std::span<const Case> format_cases() { return kCases; }

}  // namespace viaduct::conformance
