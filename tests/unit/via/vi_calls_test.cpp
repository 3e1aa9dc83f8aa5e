/// Calls of VIs on provider shm: the answers of connect_peer_wait(), and callbacks of on_error()
/// that destroy VIs.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "via/shm/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/via/descriptor.hpp"

namespace viaduct::via::shm {
namespace {

constexpr std::int64_t kBoundNs = 10'000'000'000;

class ViCallsTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<via::Vi> make_vi() {
    ViAttributes attributes;
    attributes.tag = tag;
    attributes.send_queue = attributes.receive_queue = queue.get();
    return nic.create_vi(attributes);
  }
  void connect() {
    a = make_vi();
    b = make_vi();
    ASSERT_EQ(a->connect_peer_start(job.rank(), 1), Status::ok);
    ASSERT_EQ(b->connect_peer_start(job.rank(), 1), Status::ok);
    ASSERT_EQ(a->connect_peer_wait(kBoundNs), ConnectResult::connected);
    ASSERT_EQ(b->connect_peer_wait(kBoundNs), ConnectResult::connected);
  }
  /// Sends from a to b. At reliable delivery a message without a receive ends the connection.
  void send_some(std::uint32_t bytes) {
    make_send(send, memory, bytes, region.handle());
    ASSERT_EQ(a->post_send(send), Status::ok);
  }
  /// The VI of an error ends, and the program uses memory of the same sizes.
  void destroy(const AsyncError& error) {
    ++told;
    for (auto* vi : {&a, &b})
      if (vi->get() == error.vi) vi->reset();
    for (std::size_t bytes = 64; bytes < 1024; bytes += 16) {
      blocks.emplace_back(bytes, std::byte{0x11});
    }
  }
  [[nodiscard]] bool blocks_are_whole() const {
    for (const auto& block : blocks)
      for (const std::byte byte : block)
        if (byte != std::byte{0x11}) return false;
    return true;
  }

  Job job;
  Nic nic{job};
  ProtectionTag tag = nic.create_tag();
  std::byte* memory = nic.allocate(4096);
  MemoryRegion region = nic.register_memory(tag, memory, 4096, Rights::all);
  Descriptor send{}, receive{};
  int told = 0;
  std::vector<std::vector<std::byte>> blocks;
  std::unique_ptr<via::CompletionQueue> queue;
  std::unique_ptr<via::Vi> a, b;
};

TEST_F(ViCallsTest, AWaitWithoutAnAttemptAnswersAtOnce) {
  a = make_vi();
  EXPECT_EQ(a->connect_peer_wait(-1), ConnectResult::rejected);  // never started
  connect();
  nic.on_error([](const AsyncError&) {});
  EXPECT_EQ(a->connect_peer_wait(-1), ConnectResult::connected);
  send_some(10);
  ASSERT_EQ(a->state(), ViState::error);
  EXPECT_EQ(a->connect_peer_wait(-1), ConnectResult::connected);  // the attempt's end
  a->disconnect();
  EXPECT_EQ(a->connect_peer_wait(-1), ConnectResult::rejected);
  ASSERT_EQ(a->connect_peer_start(job.rank(), 2), Status::ok);
  a->disconnect();
  EXPECT_EQ(a->connect_peer_wait(-1), ConnectResult::rejected);  // taken back
  ASSERT_EQ(a->connect_peer_start(job.rank(), 3), Status::ok);
  EXPECT_EQ(a->connect_peer_wait(1000), ConnectResult::timed_out);
  EXPECT_EQ(a->connect_peer_wait(-1), ConnectResult::rejected);
}

TEST_F(ViCallsTest, AnAttemptThatIsRefusedLeavesNoOlderAnswer) {
  a = make_vi();
  ViAttributes other;
  other.tag = tag;
  other.reliability = Reliability::unreliable;
  b = nic.create_vi(other);
  ASSERT_EQ(a->connect_peer_start(job.rank(), 1), Status::ok);
  ASSERT_EQ(b->connect_peer_start(job.rank(), 1), Status::ok);
  EXPECT_EQ(a->connect_peer_wait(kBoundNs), ConnectResult::mismatch);
  EXPECT_EQ(a->connect_peer_wait(kBoundNs), ConnectResult::mismatch);  // the last attempt's
  EXPECT_EQ(a->connect_peer_start(Rank{job.size()}, 1), Status::bad_argument);
  EXPECT_EQ(a->connect_peer_wait(kBoundNs), ConnectResult::rejected);
  EXPECT_EQ(a->connect_peer_done(), Status::bad_state);
}

/// Found in a poll of a queue of the program's.
TEST_F(ViCallsTest, ACallbackMayDestroyTheViOfALongMessage) {
  queue = nic.create_completion_queue(512);
  connect();
  nic.on_error([this](const AsyncError& error) { destroy(error); });
  make_receive(receive, memory, 16, region.handle());
  ASSERT_EQ(b->post_receive(receive), Status::ok);
  send_some(200);
  Completion completion;
  for (int i = 0; i < 1000; ++i)
    if (queue->poll(completion) == Status::ok) {
      EXPECT_TRUE(completion.vi == a.get() || completion.vi == b.get());
    }
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(blocks_are_whole());
  a.reset();
  b.reset();
}

/// In a post.
TEST_F(ViCallsTest, ACallbackMayDestroyTheViThatPosts) {
  connect();
  nic.on_error([this](const AsyncError& error) { destroy(error); });
  send_some(200);
  EXPECT_EQ(a, nullptr);
  for (int i = 0; i < 1000; ++i) nic.progress();
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(blocks_are_whole());
}

/// While the thread waits for a receive of that very VI, and while it polls.
TEST_F(ViCallsTest, AWaitOfAViThatACallbackDestroysEnds) {
  for (const bool waits : {true, false}) {
    nic.on_error({});
    connect();
    nic.on_error([this](const AsyncError& error) {
      if (error.vi == b.get()) destroy(error);
    });
    send_some(200);  // no receive is posted; b hears of it in a later poll
    Descriptor* done = nullptr;
    via::Vi* const vi = b.get();
    if (waits) {
      EXPECT_EQ(vi->receive_wait(done, kBoundNs), Status::bad_state);
    } else {
      Status status = Status::retry;
      for (int i = 0; i < 1000 && b != nullptr; ++i) status = b->receive_done(done);
      EXPECT_EQ(status, Status::bad_state);
    }
    EXPECT_EQ(b, nullptr);
    EXPECT_EQ(told, waits ? 1 : 2);
  }
  EXPECT_TRUE(blocks_are_whole());
}

/// An error is told when its VI is used no more, and not of a VI that has ended meanwhile.
TEST_F(ViCallsTest, ACallbackMayDestroyAnotherVi) {
  connect();
  std::vector<std::unique_ptr<via::Vi>> made;
  nic.on_error([&](const AsyncError& error) {
    ++told;
    (error.vi == a.get() ? b : a).reset();
    made.push_back(make_vi());
  });
  send_some(200);
  for (int i = 0; i < 1000; ++i) nic.progress();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(b, nullptr);
  EXPECT_EQ(made.size(), 1U);
}

}  // namespace
}  // namespace viaduct::via::shm
