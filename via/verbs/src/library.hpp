#pragma once
/// @file
/// libibverbs, loaded when it is first wanted: nothing of this project is linked with it.

#include <infiniband/verbs.h>

namespace viaduct::via::verbs {

/// The functions that libibverbs exports. Functions that its header defines inline go through the
/// device's own table and are called as usual (ibv_post_send, ibv_poll_cq, ...). F(prefix, name).
#define VIADUCT_VERBS_FUNCTIONS(F) \
  F(ibv_, get_device_list)         \
  F(ibv_, free_device_list)        \
  F(ibv_, get_device_name)         \
  F(ibv_, open_device)             \
  F(ibv_, close_device)            \
  F(ibv_, query_device)            \
  F(_ibv_, query_gid_ex)           \
  F(ibv_, alloc_pd)                \
  F(ibv_, dealloc_pd)              \
  F(ibv_, reg_mr)                  \
  F(ibv_, dereg_mr)                \
  F(ibv_, create_comp_channel)     \
  F(ibv_, destroy_comp_channel)    \
  F(ibv_, create_cq)               \
  F(ibv_, resize_cq)               \
  F(ibv_, destroy_cq)              \
  F(ibv_, get_cq_event)            \
  F(ibv_, ack_cq_events)           \
  F(ibv_, create_srq)              \
  F(ibv_, modify_srq)              \
  F(ibv_, destroy_srq)             \
  F(ibv_, create_qp)               \
  F(ibv_, modify_qp)               \
  F(ibv_, destroy_qp)              \
  F(ibv_, create_ah)               \
  F(ibv_, destroy_ah)              \
  F(ibv_, get_async_event)         \
  F(ibv_, ack_async_event)         \
  F(ibv_, wc_status_str)

struct Library {
#define VIADUCT_VERBS_MEMBER(prefix, name) decltype(&::prefix##name) name;
  VIADUCT_VERBS_FUNCTIONS(VIADUCT_VERBS_MEMBER)
#undef VIADUCT_VERBS_MEMBER
};

/// Loads the library at the first call.  Throws Error with the package's name when it is not there.
/// The object is not const: tests put functions that fail in the place of its own, before a device
/// is opened.
[[nodiscard]] const Library& library();

}  // namespace viaduct::via::verbs
