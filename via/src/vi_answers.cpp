#include "via/vi_answers.hpp"

namespace viaduct::via {

Status wait_for_own(CompletionQueue* own, Descriptor*& out, std::int64_t timeout_ns) noexcept {
  if (own == nullptr) return Status::bad_state;
  Completion c;
  const Status status = own->wait(c, timeout_ns);
  if (status == Status::ok) out = c.descriptor;
  return status;
}

Status take_own(CompletionQueue* own, Descriptor*& out) noexcept {
  const Status status = wait_for_own(own, out, 0);
  return status == Status::timeout ? Status::retry : status;
}

Status attempt_status(ViState state, ConnectResult answer, bool is_lost) noexcept {
  switch (state) {
    case ViState::connected:
      return Status::ok;
    case ViState::connecting:
      return Status::retry;
    case ViState::error:
      return is_lost ? Status::peer_lost : Status::bad_state;
    case ViState::idle:
      break;
  }
  if (answer == ConnectResult::unreachable) return Status::peer_lost;
  return answer == ConnectResult::mismatch ? Status::bad_argument : Status::bad_state;
}

}  // namespace viaduct::via
