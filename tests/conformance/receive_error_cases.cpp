#include <memory>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Descriptor;
using via::Reliability;
using via::ViState;
namespace status = via::descriptor_status;

struct Ends {
  Buffer out, in;
  std::vector<Descriptor> sends, receives;
  Link link;  // goes first: it may still have descriptors

  Ends(Rig& rig, Reliability level, std::size_t count, std::uint32_t bytes, std::uint32_t room)
      : out(rig, count * bytes),
        in(rig, 16 * std::size_t{room}),
        sends(count),
        receives(16),
        link(rig, vi_attributes(16, level)),
        bytes_(bytes),
        room_(room) {
    connect(rig, link);
  }
  void post_receives(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      via::make_receive(receives[i], in.data() + i * room_, room_, in.handle());
      link.post_receive(receives[i]);
    }
  }
  void send_all() {
    for (std::size_t i = 0; i < sends.size(); ++i) {
      fill_pattern(out.data() + i * bytes_, bytes_, i);
      via::make_send(sends[i], out.data() + i * bytes_, bytes_, out.handle());
      link.post_send(sends[i]);
    }
  }
  /// Sends before @p culprit succeed. It fails where completion means arrival; where it means
  /// departure, it and those after it succeed or fail, and none succeeds after one that failed.
  void expect_sends(Reliability level, std::size_t culprit) {
    bool failed = false;
    for (std::size_t i = 0; i < sends.size(); ++i) {
      Note note("send {}", i);
      link.expect_next_send(sends[i]);
      if (i < culprit) {
        expect_done(sends[i], CompletedOperation::send, bytes_);
      } else if (failed) {
        expect_flushed(sends[i], CompletedOperation::send);
      } else if (sends[i].failed()) {
        expect_failed(sends[i],
                      status::remote_descriptor_error | (i > culprit ? status::flushed : 0));
        failed = true;
      } else {
        expect_done(sends[i], CompletedOperation::send, bytes_);
      }
    }
    if (level == Reliability::reception) {
      CHECK(failed);
      expect_failed(sends[culprit], status::remote_descriptor_error);
    }
  }
  void expect_flushed_receives(std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      Note note("receive {}", i);
      link.expect_next_receive(receives[i]);
      expect_flushed(receives[i], CompletedOperation::receive);
    }
  }
  void expect_arrived(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      Note note("receive {}", i);
      link.expect_next_receive(receives[i]);
      expect_done(receives[i], CompletedOperation::receive, bytes_);
      CHECK_EQ(matching(in.data() + i * room_, bytes_, i), bytes_);
    }
  }

 private:
  std::uint32_t bytes_, room_;
};

void empty_at(Rig& rig, Reliability level, std::uint32_t bytes, std::size_t posted) {
  Note note("{}, {} bytes, {} receives posted", name_of(level), bytes, posted);
  constexpr std::size_t kSends = 5;
  Ends ends(rig, level, kSends, bytes, 5000);
  ends.post_receives(rig.first() ? 3 : posted);
  rig.sync("receives are posted");
  if (rig.first()) {
    ends.send_all();
    ends.expect_sends(level, posted);
  } else {
    ends.expect_arrived(posted);
  }
  rig.expect_error(via::ErrorCause::receive_queue_empty, ends.link.vi());
  CHECK_EQ(ends.link.vi().state(), ViState::error);
  if (rig.first()) ends.expect_flushed_receives(0, 3);
  ends.link.expect_nothing();
  rig.sync("both in the error state");
}

void queue_empty(Rig& rig) {
  for (const Reliability level : offered_reliable_levels(rig)) {
    for (const std::uint32_t bytes : {0U, 8U, 56U, 300U, 5000U}) {
      for (const std::size_t posted : {std::size_t{0}, std::size_t{3}})
        empty_at(rig, level, bytes, posted);
    }
  }
}

void queue_empty_unreliable(Rig& rig) {
  if (!rig.limits().unreliable) rig.skip("no unreliable service");
  for (const std::uint32_t bytes : {8U, 56U, 5000U}) {
    Note note("{} bytes", bytes);
    Ends ends(rig, Reliability::unreliable, 3, bytes, 5000);
    rig.sync("connected");
    if (rig.first()) {
      ends.send_all();
      for (const Descriptor& send : ends.sends) {
        ends.link.expect_next_send(send);
        expect_done(send, CompletedOperation::send, bytes);
      }
    }
    rig.sync("three are lost");
    rig.progress_for(kQuietNs);
    ends.link.expect_nothing();
    CHECK(rig.errors().empty());
    expect_alive(rig, ends.link);
  }
}

void queue_empty_immediate(Rig& rig) {
  for (const Reliability level : offered_reliable_levels(rig)) {
    Note note("{}", name_of(level));
    Link link(rig, vi_attributes(4, level));
    Buffer out(rig, 400);
    Buffer target(rig, 400, Memory::shared, via::Rights::rdma_write);
    connect(rig, link);
    const RemoteBuffer remote = rig.exchange("the target", remote_view(target))[index(rig.other())];
    Descriptor write{};
    if (rig.first()) {
      via::make_rdma_write(write, out.data(), 400, out.handle(), remote.address, remote.handle);
      via::add_immediate(write, 5);
      link.post_send(write);
      link.expect_next_send(write);
      if (level == Reliability::reception) expect_failed(write, status::remote_descriptor_error);
    }
    rig.expect_error(via::ErrorCause::receive_queue_empty, link.vi());
    CHECK_EQ(link.vi().state(), ViState::error);
    rig.sync("both in the error state");
  }
}

