#pragma once
/// @file
/// Which changes of a queue pair's state there are, and what must and may be said with each.

#include <infiniband/verbs.h>

namespace soft_verbs {

/// Whether a pair of @p type may go from @p from to @p to with the attributes of @p mask.
[[nodiscard]] bool is_allowed(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to,
                              int mask) noexcept;

}  // namespace soft_verbs
