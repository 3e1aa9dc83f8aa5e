/// What comes to a context goes to its queue pairs; timers; faults of the whole device.

#include <algorithm>
#include <array>

#include "tests/soft-verbs/queue_pair.hpp"

namespace soft_verbs {

namespace {

QueuePair* find_pair(Context& context, std::uint32_t number) {
  const auto found = context.pairs.find(number & kMaxPairs);
  return found == context.pairs.end() || found->second->qp_num != number ? nullptr : found->second;
}

/// To a peer whose queue pair is no more: the packets that it means have been handled.
void answer_ping(Context& context, const Packet& ping) {
  Packet pong = ping;
  std::swap(pong.from_pair, pong.to_pair);
  pong.kind = Kind::pong;
  pong.from_device = context.device->index;
  pong.from_port = ping.to_port;
  send(context, Place{ping.from_device, ping.from_port}, pong, {});
}

void deliver_garbage(Context& context, QueuePair& pair, const Packet& like) {
  control().count(kGarbageDatagrams);
  std::array<std::byte, kMaxPayload> bytes;
  for (std::byte& b : bytes) b = static_cast<std::byte>(context.random());
  constexpr std::size_t kShort = 512;  // most are no longer than what is usual
  const std::size_t most = context.random() % 8 == 0 ? bytes.size() : kShort;
  Packet packet = like;
  packet.from_pair = static_cast<std::uint32_t>(context.random()) & kNumberMask;
  pair.take_datagram(packet, bytes.data(), context.random() % (most + 1));
}

void take_datagram(Context& context, QueuePair& pair, const Packet& packet,
                   const std::byte* payload, std::size_t bytes) {
  pair.take_datagram(packet, payload, bytes);
  if (strikes(context, kGarbage)) deliver_garbage(context, pair, packet);
}

void die(Context& context) {
  context.dead = true;
  ibv_async_event event{};
  event.event_type = IBV_EVENT_DEVICE_FATAL;
  tell(context, event);
}

}  // namespace

void handle(Context& context, const Packet& packet, std::byte* payload, std::size_t bytes) {
  if (packet.kind == Kind::look) return look_at_control(context);
  if (context.dead) {  // peers' repetitions are to end
    if (packet.kind == Kind::ping) answer_ping(context, packet);
    return;
  }
  QueuePair* const pair = find_pair(context, packet.to_pair);
  if (pair == nullptr) {
    if (packet.kind == Kind::ping) answer_ping(context, packet);
    return;
  }
  switch (packet.kind) {
    case Kind::request:
      return pair->take_request(packet, payload, bytes);
    case Kind::answer:
    case Kind::data:
    case Kind::old_value:
      return pair->take_answer(packet, payload, bytes);
    case Kind::datagram:
      return take_datagram(context, *pair, packet, payload, bytes);
    case Kind::ping:
      return pair->take_ping(packet);
    case Kind::pong:
      return pair->take_pong(packet);
    case Kind::look:
      return;
  }
}

void run_timers(Context& context) {
  const std::uint64_t now = now_ns();
  for (CompletionQueue* queue : context.queues) run_timers(*queue, now);
  if (context.dead) return;
  for (const auto& [index, pair] : context.pairs) pair->run_timer(now);
}

/// Tells the program of what is new.
void look_at_control(Context& context) {
  const std::uint16_t device = context.device->index;
  for (std::uint32_t i = 0; i < context.device->description.ports; ++i) {
    const std::uint64_t bit = 1ULL << (Control::kPortsPerDevice * device + i);
    const std::uint64_t down = control().ports_down & bit;
    if (down == (context.ports_down & bit)) continue;
    context.ports_down ^= bit;
    ibv_async_event event{};
    event.event_type = down != 0 ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE;
    event.element.port_num = static_cast<int>(i + 1);
    tell(context, event);
  }
  if (!context.dead && (control().dead >> device & 1) != 0) die(context);
}

}  // namespace soft_verbs
