#include "runtime/src/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <memory>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

using link::Clock;

constexpr int kBacklog = 1024;
constexpr int kIdleSeconds = 5;  // before the first of the probes, and between them
constexpr int kProbes = 2;
constexpr unsigned kUnansweredMs = 15'000;
constexpr auto kPatience = std::chrono::seconds(3);  // with one address, before the next is tried
constexpr long kBetweenTriesNs = 20'000'000;

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

AddressList resolve(const Address& address, bool passive) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  if (problem == 0) return {found, ::freeaddrinfo};
  throw Error(errors::hub_address, std::errc::address_not_available,
              fmt::format("the host \"{}\" of {} is not known ({})", address.host,
                          to_string(address), ::gai_strerror(problem)));
}

/// None with errno when it cannot be opened.
FileDescriptor open_listener(const addrinfo& at) {
  FileDescriptor listener(::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.is_open()) return {};
  const int fd = listener.get();
  const int yes = 1;
  const int no = 0;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  // "::" takes IPv4's connections as well, whatever the system's default.
  if (at.ai_family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (::bind(fd, at.ai_addr, at.ai_addrlen) == 0 && ::listen(fd, kBacklog) == 0) return listener;
  return {};
}

/// A connection to a port without a listener may reach this very socket, where the system has given
/// the socket that port. The socket is then connected to itself.
bool is_connected_to_itself(int fd) noexcept {
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t own_bytes = sizeof own;
  socklen_t peer_bytes = sizeof peer;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_bytes) == 0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_bytes) == 0 &&
         own_bytes == peer_bytes && std::memcmp(&own, &peer, own_bytes) == 0;
}

/// Connected, or none with errno.
FileDescriptor try_connect(const addrinfo& to, Clock::time_point limit) {
  FileDescriptor socket(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return {};
  const int fd = socket.get();
  int problem = ::connect(fd, to.ai_addr, to.ai_addrlen) == 0 ? 0 : errno;
  if (problem == EINPROGRESS) {
    pollfd wanted{fd, POLLOUT, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::min(limit, Clock::now() + kPatience) - Clock::now());
    socklen_t bytes = sizeof problem;
    if (::poll(&wanted, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) <= 0)
      problem = ETIMEDOUT;
    else if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &bytes) != 0)
      problem = errno;
  }
  if (problem == 0 && is_connected_to_itself(fd)) problem = ECONNREFUSED;
  if (problem == 0) return socket;
  errno = problem;
  return {};
}

bool is_loopback(const sockaddr& address) noexcept {
  constexpr std::uint32_t kNet = 127;
  if (address.sa_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == kNet;
  return address.sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

/// Many a machine gives its own name an address of the loopback (127.0.1.1 on Debian), while the
/// name leads other hosts to its real ones.
bool is_own_name_on_loopback(const Address& address, const addrinfo& found) {
  in6_addr number{};
  const bool numeric = ::inet_pton(AF_INET, address.host.c_str(), &number) == 1 ||
                       ::inet_pton(AF_INET6, address.host.c_str(), &number) == 1;
  return !numeric && address.host != "localhost" && is_loopback(*found.ai_addr);
}

std::string number_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* const bytes =
      address.sa_family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr)
          : &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) != nullptr ? text.data()
                                                                                    : "";
}

bool is_usable(const ifaddrs& each) {
  if (each.ifa_addr == nullptr || (each.ifa_flags & IFF_UP) == 0) return false;
  if (each.ifa_addr->sa_family == AF_INET) return true;
  if (each.ifa_addr->sa_family != AF_INET6) return false;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(*each.ifa_addr).sin6_addr;
  return !IN6_IS_ADDR_LINKLOCAL(&v6);  // it would need an interface's name on the other host
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  constexpr std::string_view kScheme = "tcp://";
  if (text.substr(0, kScheme.size()) != kScheme) return std::nullopt;
  text.remove_prefix(kScheme.size());
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return std::nullopt;
  std::uint16_t number = 0;
  const auto read = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.empty() || read.ec != std::errc{} || read.ptr != port.data() + port.size())
    return std::nullopt;
  return Address{std::string(host), std::string(port)};
}

