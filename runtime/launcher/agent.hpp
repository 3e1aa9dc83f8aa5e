#pragma once
/// @file
/// viaduct-run --agent, which `viaduct-run --hosts` starts on each host. Not for users to call.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/launcher/launcher.hpp"
#include "runtime/launcher/options.hpp"
#include "runtime/launcher/supervisor.hpp"

namespace viaduct::launcher {

inline constexpr std::string_view kAgentFlag = "--agent";

/// viaduct-run --agent ADDRESSES HOST-NUMBER MILLISECONDS, the secret on standard input.
struct AgentCall {
  std::string addresses;
  std::uint32_t host = 0;
  std::uint32_t limit_ms = 0;
  std::string secret;
};

[[nodiscard]] bool is_agent(int argc, char** argv);
/// Reads the command line, and one line of standard input.  Throws Error.
[[nodiscard]] AgentCall read_agent_call(int argc, char** argv);
/// Connects to viaduct-run, and starts and keeps the ranks that it says. Answers the exit status.
[[nodiscard]] int run_agent(const AgentCall& call, const SupervisorLink& supervisor);

/// The order that tells an agent what to start, as bytes of a frame and back.
struct Order {
  Options options;
  Part part;
  std::string directory;
};
[[nodiscard]] std::vector<std::byte> encode_order(const Order& order);
/// Throws Error when it is malformed.
[[nodiscard]] Order decode_order(const std::vector<std::byte>& bytes);

}  // namespace viaduct::launcher
