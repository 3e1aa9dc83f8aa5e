#include <array>
#include <atomic>
#include <ctime>
#include <functional>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Completion;
using via::Descriptor;

void times_out(Rig& rig) {
  const auto queue = rig.nic().create_completion_queue(8);
  Completion completion;
  for (const std::int64_t limit :
       {std::int64_t{0}, std::int64_t{1000}, std::int64_t{3'000'000}, std::int64_t{80'000'000}}) {
    Note note("{} ns", limit);
    const std::int64_t start = now_ns();
    CHECK_EQ(queue->wait(completion, limit), Status::timeout);
    CHECK(now_ns() - start >= limit);
    CHECK(now_ns() - start < kLimitNs);
  }
}

void times_out_connected(Rig& rig) {
  Link link(rig);
  connect(rig, link);
  Completion completion;
  const std::int64_t start = now_ns();
  CHECK_EQ(link.queue().wait(completion, 50'000'000), Status::timeout);
  CHECK(now_ns() - start >= 50'000'000);
  rig.sync("both have waited");
}

void rest(std::int64_t ns) {
  const timespec pause{0, ns};
  nanosleep(&pause, nullptr);
}

// Rank 1 sleeps in the kernel long before the message comes.
void wakes(Rig& rig) {
  Link link(rig);
  Buffer buffer(rig, 3000);
  connect(rig, link);
  for (const std::uint32_t bytes : {8U, 3000U}) {
    Note note("{} bytes", bytes);
    Descriptor d{};
    if (!rig.first()) {
      via::make_receive(d, buffer.data(), 3000, buffer.handle());
      link.post_receive(d);
    }
    rig.sync("a receive is posted");
    if (rig.first()) {
      rest(60'000'000);
      via::make_send(d, buffer.data(), bytes, buffer.handle());
      link.post_send(d);
      link.expect_next_send(d);
    } else {
      Completion completion;
      const std::int64_t start = now_ns();
      CHECK_EQ(link.queue().wait(completion, kLimitNs), Status::ok);
      CHECK(now_ns() - start < kLimitNs / 2);
      CHECK_EQ(completion.descriptor, &d);
    }
    rig.sync("woken");
  }
}

// A wait without limit, and one that ends by an error of the connection.
void wakes_on_disconnect(Rig& rig) {
  Link link(rig);
  Buffer buffer(rig, 100);
  connect(rig, link);
  Descriptor d{};
  if (!rig.first()) {
    via::make_receive(d, buffer.data(), 100, buffer.handle());
    link.post_receive(d);
  }
  rig.sync("a receive is posted");
  if (rig.first()) {
    rest(30'000'000);
    link.vi().disconnect();
  } else {
    Completion completion;
    CHECK_EQ(link.queue().wait(completion, -1), Status::ok);
    CHECK_EQ(completion.descriptor, &d);
    expect_flushed(d, CompletedOperation::receive);
    rig.expect_error(via::ErrorCause::disconnected, link.vi());
  }
  rig.sync("woken");
}

