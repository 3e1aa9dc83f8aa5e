#include <limits>
#include <memory>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Descriptor;
using via::MemoryHandle;
using via::Reliability;
using via::ViState;
namespace status = via::descriptor_status;

/// Ways in which a segment can name memory that it must not.
enum class Fault : std::uint8_t {
  no_handle,
  unknown_handle,
  other_tag,
  behind,
  before,
  beyond_end,
  wraps,
  stale
};
constexpr Fault kFaults[] = {Fault::no_handle, Fault::unknown_handle, Fault::other_tag,
                             Fault::behind,    Fault::before,         Fault::beyond_end,
                             Fault::wraps,     Fault::stale};

const char* fault_name(Fault fault) noexcept {
  switch (fault) {
    case Fault::no_handle:
      return "handle zero";
    case Fault::unknown_handle:
      return "a handle that was never given out";
    case Fault::other_tag:
      return "a region of another tag";
    case Fault::behind:
      return "an address behind the region";
    case Fault::before:
      return "an address before the region";
    case Fault::beyond_end:
      return "a length beyond the region's end";
    case Fault::wraps:
      return "a range that wraps round";
    case Fault::stale:
      return "a deregistered region";
  }
  return "?";
}

/// A buffer, and the address and handle that are wrong in one way.
class Faulty {
 public:
  Faulty(Rig& rig, std::uint32_t bytes, Fault fault, via::Rights rights,
         Memory memory = Memory::shared)
      : nic_(rig.nic()),
        tag_(fault == Fault::other_tag ? rig.nic().create_tag() : rig.tag()),
        own_tag_(fault == Fault::other_tag),
        buffer_(std::make_unique<Buffer>(rig, bytes, memory, rights, tag_)),
        view_(remote_view(*buffer_)) {
    if (fault == Fault::no_handle) view_.handle = MemoryHandle::none;
    if (fault == Fault::unknown_handle) view_.handle = static_cast<MemoryHandle>(0x7ffffff3);
    if (fault == Fault::behind) view_.address += bytes;
    if (fault == Fault::before) view_.address -= 1;
    if (fault == Fault::beyond_end) view_.address += 8;
    if (fault == Fault::wraps)
      view_.address = std::numeric_limits<std::uint64_t>::max() - bytes / 2 + 1;
    if (fault == Fault::stale) {
      buffer_->deregister();
      // Its place in a table may be taken by now, for the same memory.
      again_ = rig.nic().register_memory(tag_, buffer_->data(), bytes, rights);
    }
  }
  ~Faulty() {
    again_ = via::MemoryRegion{};
    buffer_.reset();
    if (own_tag_) nic_.destroy_tag(tag_);
  }
  Faulty(const Faulty&) = delete;
  Faulty& operator=(const Faulty&) = delete;

  [[nodiscard]] Buffer& buffer() noexcept { return *buffer_; }
  [[nodiscard]] const RemoteBuffer& view() const noexcept { return view_; }
  [[nodiscard]] std::byte* local() const noexcept {
    return reinterpret_cast<std::byte*>(view_.address);
  }

 private:
  via::Nic& nic_;
  via::ProtectionTag tag_;
  bool own_tag_;
  std::unique_ptr<Buffer> buffer_;
  via::MemoryRegion again_;
  RemoteBuffer view_;
};

// Both VIs of a reliable connection are broken; the end that found the fault reports it.
void expect_broken(Rig& rig, Link& link, bool reporter) {
  if (reporter) rig.expect_error(via::ErrorCause::protection, link.vi());
  rig.expect_state(link.vi(), ViState::error);
  rig.sync("both in the error state");
  rig.forget_errors();
}

void send_from(Rig& rig, Reliability level, Fault fault, std::uint32_t bytes) {
  Note note("{}, {} bytes, {}", name_of(level), bytes, fault_name(fault));
  Faulty source(rig, bytes, fault, via::Rights::none);
  Buffer in(rig, bytes);
  Descriptor receive{};
  Descriptor send{};
  Link link(rig, vi_attributes(4, level));
  connect(rig, link);
  via::make_receive(receive, in.data(), bytes, in.handle());
  link.post_receive(receive);
  rig.sync("a receive is posted");
  if (rig.first()) {
    source.buffer().fill(1);
    via::make_send(send, source.local(), bytes, source.view().handle);
    link.post_send(send);
    link.expect_next_send(send);
    expect_failed(send, status::protection_error);
    CHECK_EQ(send.completed_operation(), CompletedOperation::send);
  }
  if (level == Reliability::unreliable) {
    rig.sync("refused");
    CHECK_EQ(link.vi().state(), ViState::connected);
    rig.forget_errors();
    return;
  }
  expect_broken(rig, link, rig.first());
  link.expect_next_receive(receive);
  expect_flushed(receive, CompletedOperation::receive);
  in.expect_clear(0, bytes);
}

