#include "viaduct/runtime/status.hpp"

namespace viaduct {

const char* to_string(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::retry:
      return "retry";
    case Status::peer_lost:
      return "peer lost";
    case Status::timeout:
      return "timeout";
    case Status::bad_argument:
      return "bad argument";
    case Status::bad_state:
      return "bad state";
  }
  return "unknown status";
}

}  // namespace viaduct
