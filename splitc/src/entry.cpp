/// From main to splitc_main.

#include "splitc/detail/machine.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/splitc.hpp"

namespace viaduct::splitc {
namespace {

int (*g_body)(int, char**) = nullptr;

int run_body(Job& job, int argc, char** argv) {
  detail::Machine machine(job);
  const int code = g_body(argc, argv);
  if (code != 0) machine.set_failed();
  return code;
}

}  // namespace

Job& job() { return detail::machine_in_call("job").job(); }

double get_seconds() noexcept { return static_cast<double>(monotonic_ns()) * 1e-9; }

int run(int (*body)(int, char**), int argc, char** argv) {
  g_body = body;
  return viaduct::run(run_body, argc, argv);
}

}  // namespace viaduct::splitc