void local_send(Rig& rig) {
  const std::uint32_t small =
      rig.limits().inline_bytes + 1;  // inline sends are copied from anywhere
  for (const Reliability level : offered_levels(rig)) {
    for (const Fault fault : kFaults) {
      send_from(rig, level, fault, small);
      send_from(rig, level, fault, 5000);
    }
  }
}

void receive_into(Rig& rig, Reliability level, Fault fault, std::uint32_t bytes) {
  Note note("{}, {} bytes, {}", name_of(level), bytes, fault_name(fault));
  Link link(rig, vi_attributes(4, level));
  Buffer out(rig, bytes);
  Faulty target(rig, bytes, fault, via::Rights::none);
  Descriptor receive{};
  Descriptor send{};
  connect(rig, link);
  rig.sync("connected");
  if (!rig.first()) {
    via::make_receive(receive, target.local(), bytes, target.view().handle);
    link.post_receive(receive);
  }
  rig.sync("a receive is posted");
  if (rig.first()) {
    via::make_send(send, out.data(), bytes, out.handle());
    link.post_send(send);
    link.expect_next_send(send);
    if (send.failed()) {
      expect_failed(send, status::remote_descriptor_error | status::flushed);
    } else {
      CHECK(level != Reliability::reception);
    }
  } else {
    link.expect_next_receive(receive);
    expect_failed(receive, status::protection_error);
    CHECK_EQ(receive.completed_operation(), CompletedOperation::receive);
    target.buffer().expect_clear(0, bytes);
    target.buffer().expect_guards();
  }
  expect_broken(rig, link, !rig.first());
}

void local_receive(Rig& rig) {
  for (const Reliability level : offered_reliable_levels(rig)) {
    for (const Fault fault : kFaults) {
      receive_into(rig, level, fault, 24);
      receive_into(rig, level, fault, 5000);
    }
  }
}

void receive_in_turn(Rig& rig) {
  // A bad receive fails when its turn comes: the one before it takes a message, the one behind it
  // is flushed.
  for (const Reliability level : offered_levels(rig)) {
    for (const std::uint32_t bytes : {24U, 5000U}) {
      Note note("{}, {} bytes", name_of(level), bytes);
      Buffer good(rig, 3 * std::size_t{bytes});
      Faulty bad(rig, bytes, Fault::no_handle, via::Rights::none);
      std::vector<Descriptor> receives(3);
      std::vector<Descriptor> sends(3);
      Link link(rig, vi_attributes(4, level));
      connect(rig, link);
      if (!rig.first()) {
        via::make_receive(receives[0], good.data(), bytes, good.handle());
        via::make_receive(receives[1], bad.local(), bytes, bad.view().handle);
        via::make_receive(receives[2], good.data() + bytes, bytes, good.handle());
        for (Descriptor& d : receives) link.post_receive(d);
      }
      rig.sync("receives are posted");
      if (rig.first()) {
        for (std::uint32_t i = 0; i < 3; ++i) {
          fill_pattern(good.data() + i * bytes, bytes, i);
          via::make_send(sends[i], good.data() + i * bytes, bytes, good.handle());
          link.post_send(sends[i]);
        }
        for (const Descriptor& d : sends) link.expect_next_send(d);
        expect_done(sends[0], CompletedOperation::send, bytes);
      } else {
        link.expect_next_receive(receives[0]);
        expect_done(receives[0], CompletedOperation::receive, bytes);
        good.expect(0, 0, bytes);
        link.expect_next_receive(receives[1]);
        expect_failed(receives[1], status::protection_error);
        link.expect_next_receive(receives[2]);
        if (level == Reliability::unreliable) {
          expect_done(receives[2], CompletedOperation::receive, bytes);
          good.expect(2, bytes, bytes);
        } else {
          expect_flushed(receives[2], CompletedOperation::receive);
        }
        bad.buffer().expect_clear(0, bytes);
      }
      if (level == Reliability::unreliable) {
        rig.sync("seen");
        CHECK_EQ(link.vi().state(), ViState::connected);
        rig.forget_errors();
      } else {
        expect_broken(rig, link, !rig.first());
      }
    }
  }
}

