#pragma once
/// @file
/// The answers that the VIs of all providers have in common.

#include <cstdint>
#include <string>

#include "viaduct/job.hpp"
#include "viaduct/via/completion_queue.hpp"
#include "viaduct/via/nic.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via {

/// Vi::send_wait() and receive_wait(). @p own: the completion queue of a work queue for which the
/// user has given none; null: the user has given one.  Blocks as CompletionQueue::wait().
/// @return ok, timeout, or bad_state where @p own is null.
[[nodiscard]] Status wait_for_own(CompletionQueue* own, Descriptor*& out,
                                  std::int64_t timeout_ns) noexcept;
/// Vi::send_done() and receive_done(): ok, retry, or bad_state where @p own is null.  Never blocks.
[[nodiscard]] Status take_own(CompletionQueue* own, Descriptor*& out) noexcept;

/// Vi::connect_peer_done(), behind progress. @p answer: of the last attempt; @p is_lost: whether
/// the peer is.  Never blocks.
[[nodiscard]] Status attempt_status(ViState state, ConnectResult answer, bool is_lost) noexcept;

/// @return bad_argument, for @p call; a warning says @p why, with the argument, its value and the
/// limit. The log counts sentences that come again.  Never blocks. Cost: a line of the log.
Status refuse_argument(Job& job, const char* call, const std::string& why) noexcept;
/// The same for a rank that the job does not have.
Status refuse_rank(Job& job, const char* call, Rank rank) noexcept;
/// @return @p answer, of Nic::accept(); a warning explains bad_argument, as refuse_argument() does.
Status explain_accept(Job& job, const ConnectionRequest& request, Status answer) noexcept;

}  // namespace viaduct::via
