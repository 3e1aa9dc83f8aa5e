#include "runtime/launcher/agent.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "runtime/errors/codes.hpp"
#include "runtime/launcher/exit_codes.hpp"
#include "runtime/launcher/input_watch.hpp"
#include "runtime/src/address.hpp"
#include "runtime/src/handshake.hpp"
#include "runtime/src/host.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::launcher {
namespace {

constexpr int kArguments = 5;
constexpr std::size_t kMostSecretBytes = 4096;

/// One line, byte by byte: the bytes behind it belong to rank 0.
std::string read_line() {
  std::string line;
  char next = 0;
  while (line.size() < kMostSecretBytes) {
    const ssize_t got = ::read(STDIN_FILENO, &next, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw Error(
          errors::remote_order, std::errc::connection_aborted,
          "standard input ended before the job's secret had come: viaduct-run has ended, or "
          "the remote command passes no standard input on (ssh -n, </dev/null)");
    if (next == '\n') return line;
    line += next;
  }
  return line;
}

link::Link call_home(const AgentCall& call, link::Clock::time_point limit) {
  std::string problem;
  FileDescriptor socket = connect_to(parse_addresses(call.addresses), limit, problem);
  if (!socket.is_open())
    throw Error(errors::agent_absent, std::errc::host_unreachable,
                fmt::format("the agent on {} cannot reach viaduct-run at {} ({}): is a firewall "
                            "between them? --address names another address",
                            host_name(), call.addresses, problem));
  handshake::Caller self{};
  self.role = handshake::Role::agent;
  self.rank = call.host;
  self.pid = ::getpid();
  self.host_key = handshake::fixed_text<64>(host_key());
  self.host_name = handshake::fixed_text<64>(host_name());
  return handshake::greet_hub(std::move(socket), self, call.secret, call.addresses, limit);
}

/// Tells viaduct-run why this host starts nothing.
int decline(link::Link& hub, const std::string& sentence) {
  hub.send(
      {link::Kind::failure, 0, kExitLauncher, static_cast<std::int32_t>(Weight::fatal), sentence});
  hub.send({link::Kind::done});
  hub.flush_until(link::Clock::now() + std::chrono::seconds(1));
  return kExitLauncher;
}

}  // namespace

bool is_agent(int argc, char** argv) { return argc > 1 && kAgentFlag == argv[1]; }

AgentCall read_agent_call(int argc, char** argv) {
  if (argc != kArguments)
    throw Error(errors::remote_order, std::errc::invalid_argument,
                "--agent is for viaduct-run --hosts alone, which knows what goes with it");
  AgentCall call;
  call.addresses = argv[2];
  call.host = static_cast<std::uint32_t>(std::atoi(argv[3]));
  call.limit_ms = static_cast<std::uint32_t>(std::atoi(argv[4]));
  call.secret = read_line();
  return call;
}

int run_agent(const AgentCall& call, const SupervisorLink& supervisor) {
  const auto limit = link::Clock::now() + std::chrono::milliseconds(call.limit_ms);
  link::Link hub;
  std::optional<link::Frame> start;
  {
    const InputWatch watch;
    hub = call_home(call, limit);
    // viaduct-run waits for the agents of all hosts, and ends the connection when one does not
    // come.
    start = hub.receive_until(limit + std::chrono::milliseconds(call.limit_ms));
  }
  if (!start || start->kind != link::Kind::start) return kExitLauncher;
  Order order = decode_order(start->value);
  if (::chdir(order.directory.c_str()) != 0) {
    const Error problem(errno, fmt::format("host {}: cannot change to the directory {}",
                                           order.part.host_name, order.directory));
    return decline(hub, problem.what());
  }
  return Launcher(order.options, supervisor, std::move(order.part), std::move(hub)).run();
}

}  // namespace viaduct::launcher
