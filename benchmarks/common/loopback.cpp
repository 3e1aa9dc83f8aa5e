#include "benchmarks/common/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "benchmarks/common/stopwatch.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

sockaddr_in loopback_address(std::uint16_t port) noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

void require(bool done, const char* what) {
  if (!done) throw_errno(std::string("loopback sockets: ") + what);
}

// Binds to any free port and returns its number.
std::uint16_t bind_somewhere(int socket) {
  sockaddr_in address = loopback_address(0);
  socklen_t length = sizeof address;
  require(bind(socket, reinterpret_cast<sockaddr*>(&address), length) == 0, "cannot bind");
  require(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) == 0,
          "cannot ask for the port");
  return ntohs(address.sin_port);
}

void connect_to(int socket, double port) {
  const sockaddr_in address = loopback_address(static_cast<std::uint16_t>(port));
  require(connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
          "cannot connect");
}

}  // namespace

// TCP: the peer listens, the sender connects. UDP: both bind, then each connects to the other's
// port.
Loopback::Loopback(Pair& pair, Transport transport) : pair_(pair) {
  const int type = transport == Transport::tcp ? SOCK_STREAM : SOCK_DGRAM;
  socket_ = FileDescriptor(socket(AF_INET, type | SOCK_CLOEXEC, 0));
  require(socket_.is_open(), "cannot create a socket");
  const double port = bind_somewhere(socket_.get());
  if (transport == Transport::udp) {
    connect_to(socket_.get(), pair.exchange(port));
    pair.meet();
    return;
  }
  if (!pair.is_sender()) require(listen(socket_.get(), 1) == 0, "cannot listen");
  const double peers_port = pair.exchange(port);
  if (pair.is_sender()) {
    connect_to(socket_.get(), peers_port);
  } else {
    FileDescriptor accepted(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    require(accepted.is_open(), "cannot accept");
    socket_ = std::move(accepted);
  }
  const int on = 1;
  require(setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0,
          "cannot switch off Nagle's algorithm");
}

void Loopback::send_word(std::uint64_t word) {
  require(send(socket_.get(), &word, sizeof word, MSG_NOSIGNAL) == sizeof word, "cannot send");
}

std::uint64_t Loopback::await_word() {
  for (;;) {
    std::uint64_t word = 0;
    const ssize_t got = recv(socket_.get(), &word, sizeof word, MSG_DONTWAIT);
    if (got == sizeof word) return word;
    const bool nothing_yet = got < 0 && (errno == EAGAIN || errno == EINTR);
    if (!nothing_yet) {
      errno = got >= 0 ? ECONNRESET : errno;
      require(false, "cannot receive");
    }
  }
}

double Loopback::rtt_half_ns(std::uint64_t round_trips) {
  pair_.meet();
  const Stopwatch watch;
  for (std::uint64_t trip = 0; trip < round_trips; ++trip) {
    if (pair_.is_sender()) {
      send_word(trip);
      if (await_word() != trip) throw Error(std::errc::io_error, "loopback sockets: wrong answer");
    } else {
      send_word(await_word());
    }
  }
  return pair_.from_sender(watch.elapsed_ns() / static_cast<double>(2 * round_trips));
}

CrossMemory::CrossMemory(Pair& pair, std::size_t bytes)
    : pair_(pair), memory_(std::make_unique<std::byte[]>(bytes)) {
  const double peers_pid = pair.exchange(static_cast<double>(getpid()));
  const double address = pair.exchange(
      static_cast<double>(reinterpret_cast<std::uintptr_t>(memory_.get())));  // 47 bits: exact
  peer_ = static_cast<pid_t>(peers_pid);
  target_ = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
  works_ = pair.from_sender(peer_ != getpid() && write(1) ? 1 : 0) > 0;
}

bool CrossMemory::write(std::size_t bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes) {
    const iovec local{memory_.get() + done, bytes - done};
    const iovec remote{target_ + done, bytes - done};
    const ssize_t moved = process_vm_writev(peer_, &local, 1, &remote, 1, 0);
    if (moved <= 0) return false;
    done += static_cast<std::size_t>(moved);
  }
  return true;
}

double CrossMemory::write_gbs(std::size_t bytes, std::uint32_t copies) {
  pair_.meet();
  double gbs = 0;
  if (pair_.is_sender()) {
    const Stopwatch watch;
    for (std::uint32_t copy = 0; copy < copies; ++copy) {
      if (!write(bytes)) throw_errno("process_vm_writev worked once and then no more");
    }
    gbs = static_cast<double>(bytes) * copies / watch.elapsed_ns();
  }
  return pair_.from_sender(gbs);
}

}  // namespace viaduct::bench
