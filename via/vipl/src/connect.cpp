/// Connections. The two sides agree by control messages, which carry discriminators and attributes;
/// then they connect their provider's VIs peer to peer, by a number that only this attempt has.

#include <algorithm>
#include <utility>

#include "via/vipl/src/address.hpp"
#include "via/vipl/src/attempt.hpp"
#include "via/vipl/src/queues.hpp"
#include "via/vipl/src/wait.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::via::vipl {
namespace {

Vi* find_attempt(Port& port, std::uint64_t id, Phase phase) noexcept {
  for (const auto& vi : port.vis)
    if (vi->id == id && vi->phase == phase) return vi.get();
  return nullptr;
}

/// The other side may have disconnected already, behind what it has sent.
void connected(Vi& vi) noexcept {
  vi.enter(Phase::connected);
  if (vi.lost) record_loss(vi, ErrorCause::disconnected);
}

/// Ends an attempt that has failed: the VI is idle, with the receives that it has.
VIP_RETURN give_up(Vi& vi, VIP_RETURN answer) {
  disconnect_keeping_receives(vi);
  vi.enter(Phase::idle);
  return answer;
}

/// Begins an attempt with @p start, which may throw. After an answer other than VIP_SUCCESS the VI
/// is idle again.
template <class Start>
VIP_RETURN begin(Port& port, Vi& vi, Phase phase, Rank peer, Start start) {
  vi.enter(phase);
  vi.peer = peer;
  vi.id = port.next_id();
  vi.answer = VIP_NOT_DONE;
  vi.nobody_waits = false;
  vi.lost = vi.reported = false;
  VIP_RETURN answer = VIP_ERROR_RESOURCE;
  try {
    answer = start();
  } catch (const std::exception&) {  // no memory of the window is left, for example
  }
  return answer == VIP_SUCCESS ? answer : give_up(vi, answer);
}

/// Takes back the request to the other side.
void take_back(Port& port, const Vi& vi) {
  if (vi.phase == Phase::requesting || (vi.phase == Phase::peer && vi.peer != port.job().rank()))
    port.control().send(vi.peer, message_of(MessageKind::cancel, vi.id));
}

/// The state of the provider's connection: VIP_NOT_DONE, VIP_SUCCESS, or why there will be none.
VIP_RETURN provider_done(Vi& vi) {
  switch (vi.vi->connect_peer_done()) {
    case Status::ok:
      return VIP_SUCCESS;
    case Status::retry:
      return VIP_NOT_DONE;
    case Status::bad_argument:
      return VIP_INVALID_RELIABILITY_LEVEL;
    default:  // not connected, or not any more
      return vi.vi->connect_peer_wait(0) == ConnectResult::connected ? VIP_SUCCESS
                                                                     : VIP_NOT_REACHABLE;
  }
}

/// Reads an address pair: this side's address and the other's.
VIP_RETURN read_addresses(Port& port, const VIP_NET_ADDRESS& local, const VIP_NET_ADDRESS& remote,
                          Address& here, Address& there) noexcept {
  const std::uint32_t ranks = port.job().size();
  const VIP_RETURN mine = read_address(local, ranks, here);
  if (mine != VIP_SUCCESS || (here.has_host && here.host != port.job().rank()))
    return VIP_INVALID_PARAMETER;
  const VIP_RETURN theirs = read_address(remote, ranks, there);
  if (theirs != VIP_SUCCESS) return theirs;
  if (!there.has_host) return VIP_INVALID_PARAMETER;
  return port.job().is_lost(there.host) ? VIP_NOT_REACHABLE : VIP_SUCCESS;
}

// Peer to peer. The lower rank decides which two match, so that both sides pair alike.

/// Whether @p vi is without its other half, and its time is not over.
bool seeks_peer(const Vi& vi) noexcept {
  return vi.phase == Phase::peer && vi.answer == VIP_NOT_DONE && monotonic_ns() < vi.deadline_ns;
}

bool fits(const Connection& request, const Vi& vi) noexcept {
  return request.from == vi.peer && request.server == vi.local_discriminator &&
         request.client == vi.remote_discriminator;
}

/// The two halves have found each other: the provider connects them under @p id.
void start_half(Vi& vi, std::uint64_t id) noexcept {
  vi.enter(Phase::peer_matched);
  try {
    if (vi.vi->connect_peer_start(vi.peer, id) == Status::ok) return;
  } catch (const std::exception&) {
  }
  vi.answer = VIP_ERROR_RESOURCE;
}

/// Matches two VIs of this process.
void match_here(Vi& a, Vi& b) {
  const VIP_RETURN result = compare(attributes_of(a), attributes_of(b));
  for (Vi* vi : {&a, &b}) {
    vi->answer = result;
    vi->remote = attributes_of(vi == &a ? b : a);
    if (result == VIP_SUCCESS) start_half(*vi, a.id);
  }
  if (a.answer != b.answer) a.answer = b.answer = VIP_ERROR_RESOURCE;
}

/// Matches a VI of this process and a request of a higher rank.
void match(Port& port, Vi& vi, const Connection& request) {
  const VIP_RETURN result = compare(attributes_of(vi), request.attributes);
  Message answer = message_of(MessageKind::peer_match, request.id, vi.id);
  answer.attributes = attributes_of(vi);
  vi.answer = result;
  vi.remote = request.attributes;
  if (result == VIP_SUCCESS) start_half(vi, vi.id);
  answer.result = static_cast<std::uint8_t>(vi.answer);
  port.control().send(request.from, answer);
}

/// Looks for the other half of a new attempt.
void look_for_peer(Port& port, Vi& vi) {
  if (vi.peer == port.job().rank()) {
    for (const auto& other : port.vis) {
      if (other.get() == &vi || !seeks_peer(*other) || other->peer != vi.peer ||
          !(other->local_discriminator == vi.remote_discriminator) ||
          !(other->remote_discriminator == vi.local_discriminator))
        continue;
      return match_here(*other, vi);
    }
    return;
  }
  if (index(vi.peer) < index(port.job().rank())) {
    Message request = message_of(MessageKind::peer_request, vi.id);
    request.attributes = attributes_of(vi);
    request.local = vi.local_discriminator;
    request.remote = vi.remote_discriminator;
    return port.control().send(vi.peer, request);
  }
  const auto found = std::find_if(port.peer_requests.begin(), port.peer_requests.end(),
                                  [&](const Connection& request) { return fits(request, vi); });
  if (found == port.peer_requests.end()) return;
  const Connection request = *found;
  port.peer_requests.erase(found);
  match(port, vi, request);
}

/// How far an attempt is; when it is over, the VI is connected or idle.
VIP_RETURN peer_done(Port& port, Vi& vi, VIP_VI_ATTRIBUTES& remote) {
  if (vi.phase != Phase::peer && vi.phase != Phase::peer_matched) return VIP_INVALID_STATE;
  VIP_RETURN answer = vi.answer;
  if (vi.phase == Phase::peer_matched && answer == VIP_SUCCESS) answer = provider_done(vi);
  if (answer == VIP_NOT_DONE && port.job().is_lost(vi.peer)) answer = VIP_NOT_REACHABLE;
  if (answer == VIP_NOT_DONE && monotonic_ns() >= vi.deadline_ns) {
    take_back(port, vi);
    return give_up(vi, VIP_TIMEOUT);
  }
  if (answer == VIP_NOT_DONE) return answer;
  if (answer != VIP_SUCCESS) return give_up(vi, answer);
  connected(vi);
  show(vi.remote, remote);
  return VIP_SUCCESS;
}

// Handlers of messages.

void on_request(Port& port, Rank from, const Message& m) {
  auto request = std::make_unique<Connection>();
  request->from = from;
  request->id = m.id;
  request->attributes = m.attributes;
  request->client = m.local;
  request->server = m.remote;
  const bool awaited =
      std::any_of(port.waiters.begin(), port.waiters.end(),
                  [&](const Discriminator* waiter) { return *waiter == m.remote; });
  port.connections.push_back(std::move(request));
  if (!awaited) port.control().send(from, message_of(MessageKind::waits, m.id));
}

void on_cancel(Port& port, Rank from, const Message& m) {
  std::erase_if(port.peer_requests, [&](const Connection& request) {
    return request.from == from && request.id == m.id;
  });
  for (const auto& connection : port.connections)
    if (connection->from == from && connection->id == m.id) connection->cancelled = true;
  // Connections that a VipConnectWait has taken end with their handles.
  std::erase_if(port.connections, [](const auto& connection) {
    return connection->cancelled && connection->handle == nullptr;
  });
}

void on_peer_request(Port& port, Rank from, const Message& m) {
  Connection request;
  request.from = from;
  request.id = m.id;
  request.attributes = m.attributes;
  request.client = m.local;
  request.server = m.remote;
  for (const auto& vi : port.vis)
    if (seeks_peer(*vi) && fits(request, *vi)) return match(port, *vi, request);
  port.peer_requests.push_back(request);
}

void on_peer_match(Port& port, Rank from, const Message& m) {
  Vi* const vi = find_attempt(port, m.id, Phase::peer);
  if (vi == nullptr || vi->peer != from || !seeks_peer(*vi)) {
    if (m.result == VIP_SUCCESS)
      port.control().send(from, message_of(MessageKind::peer_no_more, m.id, m.other));
    return;
  }
  vi->answer = static_cast<VIP_RETURN>(m.result);
  vi->remote = m.attributes;
  if (vi->answer == VIP_SUCCESS) start_half(*vi, m.other);
}

/// The half that this VI was matched with is gone: the VI goes on looking.
void on_peer_no_more(Port& port, const Message& m) {
  Vi* const vi = find_attempt(port, m.other, Phase::peer_matched);
  if (vi == nullptr) return;
  disconnect_keeping_receives(*vi);
  vi->lost = false;
  vi->enter(Phase::peer);
  vi->answer = VIP_NOT_DONE;
  vi->id = port.next_id();
  if (seeks_peer(*vi)) look_for_peer(port, *vi);
}

void on_answer(Port& port, Rank from, const Message& m) {
  Vi* const vi = find_attempt(port, m.id, Phase::requesting);
  if (vi == nullptr || vi->peer != from) return;
  if (m.kind == MessageKind::waits || m.kind == MessageKind::offered) {
    vi->nobody_waits = m.kind == MessageKind::waits;
    return;
  }
  vi->answer = m.kind == MessageKind::accept ? VIP_SUCCESS : VIP_REJECT;
  vi->remote = m.attributes;
}

}  // namespace

