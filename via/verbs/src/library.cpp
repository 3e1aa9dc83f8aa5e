#include "via/verbs/src/library.hpp"

#include <dlfcn.h>

#include <string>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::verbs {

namespace {

constexpr const char* kName = "libibverbs.so.1";

class Loader {
 public:
  Loader() : handle_(dlopen(kName, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr)
      throw Error(errors::rdma_device, std::errc::no_such_device,
                  std::string("provider verbs needs libibverbs, which cannot be loaded (") +
                      dlerror() +
                      "): install it with the devices' drivers (Debian: libibverbs1 and "
                      "ibverbs-providers), or use provider shm");
  }

  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (function == nullptr)
      throw Error(
          errors::rdma_device, std::errc::no_such_device,
          std::string(kName) + " has no function " + name + ": it is older than version 28");
  }

 private:
  void* handle_;  // never closed: objects of the library live as long as the process
};

Library load() {
  Loader loader;
  Library l{};
  loader.find(l.get_device_list, "ibv_get_device_list");
  loader.find(l.free_device_list, "ibv_free_device_list");
  loader.find(l.get_device_name, "ibv_get_device_name");
  loader.find(l.open_device, "ibv_open_device");
  loader.find(l.close_device, "ibv_close_device");
  loader.find(l.query_device, "ibv_query_device");
  loader.find(l.query_gid_ex, "_ibv_query_gid_ex");
  loader.find(l.alloc_pd, "ibv_alloc_pd");
  loader.find(l.dealloc_pd, "ibv_dealloc_pd");
  loader.find(l.reg_mr, "ibv_reg_mr");
  loader.find(l.dereg_mr, "ibv_dereg_mr");
  loader.find(l.create_comp_channel, "ibv_create_comp_channel");
  loader.find(l.destroy_comp_channel, "ibv_destroy_comp_channel");
  loader.find(l.create_cq, "ibv_create_cq");
  loader.find(l.resize_cq, "ibv_resize_cq");
  loader.find(l.destroy_cq, "ibv_destroy_cq");
  loader.find(l.get_cq_event, "ibv_get_cq_event");
  loader.find(l.ack_cq_events, "ibv_ack_cq_events");
  loader.find(l.create_srq, "ibv_create_srq");
  loader.find(l.modify_srq, "ibv_modify_srq");
  loader.find(l.destroy_srq, "ibv_destroy_srq");
  loader.find(l.create_qp, "ibv_create_qp");
  loader.find(l.modify_qp, "ibv_modify_qp");
  loader.find(l.destroy_qp, "ibv_destroy_qp");
  loader.find(l.create_ah, "ibv_create_ah");
  loader.find(l.destroy_ah, "ibv_destroy_ah");
  loader.find(l.get_async_event, "ibv_get_async_event");
  loader.find(l.ack_async_event, "ibv_ack_async_event");
  loader.find(l.wc_status_str, "ibv_wc_status_str");
  return l;
}

}  // namespace

const Library& library() {
  static Library loaded = load();
  return loaded;
}

}  // namespace viaduct::via::verbs
