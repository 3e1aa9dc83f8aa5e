#include <memory>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/faulty.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Descriptor;
using via::Reliability;
namespace status = via::descriptor_status;

enum class Remote : std::uint8_t { write, write_immediate, read, add, swap };
constexpr Remote kRemotes[] = {Remote::write, Remote::write_immediate, Remote::read, Remote::add,
                               Remote::swap};
const char* operation_name(Remote remote) noexcept {
  constexpr const char* kNames[] = {"RDMA write", "RDMA write with immediate", "RDMA read",
                                    "fetch-and-add", "compare-and-swap"};
  return kNames[static_cast<std::size_t>(remote)];
}
bool offered(const Rig& rig, Remote remote) {
  if (remote == Remote::read) return rig.limits().rdma_read;
  return (remote != Remote::add && remote != Remote::swap) || rig.limits().atomics;
}
via::Rights right_for(Remote remote) {
  if (remote == Remote::read) return via::Rights::rdma_read;
  return remote == Remote::add || remote == Remote::swap ? via::Rights::atomic
                                                         : via::Rights::rdma_write;
}

void make_remote(via::DescriptorWith<3>& d, Remote operation, const Buffer& local,
                 std::uint32_t bytes, const RemoteBuffer& at) {
  switch (operation) {
    case Remote::read:
      via::make_rdma_read(d, local.data(), bytes, local.handle(), at.address, at.handle);
      break;
    case Remote::add:
      via::make_fetch_add(d, local.data(), local.handle(), at.address, at.handle, 1);
      break;
    case Remote::swap:
      via::make_compare_swap(d, local.data(), local.handle(), at.address, at.handle,
                             0xEEEEEEEEEEEEEEEE, 1);
      break;
    default:
      via::make_rdma_write(d, local.data(), bytes, local.handle(), at.address, at.handle);
      if (operation == Remote::write_immediate) via::add_immediate(d, 9);
  }
}

/// The receive that @p operation would have used up, or that it leaves alone.
void expect_unused(const Descriptor& receive, Remote operation) {
  const auto bits = receive.control.status & status::error_mask;
  if (operation == Remote::write_immediate && bits == status::rdma_protection_error) return;
  expect_flushed(receive, CompletedOperation::receive);
}

// Rank 0 tries @p operation on memory of rank 1 that it must not touch.
void refused(Rig& rig, Remote operation, std::uint32_t bytes, Faulty& faulty) {
  Link link(rig, vi_attributes(4, offered_reliable_levels(rig)[0]));
  Buffer local(rig, 8192);
  via::DescriptorWith<3> d{};
  Descriptor receive{};
  connect(rig, link);
  if (!rig.first()) {
    via::make_list(receive, nullptr, 0);
    link.post_receive(receive);
  }
  const RemoteBuffer remote = rig.exchange("what rank 1 shows", faulty.view())[1];
  if (rig.first()) {
    local.fill(1);
    make_remote(d, operation, local, bytes, remote);
    link.post_send(d);
    link.expect_next_send(d);
    expect_failed(d, status::rdma_protection_error);
    local.expect(1, 0, local.bytes());
  }
  expect_broken(rig, link, rig.first());
  if (!rig.first()) {
    link.expect_next_receive(receive);
    expect_unused(receive, operation);
  }
  faulty.buffer().expect_clear(0, faulty.buffer().bytes());
  faulty.buffer().expect_guards();
  rig.sync("seen");
}

void remote_range(Rig& rig) {
  for (const Remote operation : kRemotes) {
    if (!offered(rig, operation)) continue;
    const bool atomic = right_for(operation) == via::Rights::atomic;
    for (const Fault fault : kFaults) {
      for (const std::uint32_t bytes : {8U, 64U, 4096U}) {
        if (atomic && (bytes != 8 || fault == Fault::before || fault == Fault::wraps))
          continue;  // not aligned
        Note note("{} of {} bytes, {}", operation_name(operation), bytes, fault_name(fault));
        Faulty faulty(rig, bytes, fault, via::Rights::all);
        refused(rig, operation, bytes, faulty);
      }
    }
  }
}

