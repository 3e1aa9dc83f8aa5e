/// libibverbs' names of values, and what a program may call without need.

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>

namespace {

template <std::size_t N>
const char* name_at(const std::array<const char*, N>& names, int at) noexcept {
  return at >= 0 && static_cast<std::size_t>(at) < N ? names[static_cast<std::size_t>(at)]
                                                     : "unknown";
}

}  // namespace

extern "C" {

const char* ibv_wc_status_str(ibv_wc_status status) {
  static constexpr std::array<const char*, 22> kNames{"success",
                                                      "local length error",
                                                      "local QP operation error",
                                                      "local EE context operation error",
                                                      "local protection error",
                                                      "Work Request Flushed Error",
                                                      "memory management operation error",
                                                      "bad response error",
                                                      "local access error",
                                                      "remote invalid request error",
                                                      "remote access error",
                                                      "remote operation error",
                                                      "transport retry counter exceeded",
                                                      "RNR retry counter exceeded",
                                                      "local RDD violation error",
                                                      "remote invalid RD request",
                                                      "aborted error",
                                                      "invalid EE context number",
                                                      "invalid EE context state",
                                                      "fatal error",
                                                      "response timeout error",
                                                      "general error"};
  return name_at(kNames, static_cast<int>(status));
}

const char* ibv_port_state_str(ibv_port_state state) {
  static constexpr std::array<const char*, 6> kNames{"no state change", "down",   "init",
                                                     "armed",           "active", "active defer"};
  return name_at(kNames, static_cast<int>(state));
}

const char* ibv_event_type_str(ibv_event_type event) {
  static constexpr std::array<const char*, 20> kNames{"completion queue error",
                                                      "queue pair failed",
                                                      "request error",
                                                      "access error",
                                                      "communication established",
                                                      "send queue drained",
                                                      "path migrated",
                                                      "path migration failed",
                                                      "device failed",
                                                      "port active",
                                                      "port error",
                                                      "LID changed",
                                                      "partition keys changed",
                                                      "subnet manager changed",
                                                      "shared receive queue error",
                                                      "shared receive queue low",
                                                      "last request reached",
                                                      "client reregistration",
                                                      "GIDs changed",
                                                      "work queue failed"};
  return name_at(kNames, static_cast<int>(event));
}

const char* ibv_node_type_str(ibv_node_type type) {
  return type == IBV_NODE_CA ? "channel adapter" : "unknown";
}

/// A child of fork() uses nothing of the device's: there is nothing to prepare.
int ibv_fork_init(void) { return 0; }
ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }

}  // extern "C"
