/// A peer that does not keep to the protocol of a VI's ring: the connection ends, and the receiver
/// reads nothing that is not there.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "via/shm/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/descriptor.hpp"
#include "viaduct/via/slot.hpp"

namespace viaduct::via::shm {
namespace {

class ViNonsenseTest : public ::testing::Test {
 protected:
  using Words = std::array<std::uint64_t, 2>;

  ViNonsenseTest() {
    nic.on_error([this](const AsyncError& error) { causes.push_back(error.cause); });
    a = nic.create_vi(attributes());
    b = nic.create_vi(attributes());
    post_receive();
    EXPECT_EQ(a->connect_peer_start(job.rank(), 1), Status::ok);
    EXPECT_EQ(b->connect_peer_start(job.rank(), 1), Status::ok);
    EXPECT_EQ(a->connect_peer_wait(kBoundNs), ConnectResult::connected);
    EXPECT_EQ(b->connect_peer_wait(kBoundNs), ConnectResult::connected);
  }
  ~ViNonsenseTest() override {
    a.reset();
    b.reset();
  }
  ViAttributes attributes() {
    ViAttributes attributes;
    attributes.tag = tag;
    return attributes;
  }
  void post_receive() {
    make_receive(receive, reinterpret_cast<std::byte*>(received.data()), sizeof received,
                 received_region.handle());
    EXPECT_EQ(b->post_receive(receive), Status::ok);
  }
  /// Sends kWords from a to b, and answers the slot in which they travelled.
  Slot* send_and_receive() {
    received = {};
    make_send(send, reinterpret_cast<std::byte*>(sent.data()), sizeof sent, sent_region.handle());
    EXPECT_EQ(a->post_send(send), Status::ok);
    Descriptor* done = nullptr;
    EXPECT_EQ(b->receive_wait(done, kBoundNs), Status::ok);
    EXPECT_EQ(received, sent);
    constexpr std::size_t kSearched = std::size_t{8} << 20;  // the rings are the first objects
    auto* const slots = reinterpret_cast<Slot*>(job.window_of(job.rank()));
    for (std::size_t i = 0; i < kSearched / sizeof(Slot); ++i)
      if (slots[i].words[0] == sent[0] && slots[i].words[1] == sent[1]) return &slots[i];
    return nullptr;
  }
  /// Polls b's queue until nothing more comes, and answers how many receives came.
  int poll() {
    int n = 0;
    Descriptor* done = nullptr;
    for (int i = 0; i < 200; ++i) n += b->receive_done(done) == Status::ok ? 1 : 0;
    return n;
  }

  static constexpr std::int64_t kBoundNs = 10'000'000'000;

  Job job;
  Nic nic{job};
  ProtectionTag tag = nic.create_tag();
  Words sent{0x5eed'0123'4567'89ab, 0xfeed'ba98'7654'3210}, received{};
  MemoryRegion sent_region = nic.register_memory(tag, reinterpret_cast<std::byte*>(sent.data()),
                                                 sizeof sent, Rights::none);
  MemoryRegion received_region = nic.register_memory(
      tag, reinterpret_cast<std::byte*>(received.data()), sizeof received, Rights::none);
  Descriptor send{}, receive{};
  std::vector<ErrorCause> causes;
  std::unique_ptr<via::Vi> a, b;
};

/// A correct sender writes no message for which no receive is posted.
TEST_F(ViNonsenseTest, MessageWithoutAReceiveEndsTheConnection) {
  for (const MessageKind kind : {MessageKind::inline_data, MessageKind::delivered}) {
    Slot* const slot = send_and_receive();
    ASSERT_NE(slot, nullptr);
    slot[1].header.store(header::make(kind, 8, 0) | header::phase_bit);
    EXPECT_EQ(poll(), 0);
    EXPECT_EQ(b->state(), ViState::error);
    EXPECT_EQ(causes, (std::vector{ErrorCause::format, ErrorCause::format}));  // both ends
    // Both connect again.
    b->disconnect();
    nic.progress();
    a->disconnect();
    causes.clear();
    post_receive();
    ASSERT_EQ(a->connect_peer_start(job.rank(), 1), Status::ok);
    ASSERT_EQ(b->connect_peer_start(job.rank(), 1), Status::ok);
    ASSERT_EQ(a->connect_peer_wait(kBoundNs), ConnectResult::connected);
    ASSERT_EQ(b->connect_peer_wait(kBoundNs), ConnectResult::connected);
    causes.clear();
  }
  EXPECT_NE(send_and_receive(), nullptr);
}

/// A sender takes a block from its own window for data that it hands over by itself.
TEST_F(ViNonsenseTest, BlockOutsideTheWindowIsNotRead) {
  Slot* const slot = send_and_receive();
  ASSERT_NE(slot, nullptr);
  post_receive();
  slot[1].words[0] = 64;
  slot[1].words[1] = std::uint64_t{1} << 60;
  slot[1].header.store(header::make(MessageKind::staged, 0, 0) | header::phase_bit);
  EXPECT_EQ(poll(), 1);
  EXPECT_TRUE(receive.failed());
  EXPECT_EQ(b->state(), ViState::error);
}

/// A slot has 56 bytes of payload, however many its header claims.
TEST_F(ViNonsenseTest, MoreBytesThanASlotHasAreNotRead) {
  std::array<std::byte, 256> large{};
  const MemoryRegion region = nic.register_memory(tag, large.data(), large.size(), Rights::none);
  Slot* const slot = send_and_receive();
  ASSERT_NE(slot, nullptr);
  make_receive(receive, large.data(), large.size(), region.handle());
  ASSERT_EQ(b->post_receive(receive), Status::ok);
  slot[1].header.store(header::make(MessageKind::inline_data, kInlineBytes + 1, 0) |
                       header::phase_bit);
  EXPECT_EQ(poll(), 1);
  EXPECT_TRUE(receive.failed());
  EXPECT_EQ(b->state(), ViState::error);
}

}  // namespace
}  // namespace viaduct::via::shm
