/// Ways between contexts: connected sockets in the abstract namespace, so that the kernel finds
/// peers, keeps names apart, and tells of the end of a process.

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "tests/soft-verbs/context.hpp"
#include "tests/soft-verbs/queue_pair.hpp"

namespace soft_verbs {

namespace {

constexpr std::uint32_t kSlots = 1U << (24 - kIndexBits);
constexpr std::size_t kMostQueuedDatagrams = 256;
constexpr std::uint64_t kConnectAgainNs = 1'000'000;
constexpr int kBatch = 64;  // packets between two looks at the time

// All contexts of this process, for fork().
std::mutex g_mutex;
std::vector<Context*> g_contexts;

void before_fork() {
  g_mutex.lock();
  for (Context* context : g_contexts) context->mutex.lock();
}
void after_fork() {
  for (Context* context : g_contexts) context->mutex.unlock();
  g_mutex.unlock();
}
/// A child must not keep its parent's sockets: peers would not see the parent's end.
void in_child() {
  for (Context* context : g_contexts) {
    context->forked = true;
    for (const int fd : context->incoming) close(fd);
    for (auto& [key, link] : context->links)
      if (link.fd >= 0) close(link.fd);
    for (const int fd : {context->listener, context->poller, context->wake}) close(fd);
    context->incoming.clear();
    context->links.clear();
    context->mutex.unlock();
  }
  g_contexts.clear();
  g_mutex.unlock();
}

std::uint32_t link_key(Place to, std::uint32_t pair) noexcept {
  return static_cast<std::uint32_t>(to.device) << 16 | pair >> kIndexBits;
}

sockaddr_un address_of(std::uint32_t device, std::uint32_t slot, socklen_t& bytes) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = socket_prefix() + std::to_string(device) + "/" + std::to_string(slot);
  const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

/// The first slot that no other context of this device has, from a place of chance on.
int take_slot(Context& context) {
  const std::uint32_t start = static_cast<std::uint32_t>(now_ns() >> 10);
  for (std::uint32_t i = 0; i < kSlots; ++i) {
    const std::uint32_t slot = 1 + (start + i) % (kSlots - 1);
    socklen_t bytes = 0;
    const sockaddr_un address = address_of(context.device->index, slot, bytes);
    if (bind(context.listener, reinterpret_cast<const sockaddr*>(&address), bytes) == 0) {
      context.slot = slot;
      return 0;
    }
    if (errno != EADDRINUSE) break;
  }
  return errno;
}

void watch(Context& context, int fd, std::uint32_t what, int how = EPOLL_CTL_ADD) {
  epoll_event event{};
  event.events = what;
  event.data.fd = fd;
  epoll_ctl(context.poller, how, fd, &event);
}

void drop(Context& context, std::uint32_t key) {
  const auto found = context.links.find(key);
  if (found == context.links.end()) return;
  if (found->second.fd >= 0) close(found->second.fd);
  context.links.erase(found);
  for (const auto& [index, pair] : context.pairs)
    if (pair->talks_to(key)) pair->peer_gone();
}

/// Null: there is nobody. A link whose peer has no room for one more has no socket for now.
Link* find_link(Context& context, std::uint32_t key) {
  Link& link = context.links[key];
  if (link.fd >= 0) return &link;
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  socklen_t bytes = 0;
  const sockaddr_un address = address_of(key >> 16, key & 0xffff, bytes);
  if (fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&address), bytes) == 0) {
    link.fd = fd;
    watch(context, fd, EPOLLRDHUP);
    return &link;
  }
  const int error = errno;
  if (fd >= 0) close(fd);
  if (fd < 0 || error == EAGAIN) {  // it is there, but cannot be reached now
    set_timer(context, now_ns() + kConnectAgainNs);
    return &link;
  }
  context.links.erase(key);
  return nullptr;
}

