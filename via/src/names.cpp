#include "viaduct/via/types.hpp"

namespace viaduct::via {

const char* to_string(ErrorCause cause) noexcept {
  switch (cause) {
    case ErrorCause::none:
      return "no error";
    case ErrorCause::connection_lost:
      return "connection lost";
    case ErrorCause::disconnected:
      return "disconnected by the peer";
    case ErrorCause::receive_queue_empty:
      return "receive queue empty";
    case ErrorCause::length:
      return "message longer than the receive";
    case ErrorCause::protection:
      return "protection check failed";
    case ErrorCause::queue_overrun:
      return "completion queue overrun";
    case ErrorCause::format:
      return "malformed descriptor";
    case ErrorCause::transport:
      return "transport failed";
  }
  return "unknown cause";
}

const char* to_string(ViState state) noexcept {
  switch (state) {
    case ViState::idle:
      return "idle";
    case ViState::connected:
      return "connected";
    case ViState::connecting:
      return "connecting";
    case ViState::error:
      return "error";
  }
  return "unknown state";
}

const char* to_string(ConnectResult result) noexcept {
  switch (result) {
    case ConnectResult::connected:
      return "connected";
    case ConnectResult::timed_out:
      return "timed out";
    case ConnectResult::rejected:
      return "rejected";
    case ConnectResult::mismatch:
      return "reliability levels differ";
    case ConnectResult::unreachable:
      return "peer unreachable";
  }
  return "unknown result";
}

}  // namespace viaduct::via
