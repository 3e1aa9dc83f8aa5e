#include "runtime/src/link_server.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "runtime/src/address.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

constexpr LinkServer::Id kListener = 0;
constexpr LinkServer::Id kPause = ~LinkServer::Id{0};
constexpr std::size_t kSpareUnauthenticated = 256;  // connections that are not of this job
constexpr int kComersInOneTurn = 64;                // the others get their turn as well
constexpr itimerspec kPauseWhenFull{{}, {0, 10'000'000}};

}  // namespace

LinkServer::LinkServer(FileDescriptor listener, std::string secret, Owner& owner,
                       std::size_t expected)
    : listener_(std::move(listener)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      pause_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)),
      secret_(std::move(secret)),
      owner_(owner),
      most_unauthenticated_(expected + kSpareUnauthenticated) {
  const auto watch = [this](const FileDescriptor& what, Id id) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = id;
    return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, what.get(), &event) == 0;
  };
  if (!epoll_.is_open() || !watch(listener_, kListener) || !watch(pause_, kPause))
    throw_errno(errors::system_refused, "cannot watch the hub's socket");
}

/// Callers wait in the socket's queue while it is off.
void LinkServer::listen(bool on) {
  epoll_event event{};
  if (on) event.events = EPOLLIN;
  event.data.u64 = kListener;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &event);
  const itimerspec off{};
  ::timerfd_settime(pause_.get(), 0, on ? &off : &kPauseWhenFull, nullptr);
}

void LinkServer::turn() {
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const Id id = events[static_cast<std::size_t>(i)].data.u64;
    if (id == kListener) {
      accept_all();
      continue;
    }
    if (id == kPause) {
      listen(true);
      continue;
    }
    const auto found = connections_.find(id);
    if (found == connections_.end() || found->second.closed) continue;
    if (found->second.greeting)
      greet(id, found->second);
    else
      serve(id, found->second);
  }
  drop_closed();
}

std::size_t LinkServer::unauthenticated() const noexcept {
  return static_cast<std::size_t>(std::count_if(
      connections_.begin(), connections_.end(),
      [](const auto& each) { return each.second.greeting != nullptr && !each.second.closed; }));
}

bool LinkServer::drop_oldest_unauthenticated() {
  const auto oldest = std::find_if(connections_.begin(), connections_.end(), [](const auto& each) {
    return each.second.greeting != nullptr && !each.second.closed;
  });
  if (oldest == connections_.end()) return false;
  close(oldest->first);
  return true;
}

void LinkServer::accept_all() {
  for (int come = 0; come < kComersInOneTurn; ++come) {
    FileDescriptor socket(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const int problem = socket.is_open() ? 0 : errno;
    if (problem == EINTR) continue;
    const bool full = problem == EMFILE || problem == ENFILE;
    const bool dropped = (full || unauthenticated() >= most_unauthenticated_) &&
                         drop_oldest_unauthenticated();  // it has had its time
    if (full && !dropped) return listen(false);
    if (full) continue;
    if (!socket.is_open()) return;
    const int fd = socket.get();
    prepare_connection(fd);
    Connection connection;
    connection.socket = std::move(socket);
    connection.greeting = std::make_unique<handshake::Greeting>(secret_);
    const auto hello = bytes_of_object(connection.greeting->hello());
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = ++last_id_;
    // A new connection's buffer has room for a hello.
    if (::send(fd, hello.data(), hello.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
            static_cast<ssize_t>(hello.size()) ||
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      continue;
    connections_.emplace(last_id_, std::move(connection));
  }
}

void LinkServer::greet(Id id, Connection& connection) {
  auto* const into = reinterpret_cast<std::byte*>(&connection.hello);
  while (connection.hello_bytes < sizeof connection.hello) {
    const ssize_t got = ::recv(connection.socket.get(), into + connection.hello_bytes,
                               sizeof connection.hello - connection.hello_bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return close(id);
    connection.hello_bytes += static_cast<std::size_t>(got);
  }
  judge(id, connection);
}

void LinkServer::judge(Id id, Connection& connection) {
  using Outcome = handshake::Greeting::Outcome;
  using handshake::Answer;
  const Outcome outcome = connection.greeting->judge(connection.hello);
  if (outcome == Outcome::no_viaduct) return close(id);
  const bool proved = outcome == Outcome::proved;
  const std::string refusal = proved ? owner_.admit(connection.hello.caller) : std::string{};
  const Answer answer = !proved           ? Answer::wrong_secret
                        : refusal.empty() ? Answer::welcome
                                          : Answer::refused;
  const handshake::Verdict verdict = connection.greeting->verdict(answer, refusal);
  const auto bytes = bytes_of_object(verdict);
  const bool sent = ::send(connection.socket.get(), bytes.data(), bytes.size(),
                           MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
  if (!proved) owner_.wrong_secret();
  if (answer != Answer::welcome) return close(id);
  connection.link = link::Link(std::move(connection.socket), connection.greeting->keys());
  connection.greeting.reset();
  owner_.joined(id, connection.hello.caller);
  if (!sent) connection.link.close();  // the peer has gone already; serve() tells the owner
  serve(id, connection);
}

void LinkServer::serve(Id id, Connection& connection) {
  connection.link.flush();
  connection.link.fill();
  while (!connection.closed) {
    auto frame = connection.link.next();
    if (!frame) break;
    owner_.received(id, std::move(*frame));
  }
  if (connection.closed) return;
  if (!connection.link.is_open()) {
    connection.closed = true;
    return owner_.ended(id, connection.link.complaint());
  }
  watch_room(id, connection);
}

void LinkServer::send(Id id, const link::Frame& frame) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || found->second.closed || found->second.greeting) return;
  found->second.link.send(frame);
  watch_room(id, found->second);
}

void LinkServer::watch_room(Id id, Connection& connection) {
  const bool wanted = connection.link.wants_to_write();
  if (!connection.link.is_open() || wanted == connection.listens_for_room) return;
  connection.listens_for_room = wanted;
  epoll_event event{};
  event.events = wanted ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u64 = id;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.link.fd(), &event);
}

bool LinkServer::is_open(Id id) const {
  const auto found = connections_.find(id);
  return found != connections_.end() && !found->second.closed;
}

void LinkServer::close(Id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  connection.closed = true;  // a caller may still use it; drop_closed() removes it
  connection.link.close();
  connection.socket.reset();
}

void LinkServer::drop_closed() {
  for (auto each = connections_.begin(); each != connections_.end();)
    each = each->second.closed ? connections_.erase(each) : std::next(each);
}

void LinkServer::flush_until(link::Clock::time_point limit) {
  for (auto& [id, connection] : connections_) connection.link.flush_until(limit);
}

}  // namespace viaduct
