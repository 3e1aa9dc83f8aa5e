#include "runtime/src/wire_format.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace viaduct::wire_format {
namespace {

constexpr std::size_t kMaxDescriptors =
    8;  // more than are ever sent, so that strays are seen and closed

bool is_kind(std::uint16_t kind) noexcept {
  return (kind >= static_cast<std::uint16_t>(Kind::put) &&
          kind <= static_cast<std::uint16_t>(Kind::failing)) ||
         (kind >= static_cast<std::uint16_t>(Kind::released) &&
          kind <= static_cast<std::uint16_t>(Kind::refused));
}

std::string problem_of(const Header& header, std::size_t bytes) {
  if (header.magic != kMagic)
    return fmt::format("a message that starts with {:#010x}", header.magic);
  if (!is_kind(static_cast<std::uint16_t>(header.kind))) {
    return fmt::format("a message of unknown kind {}", static_cast<std::uint16_t>(header.kind));
  }
  if (header.key_bytes > kMaxKeyBytes) return fmt::format("a key of {} bytes", header.key_bytes);
  if (header.value_bytes > kMaxValueBytes)
    return fmt::format("a value of {} bytes", header.value_bytes);
  const std::size_t stated = sizeof(Header) + header.key_bytes + header.value_bytes;
  if (stated != bytes)
    return fmt::format("a message of {} bytes that says it has {}", bytes, stated);
  return {};
}

/// Keeps the first descriptor of @p message, closes all others.
FileDescriptor take_descriptor(msghdr& message) noexcept {
  FileDescriptor kept;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      FileDescriptor each(fd);
      if (!kept.is_open()) kept = std::move(each);
    }
  }
  return kept;
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  const Header header{kMagic, message.kind, static_cast<std::uint16_t>(message.key.size()),
                      message.rank, static_cast<std::uint32_t>(message.value.size())};
  std::vector<std::byte> bytes(sizeof header + message.key.size() + message.value.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  std::byte* at = bytes.data() + sizeof header;
  if (!message.key.empty()) std::memcpy(at, message.key.data(), message.key.size());
  if (!message.value.empty())
    std::memcpy(at + message.key.size(), message.value.data(), message.value.size());
  return bytes;
}

std::optional<Message> decode(std::span<const std::byte> bytes, std::string& problem) {
  Header header{};
  if (bytes.size() < sizeof header) {
    problem = fmt::format("a message of only {} bytes", bytes.size());
    return std::nullopt;
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  problem = problem_of(header, bytes.size());
  if (!problem.empty()) return std::nullopt;
  const auto* const key = reinterpret_cast<const char*>(bytes.data() + sizeof header);
  return Message{header.kind, header.rank, std::string_view(key, header.key_bytes),
                 bytes.subspan(sizeof header + header.key_bytes, header.value_bytes)};
}

int send(int socket, std::span<const std::byte> bytes, int fd, int flags) noexcept {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

int receive(int socket, Datagram& datagram, int flags) {
  datagram.bytes.resize(kMaxMessageBytes);
  iovec part{datagram.bytes.data(), datagram.bytes.size()};
  alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = -1;
  do {
    got = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno;
  datagram.fd = take_descriptor(message);
  datagram.truncated = (message.msg_flags & MSG_TRUNC) != 0;
  datagram.end_of_stream = got == 0;
  datagram.bytes.resize(static_cast<std::size_t>(got));
  return 0;
}

bool readable_within(int socket, std::chrono::milliseconds limit) noexcept {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + limit;
  pollfd wanted{socket, POLLIN, 0};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

}  // namespace viaduct::wire_format