void handle_message(Port& port, Rank from, const Message& message) {
  switch (message.kind) {
    case MessageKind::ack:
      return;
    case MessageKind::request:
      return on_request(port, from, message);
    case MessageKind::waits:
    case MessageKind::offered:
    case MessageKind::accept:
    case MessageKind::reject:
      return on_answer(port, from, message);
    case MessageKind::cancel:
      return on_cancel(port, from, message);
    case MessageKind::peer_request:
      return on_peer_request(port, from, message);
    case MessageKind::peer_match:
      return on_peer_match(port, from, message);
    case MessageKind::peer_no_more:
      return on_peer_no_more(port, message);
  }
}

void disconnect(Port& port, Vi& vi) noexcept {
  try {
    take_back(port, vi);
  } catch (const std::exception& e) {  // the other side finds out when it looks for this one
    port.job().log().write(LogLevel::error, e.what());
  }
  vi.enter(Phase::idle);
  vi.vi->disconnect();
  try {
    // Descriptors that the provider has flushed come before those that were flushed here.
    for (WorkQueue* queue : {&vi.send, &vi.receive}) {
      if (queue->late.empty()) continue;
      ShortFifo<Descriptor> in_order;
      Fifo<Descriptor*> late = std::exchange(queue->late, {});
      while (Descriptor* const d = take_oldest(*queue)) in_order.push(d);
      while (!late.empty()) in_order.push(late.take());
      queue->done = std::move(in_order);
    }
  } catch (const std::exception& e) {
    port.job().log().write(LogLevel::error, e.what());
  }
  vi.lost = false;
}

