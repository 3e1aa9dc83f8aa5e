#include "tests/fault/set_up/devices.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/fault/set_up/inject.hpp"
#include "tests/soft-verbs/control.hpp"

#if __has_include(<infiniband/verbs.h>)
#include "via/verbs/src/library.hpp"
#endif

namespace set_up {
namespace {

#if __has_include(<infiniband/verbs.h>)
using viaduct::via::verbs::Library;

/// Puts itself in the place of @p function, a function of the devices' library or of a device's
/// table, and calls that function as an exempt one. There is one for each @p Tag.
template <class Tag, class Result, class... Arguments>
void exempt(Result (*&function)(Arguments...)) {
  static Result (*real)(Arguments...) = nullptr;
  if (real == nullptr) real = function;
  function = [](Arguments... arguments) {
    const inject::Exempt inside;
    return real(arguments...);
  };
}

/// The functions that libibverbs' header calls by a device's table.
void exempt_table(ibv_context& device) {
  exempt<struct PollQueue>(device.ops.poll_cq);
  exempt<struct ArmQueue>(device.ops.req_notify_cq);
  exempt<struct PostSend>(device.ops.post_send);
  exempt<struct PostReceive>(device.ops.post_recv);
  exempt<struct PostSharedReceive>(device.ops.post_srq_recv);
  exempt<struct QueryPort>(verbs_get_ctx(&device)->query_port);
}

ibv_context* (*g_open_device)(ibv_device*) = nullptr;
ibv_context* open_device(ibv_device* device) {
  ibv_context* const open = g_open_device(device);
  if (open != nullptr) exempt_table(*open);
  return open;
}

/// The devices' library maps its control file once in a process, and keeps it.
void prepare_library() {
  auto& library = const_cast<Library&>(viaduct::via::verbs::library());
#define VIADUCT_SET_UP_EXEMPT(prefix, name) exempt<struct Exempt_##name>(library.name);
  VIADUCT_VERBS_FUNCTIONS(VIADUCT_SET_UP_EXEMPT)
#undef VIADUCT_SET_UP_EXEMPT
  g_open_device = std::exchange(library.open_device, open_device);
  ibv_device** const devices = library.get_device_list(nullptr);
  if (devices == nullptr || devices[0] == nullptr) throw std::runtime_error("no device");
  ibv_context* const device = library.open_device(devices[0]);
  if (device != nullptr) library.close_device(device);
  library.free_device_list(devices);
}
#else
void prepare_library() { throw std::runtime_error("built without libibverbs' header"); }
#endif

soft_verbs::Control& software_devices() {
  static soft_verbs::Control* const control =
      soft_verbs::open_control(std::getenv("SOFT_VERBS_CONTROL"));
  if (control == nullptr) throw std::runtime_error("no control file of software devices");
  return *control;
}

/// The same family, which looks at the devices, too.
Family watched(const Family& family, const soft_verbs::Control& devices) {
  Family whole = family;
  whole.name += " on devices";
  whole.look = [look = family.look, &devices] {
    auto all = look();
    all.push_back(std::to_string(devices.regions) + " regions and " +
                  std::to_string(devices.objects) + " other objects of the devices");
    return all;
  };
  whole.prepare = [prepare = family.prepare] {
    prepare_library();
    prepare();
  };
  return whole;
}

}  // namespace

bool has_devices() { return std::getenv("SOFT_VERBS_CONTROL") != nullptr; }

void refuse_on_devices(const Family& family) {
  soft_verbs::Control& devices = software_devices();
  const auto refused = [&] { return devices.counters[soft_verbs::kRefusedCalls].load(); };
  std::uint64_t before = 0;
  const Injection refusal{"call of a device",
                          [&](long n) {
                            before = refused();
                            devices.refuse_call = static_cast<std::uint64_t>(n);
                          },
                          [&] {
                            devices.refuse_call = 0;
                            return refused() != before;
                          }};
  Family each = watched(family, devices);
  each.stride = 1;
  long attempts = 0;
  for (const std::string& wrong : try_all(each, refusal, attempts)) ADD_FAILURE() << wrong;
  std::printf("%s: %ld attempts with one refused call\n", each.name.c_str(), attempts);
  EXPECT_GT(attempts, 10) << "hardly anything was called";
}

void fail_beside_devices(const Family& family) { try_family(watched(family, software_devices())); }

}  // namespace set_up
