#include "viaduct/via/types.hpp"

#include "runtime/enum_name.hpp"

namespace viaduct::via {

const char* to_string(ErrorCause cause) noexcept {
  constexpr const char* kNames[] = {
      "no error",
      "connection lost",
      "disconnected by the peer",
      "receive queue empty",
      "message longer than the receive",
      "protection check failed",
      "completion queue overrun",
      "malformed descriptor",
      "transport failed",
      "protection check refused the peer's RDMA write",
      "protection check refused the peer's RDMA read",
  };
  return enum_name<ErrorCause::rdma_read_refused>(kNames, cause, "unknown cause");
}

const char* to_string(ViState state) noexcept {
  constexpr const char* kNames[] = {
      "idle",
      "connected",
      "connecting",
      "error",
  };
  return enum_name<ViState::error>(kNames, state, "unknown state");
}

const char* to_string(ConnectResult result) noexcept {
  constexpr const char* kNames[] = {
      "connected", "timed out", "rejected", "reliability levels differ", "peer unreachable",
  };
  return enum_name<ConnectResult::unreachable>(kNames, result, "unknown result");
}

}  // namespace viaduct::via
