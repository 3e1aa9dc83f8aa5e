#include "via/vi_answers.hpp"

#include <exception>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

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

Status refuse_argument(Job& job, const char* call, const std::string& why) noexcept {
  try {
    job.log().write(LogLevel::warn,
                    with_code(errors::refused_call, std::string(call) + ": " + why));
  } catch (const std::exception&) {  // no memory for the sentence
  }
  return Status::bad_argument;
}

Status refuse_rank(Job& job, const char* call, Rank rank) noexcept {
  return refuse_argument(
      job, call,
      "rank " + std::to_string(index(rank)) + " is out of range: " + describe_ranks(job.size()));
}

Status explain_accept(Job& job, const ConnectionRequest& request, Status answer) noexcept {
  if (answer != Status::bad_argument) return answer;
  return refuse_argument(job, "accept",
                         "the request of rank " + std::to_string(index(request.from)) +
                             " by discriminator " + std::to_string(request.discriminator) +
                             " is gone, or its VI has another reliability or other sizes: take "
                             "requests in time, and make both VIs alike");
}

}  // namespace viaduct::via
