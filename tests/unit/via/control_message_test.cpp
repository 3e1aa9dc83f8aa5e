#include "viaduct/via/control_message.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>

namespace viaduct::via {
namespace {

using Kind = ControlMessage::Kind;

TEST(ControlMessageTest, DetailOfAMessageIsShapeResultOrCause) {
  ControlMessage sent;
  sent.kind = Kind::reject;
  ControlMessage got = sent;
  sent.result = ConnectResult::mismatch;
  set_detail(got, detail_of(sent));
  EXPECT_EQ(got.result, ConnectResult::mismatch);
  set_detail(got, 77);
  EXPECT_EQ(got.result, ConnectResult::rejected);
  sent.kind = got.kind = Kind::final;
  for (const auto cause : {ErrorCause::format, ErrorCause::rdma_read_refused}) {
    sent.cause = cause;
    set_detail(got, detail_of(sent));
    EXPECT_EQ(got.cause, cause);
  }
  set_detail(got, 77);
  EXPECT_EQ(got.cause, ErrorCause::transport);
  got.kind = Kind::accept;
  set_detail(got, 77);
  EXPECT_EQ(got.shape, 77U);
  EXPECT_EQ(detail_of(got), 77U);
}

ControlMessage request() {
  ControlMessage m;
  m.kind = Kind::request;
  m.from = EndNumber{0x89abcdef};
  m.shape = 0x482;
  m.discriminator = 0x0123456789abcdef;
  m.data = data_of(std::array<std::byte, 3>{std::byte{1}, std::byte{2}, std::byte{3}});
  return m;
}

TEST(ControlMessageTest, IsReadAsItWasWritten) {
  std::array<std::byte, 64> bytes;
  bytes.fill(std::byte{0xee});
  ControlMessage sent = request();
  const std::size_t n = encode(sent, bytes);
  EXPECT_EQ(n, sizeof(ControlHead) + 3);
  ControlMessage got;
  got.reason = 5;  // of the message that was there before
  ASSERT_TRUE(decode(bytes, got));
  EXPECT_TRUE(got == sent);

  sent = {};
  sent.kind = Kind::reject;
  sent.to = EndNumber{7};
  sent.result = ConnectResult::mismatch;
  sent.reason = 0xfedcba9876543210;
  ASSERT_TRUE(decode(std::span(bytes).first(encode(sent, bytes)), got));
  EXPECT_TRUE(got == sent);

  sent = {};
  sent.kind = Kind::final;
  sent.from = EndNumber{8};
  sent.to = EndNumber{9};
  sent.cause = ErrorCause::protection;
  sent.data = data_of(std::uint32_t{77});
  ASSERT_TRUE(decode(std::span(bytes).first(encode(sent, bytes)), got));
  EXPECT_TRUE(got == sent);
  std::uint32_t arrived = 0;
  ASSERT_TRUE(read_data(got.data, arrived));
  EXPECT_EQ(arrived, 77U);
}

TEST(ControlMessageTest, BytesThatAreNoMessageAreRefused) {
  std::array<std::byte, 64> bytes{};
  const std::size_t n = encode(request(), bytes);
  ControlMessage got;
  EXPECT_FALSE(decode(std::span(bytes).first(n - 1), got));
  EXPECT_FALSE(decode(std::span(bytes).first(sizeof(ControlHead) - 1), got));
  EXPECT_FALSE(decode({}, got));
  bytes[0] = std::byte{static_cast<unsigned char>(Kind::ready) + 1};
  EXPECT_FALSE(decode(bytes, got));
  bytes[0] = std::byte{static_cast<unsigned char>(Kind::ready)};
  EXPECT_TRUE(decode(bytes, got));
  bytes[1] = std::byte{1};  // the upper half of the kind
  EXPECT_FALSE(decode(bytes, got));
}

TEST(ControlMessageTest, DataOfAnotherSizeAreNotRead) {
  std::uint32_t value = 5;
  EXPECT_FALSE(read_data(data_of(std::uint64_t{1}), value));
  EXPECT_FALSE(read_data({}, value));
  EXPECT_EQ(value, 5U);
}

}  // namespace
}  // namespace viaduct::via