std::string to_string(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return v6 ? fmt::format("tcp://[{}]:{}", address.host, address.port)
            : fmt::format("tcp://{}:{}", address.host, address.port);
}

std::vector<Address> parse_addresses(std::string_view list) {
  std::vector<Address> all;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const auto each = parse_address(list.substr(0, comma));
    if (!each) {
      throw Error(
          errors::bad_setting, std::errc::invalid_argument,
          fmt::format("\"{}\" is not an address: write tcp://HOST:PORT", list.substr(0, comma)));
    }
    all.push_back(*each);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return all;
}

FileDescriptor listen_at(const Address& address) {
  AddressList found = resolve(address, true);
  if (is_own_name_on_loopback(address, *found)) found = resolve({"::", address.port}, true);
  int problem = EADDRNOTAVAIL;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    FileDescriptor listener = open_listener(*each);
    if (listener.is_open()) return listener;
    problem = errno;
  }
  const char* const remedy =
      problem == EADDRINUSE
          ? "another program listens there, perhaps another job: take another port"
      : problem == EADDRNOTAVAIL ? "it must be an address of the host that rank 0 runs on"
                                 : "take another address or port";
  throw Error(errors::hub_address, problem,
              fmt::format("rank 0 cannot open the hub at {}: {}", to_string(address), remedy));
}

FileDescriptor listen_anywhere(bool loopback_only) {
  std::vector<Address> choices{{loopback_only ? "127.0.0.1" : "::", "0"}};
  if (!loopback_only) choices.push_back({"0.0.0.0", "0"});
  int problem = 0;
  for (const Address& each : choices) {
    const AddressList found = resolve(each, true);
    FileDescriptor listener = open_listener(*found);
    if (listener.is_open()) return listener;
    problem = errno;
  }
  throw Error(errors::system_refused, problem,
              "cannot open a socket for the other hosts to connect to");
}

std::uint16_t port_of(int socket) {
  sockaddr_storage at{};
  socklen_t bytes = sizeof at;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &bytes) != 0)
    throw_errno(errors::system_refused, "cannot ask for a socket's port");
  return ntohs(at.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(at).sin6_port
                                        : reinterpret_cast<const sockaddr_in&>(at).sin_port);
}

std::vector<std::string> own_addresses(std::uint16_t port, bool loopback_only) {
  std::vector<std::string> outward;
  std::vector<std::string> loopback;
  ifaddrs* all = nullptr;
  if (!loopback_only && ::getifaddrs(&all) == 0) {
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
      if (!is_usable(*each)) continue;
      const bool inward = (each->ifa_flags & IFF_LOOPBACK) != 0;
      (inward ? loopback : outward)
          .push_back(to_string(Address{number_of(*each->ifa_addr), std::to_string(port)}));
    }
    ::freeifaddrs(all);
  }
  if (loopback.empty()) loopback.push_back(to_string(Address{"127.0.0.1", std::to_string(port)}));
  outward.insert(outward.end(), loopback.begin(), loopback.end());
  return outward;
}

FileDescriptor connect_to(const std::vector<Address>& addresses, Clock::time_point limit,
                          std::string& last_problem) {
  do {
    for (const Address& address : addresses) {
      const AddressList found = resolve(address, false);
      for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
        FileDescriptor socket = try_connect(*each, limit);
        if (socket.is_open()) {
          prepare_connection(socket.get());
          return socket;
        }
        last_problem = std::strerror(errno);
      }
    }
    const timespec moment{0, kBetweenTriesNs};
    ::nanosleep(&moment, nullptr);
  } while (Clock::now() < limit);
  return {};
}

void prepare_connection(int socket) noexcept {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds, sizeof kIdleSeconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kIdleSeconds, sizeof kIdleSeconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof kProbes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnansweredMs, sizeof kUnansweredMs);
}

}  // namespace viaduct