// Waits on both sides in turn, with pauses of any length between: no wake-up is lost.
void ping_pong(Rig& rig) {
  constexpr std::uint32_t kRounds = 1500;
  Link link(rig, vi_attributes(2));
  Buffer buffer(rig, 64);
  connect(rig, link);
  Descriptor receive{};
  Descriptor send{};
  via::make_receive(receive, buffer.data(), 48, buffer.handle());
  link.post_receive(receive);
  rig.sync("receives are posted");
  std::mt19937_64 own(rig.random()() + rig.rank());
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    Note note("round {}", round);
    const auto turn = [&] {
      if (round % 16 == 0) {
        rest(static_cast<std::int64_t>(own() % 300'000));
      } else {
        const std::int64_t end = now_ns() + static_cast<std::int64_t>(own() % 30'000);
        while (now_ns() < end) {
        }
      }
      via::make_send(send, buffer.data() + 48, 16, buffer.handle());
      link.post_send(send);
      link.expect_next_send(send);
    };
    if (rig.first()) turn();
    link.expect_next_receive(receive);
    if (round + 1 != kRounds) {
      via::make_receive(receive, buffer.data(), 48, buffer.handle());
      link.post_receive(receive);
    }
    if (!rig.first()) turn();
  }
  rig.sync("all rounds");
}

struct Doorbell {
  std::atomic<int> rung{0};
};

// Waits for the callback without touching the queue or the NIC.
bool rings(const Doorbell& doorbell, std::int64_t limit_ns) {
  const std::int64_t end = now_ns() + limit_ns;
  Patience patience;
  while (doorbell.rung.load() == 0 && now_ns() < end) patience.pause();
  return doorbell.rung.load() != 0;
}

// One message each way: nothing of the connection is on its way any more, so no doorbell rings for
// that.
void talk(Rig& rig, Link& link, Buffer& buffer) {
  Descriptor receive{};
  Descriptor send{};
  via::make_receive(receive, buffer.data(), 8, buffer.handle());
  link.post_receive(receive);
  rig.sync("receives are posted");
  via::make_send(send, buffer.data() + 8, 8, buffer.handle());
  link.post_send(send);
  link.expect_next_send(send);
  link.expect_next_receive(receive);
  rig.sync("both have talked");
}

void notify(Rig& rig) {
  Link link(rig);
  Buffer buffer(rig, 3000);
  connect(rig, link);
  talk(rig, link, buffer);
  for (const bool early : {false, true}) {
    for (const std::uint32_t bytes : {8U, 3000U}) {
      Note note("{} bytes, message {}", bytes, early ? "first" : "later");
      Descriptor d{};
      Doorbell doorbell;
      if (!rig.first()) {
        via::make_receive(d, buffer.data(), 3000, buffer.handle());
        link.post_receive(d);
        if (!early) REQUIRE_EQ(link.queue().notify([&] { ++doorbell.rung; }), Status::ok);
        if (!early) CHECK_EQ(link.queue().notify([] {}), Status::bad_state);
        if (!early) CHECK(!rings(doorbell, kQuietNs));
      }
      // Nobody polls a queue that is armed; NIC progress might.
      static_cast<void>(rig.exchange_without_progress("a receive is posted", 0));
      if (rig.first()) {
        via::make_send(d, buffer.data(), bytes, buffer.handle());
        link.post_send(d);
        link.expect_next_send(d);
      }
      static_cast<void>(rig.exchange_without_progress("sent", 0));
      if (!rig.first()) {
        if (early) REQUIRE_EQ(link.queue().notify([&] { ++doorbell.rung; }), Status::ok);
        REQUIRE(rings(doorbell, kLimitNs));
        link.expect_next_receive(d);
        expect_done(d, CompletedOperation::receive, bytes);
        CHECK_EQ(doorbell.rung.load(), 1);
      }
      rig.sync("rung");
    }
  }
}

void notify_of_send(Rig& rig) {
  Link link(rig);
  Buffer buffer(rig, 200);
  connect(rig, link);
  Descriptor send{};
  Descriptor receive{};
  Doorbell doorbell;
  via::make_receive(receive, buffer.data(), 100, buffer.handle());
  link.post_receive(receive);
  rig.sync("receives are posted");
  if (rig.first()) {
    REQUIRE_EQ(link.queue().notify([&] { ++doorbell.rung; }), Status::ok);
    via::make_send(send, buffer.data() + 100, 100, buffer.handle());
    link.post_send(send);
    REQUIRE(rings(doorbell, kLimitNs));
    link.expect_next_send(send);
  } else {
    link.expect_next_receive(receive);
  }
  rig.sync("sent");
  if (!rig.first()) {
    via::make_send(send, buffer.data() + 100, 100, buffer.handle());
    link.post_send(send);
    link.expect_next_send(send);
  } else {
    link.expect_next_receive(receive);
  }
  rig.sync("answered");
}

/// The callback takes what has come and arms the queue again, message after message.
void notify_from_callback(Rig& rig) {
  constexpr int kMessages = 20;
  Link link(rig);
  Buffer buffer(rig, 100);
  connect(rig, link);
  std::array<Descriptor, kMessages> receives{};
  Doorbell doorbell;  // messages taken
  std::atomic<int> refused{0};
  if (!rig.first()) {
    for (Descriptor& d : receives) {
      via::make_receive(d, buffer.data(), 100, buffer.handle());
      link.post_receive(d);
    }
  }
  std::function<void()> take = [&] {
    int taken = 0;
    Completion completion;
    while (link.queue().poll(completion) == Status::ok) ++taken;
    const int before = doorbell.rung.load();
    if (before + taken < kMessages && link.queue().notify(take) != Status::ok) ++refused;
    doorbell.rung += taken;  // last: the owner may look from here on
  };
  if (!rig.first()) REQUIRE_EQ(link.queue().notify(take), Status::ok);
  static_cast<void>(rig.exchange_without_progress("receives are posted", 0));
  if (rig.first()) {
    Descriptor send{};
    for (int i = 0; i < kMessages; ++i) {
      via::make_send(send, buffer.data(), 8, buffer.handle());
      link.post_send(send);
      link.expect_next_send(send);
    }
  } else {
    const std::int64_t end = now_ns() + kLimitNs;
    Patience patience;
    while (doorbell.rung.load() < kMessages && now_ns() < end) patience.pause();
    CHECK_EQ(doorbell.rung.load(), kMessages);
    CHECK_EQ(refused.load(), 0);
  }
  rig.sync("all taken");
}

void notify_and_leave(Rig& rig) {
  // A queue may be destroyed while armed: nothing is called afterwards.
  Doorbell doorbell;
  for (int i = 0; i < 10; ++i) {
    const auto queue = rig.nic().create_completion_queue(8);
    REQUIRE_EQ(queue->notify([&] { ++doorbell.rung; }), Status::ok);
  }
  CHECK_EQ(doorbell.rung.load(), 0);
}

constexpr Case kCases[] = {
    {"wait.timeout", "A wait that nothing ends lasts its time", Party::alone, times_out},
    {"wait.timeout_connected", "So it does on a connected VI", Party::pair, times_out_connected},
    {"wait.wakes", "A rank that sleeps in a wait wakes when a message comes", Party::pair, wakes},
    {"wait.disconnect", "A wait without limit ends when the peer disconnects", Party::pair,
     wakes_on_disconnect},
    {"wait.ping_pong", "Waits on both sides, with pauses of any length: no wake-up is lost",
     Party::pair, ping_pong},
    {"wait.notify",
     "notify() calls back once when a completion can be taken, at once if there is one; a second "
     "one is refused",
     Party::pair, notify},
    {"wait.notify_send", "A send that is posted while a queue is armed rings it too", Party::pair,
     notify_of_send},
    {"wait.notify_again", "The callback of notify() may poll the queue and arm it again",
     Party::pair, notify_from_callback},
    {"wait.notify_destroy", "An armed queue may be destroyed", Party::alone, notify_and_leave},
};

}  // namespace

std::span<const Case> wait_cases() { return kCases; }

}  // namespace viaduct::conformance
