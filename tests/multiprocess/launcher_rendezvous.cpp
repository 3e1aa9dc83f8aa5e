#include "tests/multiprocess/launcher_rendezvous.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <algorithm>
#include <chrono>

#include "runtime/src/address.hpp"
#include "runtime/src/handshake.hpp"

namespace driver {

void expect_all_well(const std::vector<Result>& results) {
  for (const Result& result : results) EXPECT_EQ(result.code, 0) << result.err << result.out;
}

Listener take_port(bool listening) {
  Listener result;
  result.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof at;
  const bool works = ::bind(result.fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 &&
                     (!listening || ::listen(result.fd, 8) == 0) &&
                     ::getsockname(result.fd, reinterpret_cast<sockaddr*>(&at), &bytes) == 0;
  EXPECT_TRUE(works);
  result.address = "tcp://127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  return result;
}

std::string free_address() { return take_port(false).address; }

namespace {

/// Whether @p pid is an agent. Its watchdog is its child, and has the agent's name until it has set
/// its own.
bool is_agent(pid_t pid) {
  constexpr const char* kName = "viaduct-agent";
  return driver::name_of(pid) == kName && driver::name_of(driver::parent_of(pid)) != kName;
}

}  // namespace

pid_t agent_beside(const std::string& tag, const std::vector<pid_t>& known) {
  for (const pid_t pid : driver::processes_with(tag)) {
    const bool is_known = std::find(known.begin(), known.end(), pid) != known.end();
    if (!is_known && is_agent(pid)) return pid;
  }
  return 0;
}

viaduct::FileDescriptor call(const std::string& address) {
  std::string problem;
  const auto limit = viaduct::link::Clock::now() + std::chrono::seconds(60);
  return viaduct::connect_to(viaduct::parse_addresses(address), limit, problem);
}

viaduct::link::Link come_as(const Rendezvous& rendezvous, std::uint32_t rank, std::uint32_t size,
                            const std::string& host) {
  viaduct::handshake::Caller caller{};
  caller.role = viaduct::handshake::Role::rank;
  caller.rank = rank;
  caller.size = size;
  caller.pid = ::getpid();
  caller.host_key = viaduct::handshake::fixed_text<64>(host);
  caller.host_name = viaduct::handshake::fixed_text<64>(std::string(300, 'h'));
  return viaduct::handshake::greet_hub(call(rendezvous.address()), caller, kSecret,
                                       rendezvous.address(),
                                       viaduct::link::Clock::now() + std::chrono::seconds(60));
}

}  // namespace driver