void too_long_at(Rig& rig, Reliability level, std::uint32_t bytes, std::uint32_t room,
                 std::size_t good) {
  Note note("{}, {} bytes into {}, after {} good ones", name_of(level), bytes, room, good);
  Ends ends(rig, level, 1, bytes, room);
  Descriptor small{};
  if (rig.first()) ends.post_receives(2);
  if (!rig.first()) ends.post_receives(good + 3);
  rig.sync("receives are posted");
  if (rig.first()) {
    for (std::size_t i = 0; i < good; ++i) {
      via::make_send(small, ends.out.data(), 1, ends.out.handle());
      ends.link.post_send(small);
      ends.link.expect_next_send(small);
    }
    ends.send_all();
    ends.expect_sends(level, 0);
  } else {
    for (std::size_t i = 0; i < good; ++i)
      expect_done(ends.link.next_receive(), CompletedOperation::receive, 1);
    ends.link.expect_next_receive(ends.receives[good]);
    expect_failed(ends.receives[good], status::length_error);
    CHECK_EQ(ends.receives[good].completed_operation(), CompletedOperation::receive);
  }
  rig.expect_error(via::ErrorCause::length, ends.link.vi());
  CHECK_EQ(ends.link.vi().state(), ViState::error);
  if (rig.first()) ends.expect_flushed_receives(0, 2);
  if (!rig.first()) ends.expect_flushed_receives(good + 1, good + 3);
  ends.in.expect_clear((good + 1) * room, ends.in.bytes() - (good + 1) * room);
  ends.in.expect_guards();
  rig.sync("both in the error state");
}

void too_long(Rig& rig) {
  for (const Reliability level : offered_reliable_levels(rig)) {
    too_long_at(rig, level, 9, 8, 0);
    too_long_at(rig, level, 56, 40, 2);
    too_long_at(rig, level, 57, 56, 1);
    too_long_at(rig, level, 1, 0, 0);
    too_long_at(rig, level, 5000, 4999, 2);
    too_long_at(rig, level, 5000, 8, 0);
  }
}

void too_long_unreliable(Rig& rig) {
  if (!rig.limits().unreliable) rig.skip("no unreliable service");
  for (const std::uint32_t bytes : {50U, 3000U}) {
    Note note("{} bytes", bytes);
    Ends ends(rig, Reliability::unreliable, 1, bytes, 40);
    if (!rig.first()) ends.post_receives(1);
    rig.sync("a short receive is posted");
    if (rig.first()) {
      ends.send_all();
      ends.link.expect_next_send(ends.sends[0]);
    }
    rig.sync("sent");
    rig.progress_for(kQuietNs);
    ends.in.expect_guards();
    if (!rig.first()) {
      // Lost; the receive is used up with a length error, or still posted.
      if (Descriptor* const d = ends.link.try_next(via::Queue::receive)) {
        CHECK_EQ(d, &ends.receives[0]);
        expect_failed(*d, status::length_error);
      } else {
        CHECK(!ends.receives[0].is_done());
      }
    }
    CHECK_EQ(ends.link.vi().state(), ViState::connected);
    const bool used = rig.exchange("used up", ends.receives[0].is_done() ? 1 : 0)[1] != 0;
    if (used) expect_alive(rig, ends.link);
    rig.forget_errors();  // it may have been reported
    rig.sync("seen");
  }
}

void error_keeps_order(Rig& rig) {
  // Everything that was posted completes, exactly once, in order, whatever the error hits.
  for (const Reliability level : offered_reliable_levels(rig)) {
    Note note("{}", name_of(level));
    Ends ends(rig, level, 16, 2000, 2000);
    ends.post_receives(rig.first() ? 16 : 7);
    rig.sync("receives are posted");
    if (rig.first()) ends.send_all();
    rig.expect_error(via::ErrorCause::receive_queue_empty, ends.link.vi());
    if (rig.first()) {
      ends.expect_sends(level, 7);
      ends.expect_flushed_receives(0, 16);
    } else {
      ends.expect_arrived(7);
    }
    ends.link.expect_nothing();
    rig.sync("all completed");
  }
}

constexpr Case kCases[] = {
    {"receive_queue.empty",
     "A message for which no receive is posted puts both VIs into the error state; both NICs "
     "report it; what was posted "
     "is flushed; earlier messages have arrived. At reliable reception the send says remote "
     "descriptor error",
     Party::pair, queue_empty},
    {"receive_queue.empty_unreliable", "On an unreliable VI it is lost and the VI lives on",
     Party::pair, queue_empty_unreliable},
    {"receive_queue.empty_immediate", "An RDMA write with immediate needs a posted receive too",
     Party::pair, queue_empty_immediate},
    {"length.too_long",
     "A message longer than its receive: length error there, both VIs in the error state, nothing "
     "written behind the "
     "receive's buffer, later receives flushed",
     Party::pair, too_long},
    {"length.too_long_unreliable", "On an unreliable VI it is lost and the VI lives on",
     Party::pair, too_long_unreliable},
    {"flush.order",
     "After an error all posted descriptors complete, once each, in the order posted", Party::pair,
     error_keeps_order},
};

}  // namespace

std::span<const Case> receive_error_cases() { return kCases; }

}  // namespace viaduct::conformance