void reject(Port& port, const Connection& connection) noexcept {
  try {
    if (!connection.cancelled)
      port.control().send(connection.from, message_of(MessageKind::reject, connection.id));
  } catch (const std::exception& e) {
    port.job().log().write(LogLevel::error, e.what());
  }
  remove(port.connections, connection);
}

extern "C" {

VIP_RETURN VipConnectWait(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* LocalAddr, VIP_ULONG Timeout,
                          VIP_NET_ADDRESS* RemoteAddr, VIP_VI_ATTRIBUTES* RemoteViAttribs,
                          VIP_CONN_HANDLE* ConnHandle) {
  Address here;
  const VIP_RETURN begun = call([&](Port& port) {
    if (find<Nic>(NicHandle) == nullptr || LocalAddr == nullptr || RemoteAddr == nullptr ||
        RemoteViAttribs == nullptr || ConnHandle == nullptr ||
        read_address(*LocalAddr, port.job().size(), here) != VIP_SUCCESS ||
        (here.has_host && here.host != port.job().rank()))
      return VIP_INVALID_PARAMETER;
    port.waiters.push_back(&here.discriminator);
    return VIP_SUCCESS;
  });
  if (begun != VIP_SUCCESS) return begun;
  const auto look = [&](Port& port) {
    Nic* const nic = find<Nic>(NicHandle);
    if (nic == nullptr) return VIP_INVALID_PARAMETER;
    for (const auto& connection : port.connections) {
      if (connection->handle != nullptr || !(connection->server == here.discriminator)) continue;
      port.control().send(connection->from, message_of(MessageKind::offered, connection->id));
      connection->handle = library().handles.add(HandleKind::connection, connection.get());
      connection->nic = nic;
      *ConnHandle = connection->handle;
      write_address(*RemoteAddr, connection->from, connection->client);
      show(connection->attributes, *RemoteViAttribs);
      return VIP_SUCCESS;
    }
    return VIP_NOT_DONE;
  };
  const VIP_RETURN result = wait_for(deadline_of(Timeout), look, [](Port&) { return VIP_TIMEOUT; });
  (void)call([&](Port& port) {
    std::erase(port.waiters, &here.discriminator);
    return VIP_SUCCESS;
  });
  return result;
}

VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE ConnHandle, VIP_VI_HANDLE ViHandle) {
  constexpr std::uint64_t kLimitNs = 10'000'000'000;
  const VIP_RETURN begun = call([&](Port& port) {
    Connection* const connection = find<Connection>(ConnHandle);
    Vi* const vi = find<Vi>(ViHandle);
    if (connection == nullptr || vi == nullptr) return VIP_INVALID_PARAMETER;
    if (vi->phase != Phase::idle) return VIP_INVALID_STATE;
    if (const VIP_RETURN differ = compare(attributes_of(*vi), connection->attributes);
        differ != VIP_SUCCESS)
      return differ;
    port.progress();
    const bool lost = port.job().is_lost(connection->from);
    if (connection->cancelled || lost) {
      remove(port.connections, *connection);
      return lost ? VIP_NOT_REACHABLE : VIP_TIMEOUT;
    }
    vi->remote = connection->attributes;
    return begin(port, *vi, Phase::accepting, connection->from, [&] {
      if (vi->vi->connect_peer_start(connection->from, connection->id) != Status::ok)
        return VIP_ERROR_RESOURCE;
      Message answer = message_of(MessageKind::accept, connection->id);
      answer.attributes = attributes_of(*vi);
      port.control().send(connection->from, answer);
      return VIP_SUCCESS;
    });
  });
  if (begun != VIP_SUCCESS) return begun;
  const auto finish = [&](Port& port, Vi& vi, VIP_RETURN answer) {
    if (Connection* const connection = find<Connection>(ConnHandle))
      remove(port.connections, *connection);
    if (answer != VIP_SUCCESS) return give_up(vi, answer);
    connected(vi);
    return VIP_SUCCESS;
  };
  const auto look = [&](Port& port) {
    Vi* const vi = find<Vi>(ViHandle);
    if (vi == nullptr || vi->phase != Phase::accepting) return VIP_INVALID_STATE;
    const VIP_RETURN answer = provider_done(*vi);
    if (answer == VIP_SUCCESS) return finish(port, *vi, answer);
    const Connection* const connection = find<Connection>(ConnHandle);
    if (connection == nullptr || connection->cancelled) return finish(port, *vi, VIP_TIMEOUT);
    return answer == VIP_NOT_DONE ? answer : finish(port, *vi, VIP_NOT_REACHABLE);
  };
  return wait_for(monotonic_ns() + kLimitNs, look, [&](Port& port) {
    Vi* const vi = find<Vi>(ViHandle);
    return vi == nullptr ? VIP_INVALID_STATE : finish(port, *vi, VIP_TIMEOUT);
  });
}