void remote_range_private(Rig& rig) {
  for (const Remote operation : {Remote::write, Remote::read}) {
    if (!offered(rig, operation)) continue;
    for (const Fault fault : kFaults) {
      Note note("{} of 3000 bytes, private memory, {}", operation_name(operation),
                fault_name(fault));
      Faulty faulty(rig, 3000, fault, right_for(operation), Memory::private_);
      refused(rig, operation, 3000, faulty);
    }
  }
}

void remote_rights(Rig& rig) {
  constexpr via::Rights kRights[] = {via::Rights::rdma_write, via::Rights::rdma_read,
                                     via::Rights::atomic};
  for (const Remote operation : kRemotes) {
    if (!offered(rig, operation)) continue;
    via::Rights others = via::Rights::none;
    for (const via::Rights right : kRights) {
      const bool known = right != via::Rights::atomic || rig.limits().atomics;
      if (right != right_for(operation) && known) others = others | right;
    }
    for (const via::Rights rights : {via::Rights::none, others}) {
      Note note("{} of a region with rights {}", operation_name(operation),
                static_cast<unsigned>(rights));
      Buffer region(rig, 64, Memory::shared, rights);
      Link link(rig, vi_attributes(4, offered_reliable_levels(rig)[0]));
      Buffer local(rig, 64);
      Descriptor receive{};
      connect(rig, link);
      if (!rig.first()) {
        via::make_list(receive, nullptr, 0);
        link.post_receive(receive);
      }
      const RemoteBuffer remote = rig.exchange("the target", remote_view(region))[1];
      if (rig.first()) {
        via::DescriptorWith<3> d{};
        local.fill(1);
        make_remote(d, operation, local, 8, remote);
        link.post_send(d);
        link.expect_next_send(d);
        expect_failed(d, status::rdma_protection_error);
        local.expect(1, 0, 64);
      }
      expect_broken(rig, link, rig.first());
      if (!rig.first()) {
        link.expect_next_receive(receive);
        expect_unused(receive, operation);
      }
      region.expect_clear(0, 64);
    }
  }
}

void remote_unreliable(Rig& rig) {
  if (!rig.limits().unreliable) rig.skip("no unreliable service");
  for (const Fault fault : kFaults) {
    Note note("{}", fault_name(fault));
    Faulty faulty(rig, 64, fault, via::Rights::all);
    Link link(rig, vi_attributes(4, Reliability::unreliable));
    Buffer local(rig, 64);
    connect(rig, link);
    const RemoteBuffer remote = rig.exchange("what rank 1 shows", faulty.view())[1];
    if (rig.first()) {
      via::DescriptorWith<3> d{};
      make_remote(d, Remote::write, local, 64, remote);
      link.post_send(d);
      link.expect_next_send(d);
      if (d.failed()) expect_failed(d, status::rdma_protection_error);
    }
    rig.sync("refused");
    rig.progress_for(kQuietNs / 4);
    faulty.buffer().expect_clear(0, 64);
    rig.forget_errors();
    expect_alive(rig, link);
  }
}

constexpr Case kCases[] = {
    {"protection.rdma_remote",
     "RDMA and atomics on memory that the peer's handle, the tag of the peer's VI or the range "
     "does not cover: RDMA "
     "protection error, nothing is moved, both VIs are broken. A receive that a write with "
     "immediate data would have used up is flushed, or has the same error",
     Party::pair, remote_range},
    {"protection.rdma_remote_private", "So it is with private memory", Party::pair,
     remote_range_private},
    {"protection.rights", "Each remote operation needs its own right", Party::pair, remote_rights},
    {"protection.rdma_unreliable", "On an unreliable VI nothing is moved and the VI lives on",
     Party::pair, remote_unreliable},
};

}  // namespace

std::span<const Case> remote_protection_cases() { return kCases; }

}  // namespace viaduct::conformance
