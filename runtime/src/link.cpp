#include "runtime/src/link.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace viaduct::link {
namespace {

struct Header {
  Kind kind;
  std::uint16_t reserved;
  std::uint32_t rank;
  std::uint32_t number;
  std::int32_t cause;
  std::uint32_t key_bytes;
  std::uint32_t value_bytes;
};
static_assert(sizeof(Header) == 24);

constexpr std::size_t kReadStep = 65536;

Header read_header(std::span<const std::byte> bytes) noexcept {
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

bool wait_for(int fd, short what, Clock::time_point limit) noexcept {
  pollfd wanted{fd, what, 0};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now()).count();
    const int ready =
        ::poll(&wanted, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace

Link::Link(FileDescriptor socket, const Keys& keys) : socket_(std::move(socket)), keys_(keys) {}

void Link::close() noexcept {
  socket_.reset();
  out_.clear();
}

void Link::send(const Frame& frame) {
  if (!is_open()) return;
  const Header header{frame.kind,
                      0,
                      frame.rank,
                      frame.number,
                      frame.cause,
                      static_cast<std::uint32_t>(frame.key.size()),
                      static_cast<std::uint32_t>(frame.value.size())};
  const auto head = bytes_of_object(header);
  const auto key = bytes_of(frame.key);
  const Digest mac = authenticate(keys_.sending, {bytes_of_object(sent_), head, key, frame.value});
  ++sent_;
  out_.insert(out_.end(), head.begin(), head.end());
  out_.insert(out_.end(), key.begin(), key.end());
  out_.insert(out_.end(), frame.value.begin(), frame.value.end());
  out_.insert(out_.end(), mac.begin(), mac.end());
  if (holds_ == 0) flush();
}

void Link::flush() noexcept {
  std::size_t done = 0;
  while (is_open() && done < out_.size()) {
    const ssize_t sent =
        ::send(fd(), out_.data() + done, out_.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) done += static_cast<std::size_t>(sent);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    // The bytes that the peer sent before its end can still be read; fill() finds the end.
    if (sent < 0) return out_.clear();
  }
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(std::min(done, out_.size())));
}

void Link::fill() {
  while (is_open()) {
    std::array<std::byte, kReadStep> buffer;
    const ssize_t got = ::recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) in_.insert(in_.end(), buffer.data(), buffer.data() + got);
    if (got > 0 && static_cast<std::size_t>(got) == buffer.size()) continue;
    if (got > 0) return;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got < 0 && errno != ECONNRESET)
      complaint_ = fmt::format("the connection failed: {}", std::strerror(errno));
    return close();
  }
}

/// The frames that were taken are removed together: each removal moves all that has come after.
std::optional<Frame> Link::incomplete() {
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(std::exchange(taken_, 0)));
  return std::nullopt;
}

std::optional<Frame> Link::refuse(std::string complaint) {
  in_.clear();
  taken_ = 0;
  complaint_ = std::move(complaint);
  close();
  return std::nullopt;
}

std::optional<Frame> Link::next() {
  const std::span<const std::byte> bytes = std::span(in_).subspan(taken_);
  if (bytes.size() < sizeof(Header)) return incomplete();
  const Header header = read_header(bytes);
  if (header.key_bytes > kMaxKey || header.value_bytes > kMaxValue)
    return refuse(
        fmt::format("it sent a frame of {} and {} bytes", header.key_bytes, header.value_bytes));
  const std::size_t body = sizeof header + header.key_bytes + header.value_bytes;
  if (bytes.size() < body + sizeof(Digest)) return incomplete();
  Digest mac{};
  std::memcpy(mac.data(), bytes.data() + body, mac.size());
  const Digest expected =
      authenticate(keys_.receiving, {bytes_of_object(received_), bytes.first(body)});
  if (!equal_digests(mac, expected) || header.kind > Kind::last)
    return refuse(
        "it sent bytes that are not a frame of this connection: somebody meddles with it");
  ++received_;
  Frame frame{header.kind, header.rank, header.number, header.cause};
  const std::byte* const key = bytes.data() + sizeof header;
  frame.key.assign(reinterpret_cast<const char*>(key), header.key_bytes);
  frame.value.assign(key + header.key_bytes, key + header.key_bytes + header.value_bytes);
  taken_ += body + sizeof(Digest);
  return frame;
}

std::optional<Frame> Link::receive_until(Clock::time_point limit) {
  while (true) {
    if (auto frame = next()) return frame;
    if (!is_open() || !wait_for(fd(), POLLIN, limit)) return std::nullopt;
    fill();
  }
}

bool Link::flush_until(Clock::time_point limit) {
  flush();
  while (wants_to_write()) {
    if (!wait_for(fd(), POLLOUT, limit)) return false;
    flush();
  }
  return is_open();
}

}  // namespace viaduct::link