void local_rdma(Rig& rig) {
  Buffer target(rig, 5000, Memory::shared, via::Rights::all);
  const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[index(rig.other())];
  for (const Fault fault : kFaults) {
    for (const bool read : {false, true}) {
      if (read && !rig.limits().rdma_read) continue;
      Note note("{} of 3000 bytes, {}", read ? "read" : "write", fault_name(fault));
      Link link(rig, vi_attributes(4, offered_reliable_levels(rig)[0]));
      Faulty local(rig, 3000, fault, via::Rights::none);
      Descriptor d{};
      target.clear();
      connect(rig, link);
      rig.sync("connected");
      if (rig.first()) {
        if (read) {
          via::make_rdma_read(d, local.local(), 3000, local.view().handle, remote.address,
                              remote.handle);
        } else {
          via::make_rdma_write(d, local.local(), 3000, local.view().handle, remote.address,
                               remote.handle);
        }
        link.post_send(d);
        link.expect_next_send(d);
        expect_failed(d, status::protection_error);
        local.buffer().expect_clear(0, 3000);
        local.buffer().expect_guards();
      }
      expect_broken(rig, link, rig.first());
      target.expect_clear(0, target.bytes());
    }
  }
}

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
    expect_flushed(receive, CompletedOperation::receive);
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
      connect(rig, link);
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

void tags_are_local(Rig& rig) {
  // The two ends of a connection have tags of their own.
  const via::ProtectionTag tag = rig.first() ? rig.nic().create_tag() : rig.tag();
  {
    via::ViAttributes attributes = vi_attributes(4);
    attributes.tag = tag;
    Link link(rig, attributes);
    Buffer out(rig, 1000, Memory::shared, via::Rights::none, tag);
    Buffer target(rig, 1000, Memory::shared, via::Rights::all, tag);
    connect(rig, link);
    const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[index(rig.other())];
    Descriptor d{};
    out.fill(rig.rank());
    via::make_rdma_write(d, out.data(), 1000, out.handle(), remote.address, remote.handle);
    link.post_send(d);
    expect_done(link.next_send(), CompletedOperation::rdma_write, 1000);
    rig.sync("both have written");
    target.expect(1 - rig.rank(), 0, 1000);
    rig.sync("seen");
  }
  if (rig.first()) rig.nic().destroy_tag(tag);
}

constexpr Case kCases[] = {
    {"protection.send",
     "A send from memory that its handle, tag or range does not cover: protection error, nothing "
     "is sent, reliable VIs "
     "are broken, unreliable ones live on",
     Party::pair, local_send},
    {"protection.receive",
     "A receive into such memory: protection error when a message comes for it, nothing is written",
     Party::pair, local_receive},
    {"protection.receive_in_turn",
     "Such a receive fails in its turn: earlier receives take their messages, later ones are "
     "flushed, or on an "
     "unreliable VI live on",
     Party::pair, receive_in_turn},
    {"protection.rdma_local",
     "RDMA from or into such local memory: protection error, nothing is moved", Party::pair,
     local_rdma},
    {"protection.rdma_remote",
     "RDMA and atomics on memory that the peer's handle, the tag of the peer's VI or the range "
     "does not cover: RDMA "
     "protection error, nothing is moved, both VIs are broken",
     Party::pair, remote_range},
    {"protection.rdma_remote_private", "So it is with private memory", Party::pair,
     remote_range_private},
    {"protection.rights", "Each remote operation needs its own right", Party::pair, remote_rights},
    {"protection.rdma_unreliable", "On an unreliable VI nothing is moved and the VI lives on",
     Party::pair, remote_unreliable},
    {"protection.tags_are_local", "The tags of the two ends need not be equal", Party::pair,
     tags_are_local},
};

}  // namespace

std::span<const Case> protection_cases() { return kCases; }

}  // namespace viaduct::conformance