/// Past sanitizers: the payload is the program's memory. Answers 0 or the error.
int send_now(int fd, const Packet& packet, Payload payload) {
  constexpr std::size_t kMost = 40;
  std::array<iovec, kMost> pieces;
  pieces[0] = {const_cast<Packet*>(&packet), sizeof packet};
  std::copy_n(payload.pieces, payload.count, pieces.begin() + 1);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = payload.count + 1;
  return syscall(SYS_sendmsg, fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ? 0 : errno;
}

bool is_cut(const Packet& packet) noexcept {
  const std::uint32_t cut = control().cut;
  switch (packet.kind) {
    case Kind::request:
      return (cut & kCutRequests) != 0;
    case Kind::answer:
    case Kind::data:
    case Kind::old_value:
      return (cut & kCutAnswers) != 0;
    default:
      return packet.kind == Kind::datagram && (cut & kCutDatagrams) != 0;
  }
}

/// Pings and pongs are no packets of the network's: they tell that a peer has had the time to
/// answer.
bool is_lost(Context& context, Place to, const Packet& packet) {
  if (packet.kind == Kind::ping || packet.kind == Kind::pong) return false;
  control().count(kPackets);
  const Place from{packet.from_device, packet.from_port};
  if (port_is_up(from) && port_is_up(to) && !is_cut(packet) && !strikes(context, kLoss))
    return false;
  control().count(kLost);
  return true;
}

enum class Result : std::uint8_t { done, full };

/// @p key may have been dropped afterwards.
Result transmit(Context& context, std::uint32_t key, const Packet& packet, Payload payload) {
  Link* const link = find_link(context, key);
  if (link == nullptr) return Result::done;
  if (link->fd < 0 || !link->queued.empty()) return Result::full;
  const int error = send_now(link->fd, packet, payload);
  if (error == 0) return Result::done;
  if (error != EAGAIN && error != ENOBUFS && error != ENOMEM) {
    drop(context, key);
    return Result::done;
  }
  if (!link->told) watch(context, link->fd, EPOLLRDHUP | EPOLLOUT, EPOLL_CTL_MOD);
  link->told = true;
  return Result::full;
}

void queue(Context& context, std::uint32_t key, const Packet& packet, Payload payload) {
  Link& link = context.links[key];
  if (packet.kind == Kind::datagram && link.queued.size() >= kMostQueuedDatagrams)
    return control().count(kUnheardDatagrams);
  std::size_t bytes = sizeof packet;
  for (std::size_t i = 0; i < payload.count; ++i) bytes += payload.pieces[i].iov_len;
  std::vector<std::byte> copy(bytes);
  std::memcpy(copy.data(), &packet, sizeof packet);
  std::byte* at = copy.data() + sizeof packet;
  for (std::size_t i = 0; i < payload.count; ++i) {
    copy_unseen(at, payload.pieces[i].iov_base, payload.pieces[i].iov_len);
    at += payload.pieces[i].iov_len;
  }
  link.queued.push_back(std::move(copy));
}

/// There is room again.
void resume(Context& context, std::uint32_t key) {
  for (;;) {
    Link* const link = find_link(context, key);
    if (link == nullptr || link->fd < 0) return;
    if (link->queued.empty()) {
      if (link->told) watch(context, link->fd, EPOLLRDHUP, EPOLL_CTL_MOD);
      link->told = false;
      break;
    }
    const std::vector<std::byte>& first = link->queued.front();
    if (::send(link->fd, first.data(), first.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
      link->queued.pop_front();
      continue;
    }
    if (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM) return drop(context, key);
    if (!link->told) watch(context, link->fd, EPOLLRDHUP | EPOLLOUT, EPOLL_CTL_MOD);
    link->told = true;
    return;
  }
  for (const auto& [index, pair] : context.pairs)
    if (pair->talks_to(key)) pair->advance();
}

void accept_links(Context& context) {
  for (;;) {
    const int fd = accept4(context.listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    context.incoming.push_back(fd);
    watch(context, fd, EPOLLIN);
  }
}

/// Of one connection, until nothing more is there or others are to have their turn.
void receive(Context& context, int fd, std::unique_lock<std::mutex>& lock) {
  struct {
    Packet head;
    std::array<std::byte, kMaxPayload> payload;
  } in;
  for (int i = 0; i < kBatch; ++i) {
    const ssize_t got = recv(fd, &in, sizeof in, MSG_DONTWAIT);
    if (got <= 0) {
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
      std::erase(context.incoming, fd);
      close(fd);
      return;
    }
    const auto bytes = static_cast<std::size_t>(got);
    if (bytes < sizeof in.head || in.head.magic != Packet::kMagic) continue;
    if (strikes(context, kDelay)) {
      control().count(kDelayed);
      const std::uint64_t ns = context.random() % (control().time_ns[kDelay] + 1);
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
      lock.lock();
    }
    handle(context, in.head, in.payload.data(), bytes - sizeof in.head);
  }
}

void take_events(Context& context, const epoll_event* events, int count,
                 std::unique_lock<std::mutex>& lock) {
  for (int i = 0; i < count; ++i) {
    const int fd = events[i].data.fd;
    if (fd == context.wake) {
      std::uint64_t any = 0;
      (void)!read(fd, &any, sizeof any);
      continue;
    }
    if (fd == context.listener) {
      accept_links(context);
      continue;
    }
    if (std::find(context.incoming.begin(), context.incoming.end(), fd) != context.incoming.end()) {
      receive(context, fd, lock);
      continue;
    }
    const auto link = std::find_if(context.links.begin(), context.links.end(),
                                   [fd](const auto& entry) { return entry.second.fd == fd; });
    if (link == context.links.end()) continue;
    const std::uint32_t key = link->first;
    if ((events[i].events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) != 0)
      drop(context, key);
    else
      resume(context, key);
  }
}

void serve_links(Context& context) {
  std::vector<std::uint32_t> waiting;
  for (const auto& [key, link] : context.links)
    if (link.fd < 0) waiting.push_back(key);
  for (const std::uint32_t key : waiting) resume(context, key);
}

int patience_ms(Context& context) {
  const std::uint64_t next = context.next_timer_ns;
  context.wakes_at_ns = next;
  if (next == ~0ULL) return -1;
  const std::uint64_t now = now_ns();
  if (next <= now) return 0;
  constexpr std::uint64_t kMostMs = 3'600'000;
  return static_cast<int>(std::min((next - now + 999'999) / 1'000'000, kMostMs));
}

void run(Context& context) {
  pthread_setname_np(pthread_self(), "soft-verbs");
  std::array<epoll_event, 64> events;
  std::unique_lock lock(context.mutex);
  while (!context.ends) {
    send_owed(context);
    const int patience = patience_ms(context);
    lock.unlock();
    const int n =
        epoll_wait(context.poller, events.data(), static_cast<int>(events.size()), patience);
    lock.lock();
    context.wakes_at_ns = 0;  // it looks at the timers before it sleeps
    take_events(context, events.data(), n, lock);
    if (now_ns() < context.next_timer_ns) continue;
    context.next_timer_ns = ~0ULL;
    serve_links(context);
    run_timers(context);
  }
}

int open_sockets(Context& context) {
  context.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  context.poller = epoll_create1(EPOLL_CLOEXEC);
  context.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (context.listener < 0 || context.poller < 0 || context.wake < 0) return errno;
  if (const int error = take_slot(context); error != 0) return error;
  constexpr int kBacklog = 4096;
  if (listen(context.listener, kBacklog) != 0) return errno;
  watch(context, context.listener, EPOLLIN);
  watch(context, context.wake, EPOLLIN);
  return 0;
}

void wake_device(const Context& context) {
  const std::uint64_t one = 1;
  (void)!write(context.wake, &one, sizeof one);
}

}  // namespace

int start(Context& context) {
  {
    const std::lock_guard lock(context.mutex);
    if (context.dead) return EIO;
    if (context.slot != 0) return 0;
    if (const int error = open_sockets(context); error != 0) {
      context.slot = 0;
      return error;
    }
  }
  static const int kRegistered = pthread_atfork(before_fork, after_fork, in_child);
  (void)kRegistered;
  {
    const std::lock_guard all(g_mutex);
    g_contexts.push_back(&context);
  }
  // Signals are for the program's threads.
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  context.thread = std::thread([&context] { run(context); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return 0;
}

void stop(Context& context) {
  if (context.slot == 0) return;
  {
    const std::lock_guard all(g_mutex);
    std::erase(g_contexts, &context);
  }
  if (context.forked) {  // the thread and the sockets are the parent's
    context.thread.detach();
    return;
  }
  {
    const std::lock_guard lock(context.mutex);
    context.ends = true;
  }
  wake_device(context);
  context.thread.join();
  for (const int fd : context.incoming) close(fd);
  for (const auto& [key, link] : context.links)
    if (link.fd >= 0) close(link.fd);
  for (const int fd : {context.listener, context.poller, context.wake}) close(fd);
}

Sent try_send(Context& context, Place to, const Packet& packet, Payload payload) {
  if (context.forked) return Sent::full;
  const std::uint32_t key = link_key(to, packet.to_pair);
  if (const auto found = context.links.find(key);
      found != context.links.end() && (found->second.told || !found->second.queued.empty()))
    return Sent::full;
  if (is_lost(context, to, packet)) return Sent::yes;
  if (transmit(context, key, packet, payload) == Result::full) return Sent::full;
  if (!strikes(context, kDuplicate)) return Sent::yes;
  control().count(kDuplicated);
  (void)transmit(context, key, packet, payload);
  return Sent::yes;
}

void send(Context& context, Place to, const Packet& packet, Payload payload) {
  if (context.forked || is_lost(context, to, packet)) return;
  const std::uint32_t key = link_key(to, packet.to_pair);
  const bool twice =
      packet.kind != Kind::ping && packet.kind != Kind::pong && strikes(context, kDuplicate);
  if (twice) control().count(kDuplicated);
  for (int i = 0; i < (twice ? 2 : 1); ++i)
    if (transmit(context, key, packet, payload) == Result::full)
      queue(context, key, packet, payload);
}

bool is_reachable(Context& context, Place to, std::uint32_t pair) {
  return find_link(context, link_key(to, pair)) != nullptr;
}

void set_timer(Context& context, std::uint64_t ns) {
  context.next_timer_ns = std::min(context.next_timer_ns, ns);
  if (ns >= context.wakes_at_ns) return;
  context.wakes_at_ns = ns;
  wake_device(context);
}

bool strikes(Context& context, Fault fault) {
  const std::uint32_t chance = control().per_million[fault].load(std::memory_order_relaxed);
  return chance != 0 && context.random() % 1'000'000 < chance;
}

void send_owed(Context& context) {
  std::vector<QueuePair*> owes;
  owes.swap(context.owes);
  for (QueuePair* pair : owes) pair->acknowledge();
}

}  // namespace soft_verbs
