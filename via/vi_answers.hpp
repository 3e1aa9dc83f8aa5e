#pragma once
/// @file
/// What the VIs of all providers answer alike, whatever lies behind them.

#include <cstdint>

#include "viaduct/via/completion_queue.hpp"
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

}  // namespace viaduct::via