VIP_RETURN VipConnectReject(VIP_CONN_HANDLE ConnHandle) {
  return call([&](Port& port) {
    const Connection* const connection = find<Connection>(ConnHandle);
    if (connection == nullptr) return VIP_INVALID_PARAMETER;
    reject(port, *connection);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipConnectRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr,
                             VIP_NET_ADDRESS* RemoteAddr, VIP_ULONG Timeout,
                             VIP_VI_ATTRIBUTES* RemoteViAttribs) {
  const VIP_RETURN begun = call([&](Port& port) {
    Vi* const vi = find<Vi>(ViHandle);
    if (vi == nullptr || LocalAddr == nullptr || RemoteAddr == nullptr ||
        RemoteViAttribs == nullptr || Timeout == 0)
      return VIP_INVALID_PARAMETER;
    if (vi->phase != Phase::idle) return VIP_INVALID_STATE;
    Address here;
    Address there;
    if (const VIP_RETURN wrong = read_addresses(port, *LocalAddr, *RemoteAddr, here, there);
        wrong != VIP_SUCCESS)
      return wrong;
    return begin(port, *vi, Phase::requesting, there.host, [&] {
      const Status started = vi->vi->connect_peer_start(there.host, vi->id);
      if (started != Status::ok)
        return started == Status::peer_lost ? VIP_NOT_REACHABLE : VIP_ERROR_RESOURCE;
      Message request = message_of(MessageKind::request, vi->id);
      request.attributes = attributes_of(*vi);
      request.local = here.discriminator;
      request.remote = there.discriminator;
      port.control().send(there.host, request);
      return VIP_SUCCESS;
    });
  });
  if (begun != VIP_SUCCESS) return begun;
  const auto look = [&](Port& port) {
    Vi* const vi = find<Vi>(ViHandle);
    if (vi == nullptr || vi->phase != Phase::requesting) return VIP_INVALID_STATE;
    if (vi->answer == VIP_REJECT) return give_up(*vi, VIP_REJECT);
    const VIP_RETURN answer = provider_done(*vi);
    if (answer != VIP_NOT_DONE && answer != VIP_SUCCESS) return give_up(*vi, answer);
    if (port.job().is_lost(vi->peer)) return give_up(*vi, VIP_NOT_REACHABLE);
    if (answer == VIP_NOT_DONE || vi->answer == VIP_NOT_DONE) return VIP_NOT_DONE;
    connected(*vi);
    show(vi->remote, *RemoteViAttribs);
    return VIP_SUCCESS;
  };
  return wait_for(deadline_of(Timeout), look, [&](Port& port) {
    Vi* const vi = find<Vi>(ViHandle);
    if (vi == nullptr || vi->phase != Phase::requesting) return VIP_INVALID_STATE;
    take_back(port, *vi);
    return give_up(*vi, vi->nobody_waits ? VIP_NO_MATCH : VIP_TIMEOUT);
  });
}

VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr,
                                 VIP_NET_ADDRESS* RemoteAddr, VIP_ULONG Timeout) {
  return call([&](Port& port) {
    Vi* const vi = find<Vi>(ViHandle);
    if (vi == nullptr || LocalAddr == nullptr || RemoteAddr == nullptr || Timeout == 0)
      return VIP_INVALID_PARAMETER;
    if (vi->phase != Phase::idle) return VIP_INVALID_STATE;
    Address here;
    Address there;
    if (const VIP_RETURN wrong = read_addresses(port, *LocalAddr, *RemoteAddr, here, there);
        wrong != VIP_SUCCESS)
      return wrong;
    vi->local_discriminator = here.discriminator;
    vi->remote_discriminator = there.discriminator;
    vi->deadline_ns = deadline_of(Timeout);
    return begin(port, *vi, Phase::peer, there.host, [&] {
      look_for_peer(port, *vi);
      return VIP_SUCCESS;
    });
  });
}

VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
  return call([&](Port& port) {
    if (find<Vi>(ViHandle) == nullptr || RemoteViAttribs == nullptr) return VIP_INVALID_PARAMETER;
    port.progress();
    return peer_done(port, *find<Vi>(ViHandle), *RemoteViAttribs);
  });
}

VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
  if (RemoteViAttribs == nullptr) return VIP_INVALID_PARAMETER;
  const auto look = [&](Port& port) {
    Vi* const vi = find<Vi>(ViHandle);
    return vi == nullptr ? VIP_INVALID_PARAMETER : peer_done(port, *vi, *RemoteViAttribs);
  };
  return wait_for(~std::uint64_t{0}, look, [](Port&) { return VIP_TIMEOUT; });
}

VIP_RETURN VipDisconnect(VIP_VI_HANDLE ViHandle) {
  return call([&](Port& port) {
    Vi* const vi = find<Vi>(ViHandle);
    if (vi == nullptr) return VIP_INVALID_PARAMETER;
    port.progress();
    disconnect(port, *vi);
    return VIP_SUCCESS;
  });
}

}  // extern "C"

}  // namespace viaduct::via::vipl
