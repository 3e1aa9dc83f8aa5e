#include "viaduct/via/control_message.hpp"

namespace viaduct::via {

using Kind = ControlMessage::Kind;

std::uint32_t detail_of(const ControlMessage& message) noexcept {
  if (message.kind == Kind::reject) return static_cast<std::uint32_t>(message.result);
  if (message.kind == Kind::final) return static_cast<std::uint32_t>(message.cause);
  return message.shape;
}

void set_detail(ControlMessage& message, std::uint32_t detail) noexcept {
  if (message.kind == Kind::reject) {
    const bool known = detail <= static_cast<std::uint32_t>(ConnectResult::unreachable);
    message.result = known ? static_cast<ConnectResult>(detail) : ConnectResult::rejected;
  } else if (message.kind == Kind::final) {
    const bool known = detail <= static_cast<std::uint32_t>(ErrorCause::rdma_read_refused);
    message.cause = known ? static_cast<ErrorCause>(detail) : ErrorCause::transport;
  } else {
    message.shape = detail;
  }
}

std::size_t encode(const ControlMessage& message, std::span<std::byte> to) noexcept {
  ControlHead head;
  head.kind = static_cast<std::uint16_t>(message.kind);
  head.bytes = static_cast<std::uint16_t>(message.data.size());
  head.from = static_cast<std::uint32_t>(message.from);
  head.to = static_cast<std::uint32_t>(message.to);
  head.detail = detail_of(message);
  head.word = message.kind == Kind::reject ? message.reason : message.discriminator;
  std::memcpy(to.data(), &head, sizeof head);
  if (!message.data.empty())
    std::memcpy(to.data() + sizeof head, message.data.data(), message.data.size());
  return sizeof head + message.data.size();
}

bool decode(std::span<const std::byte> from, ControlMessage& message) {
  ControlHead head;
  if (from.size() < sizeof head) return false;
  std::memcpy(&head, from.data(), sizeof head);
  const auto data = from.subspan(sizeof head);
  if (head.kind > static_cast<std::uint16_t>(Kind::ready) || head.bytes > data.size()) return false;
  message = {};
  message.kind = static_cast<Kind>(head.kind);
  message.from = EndNumber{head.from};
  message.to = EndNumber{head.to};
  set_detail(message, head.detail);
  (message.kind == Kind::reject ? message.reason : message.discriminator) = head.word;
  message.data.assign(data.begin(), data.begin() + head.bytes);
  return true;
}

}  // namespace viaduct::via
