#pragma once
/// @file
/// libibverbs, loaded when it is first wanted: nothing of this project is linked with it.

#include <infiniband/verbs.h>

namespace viaduct::via::verbs {

/// The functions that libibverbs exports; those that its header defines inline go through the
/// device's own table and are called as ever (ibv_post_send, ibv_poll_cq, ...).
struct Library {
  decltype(&::ibv_get_device_list) get_device_list;
  decltype(&::ibv_free_device_list) free_device_list;
  decltype(&::ibv_get_device_name) get_device_name;
  decltype(&::ibv_open_device) open_device;
  decltype(&::ibv_close_device) close_device;
  decltype(&::ibv_query_device) query_device;
  decltype(&::_ibv_query_gid_ex) query_gid_ex;
  decltype(&::ibv_alloc_pd) alloc_pd;
  decltype(&::ibv_dealloc_pd) dealloc_pd;
  decltype(&::ibv_reg_mr) reg_mr;
  decltype(&::ibv_dereg_mr) dereg_mr;
  decltype(&::ibv_create_comp_channel) create_comp_channel;
  decltype(&::ibv_destroy_comp_channel) destroy_comp_channel;
  decltype(&::ibv_create_cq) create_cq;
  decltype(&::ibv_resize_cq) resize_cq;
  decltype(&::ibv_destroy_cq) destroy_cq;
  decltype(&::ibv_get_cq_event) get_cq_event;
  decltype(&::ibv_ack_cq_events) ack_cq_events;
  decltype(&::ibv_create_srq) create_srq;
  decltype(&::ibv_modify_srq) modify_srq;
  decltype(&::ibv_destroy_srq) destroy_srq;
  decltype(&::ibv_create_qp) create_qp;
  decltype(&::ibv_modify_qp) modify_qp;
  decltype(&::ibv_destroy_qp) destroy_qp;
  decltype(&::ibv_create_ah) create_ah;
  decltype(&::ibv_destroy_ah) destroy_ah;
  decltype(&::ibv_get_async_event) get_async_event;
  decltype(&::ibv_ack_async_event) ack_async_event;
  decltype(&::ibv_wc_status_str) wc_status_str;
};

/// Loads the library at the first call.  Throws Error with the package's name when it is not there.
/// The object is not const: tests put functions that fail in the place of its own, before a device
/// is opened.
[[nodiscard]] const Library& library();

}  // namespace viaduct::via::verbs
