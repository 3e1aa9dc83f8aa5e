/// The library's allocation. As malloc does, a function answers null when there is no room, with a
/// sentence that names the exhausted memory: old programs check for null.

#include "viaduct/splitc/alloc.hpp"

#include <cstddef>
#include <exception>

#include "compiler-shim/runtime/c_callable.hpp"
#include "compiler-shim/runtime/leave_together.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/splitc.hpp"

namespace {

namespace detail = viaduct::splitc::detail;

/// allocate()'s answer, or null.
template <class F>
auto or_null(F&& allocate) -> decltype(allocate()) {
  try {
    return allocate();
  } catch (const viaduct::Error& problem) {
    if (problem.code() == std::errc::connection_reset) throw;  // a process is lost
    viaduct::splitc::job().log().write(viaduct::LogLevel::error, problem.what());
    return {};
  }
}

}  // namespace

VIADUCT_C_CALLABLE vsc_word all_spread_malloc(std::size_t count, std::size_t bytes) {
  const vsc_word array = or_null([&] { return detail::all_spread_malloc(count, bytes); });
  viaduct::shim::leave_together("all_spread_malloc");
  return array;
}
VIADUCT_C_CALLABLE void* all_malloc(std::size_t bytes) {
  void* const memory = or_null([&] { return detail::all_malloc(1, bytes); });
  viaduct::shim::leave_together("all_malloc");
  return memory;
}
VIADUCT_C_CALLABLE void all_spread_free(vsc_word array) {
  detail::all_spread_free(array);
  viaduct::shim::leave_together("all_spread_free");
}
VIADUCT_C_CALLABLE void all_free(void* address) {
  detail::all_free(address);
  viaduct::shim::leave_together("all_free");
}

VIADUCT_C_CALLABLE vsc_word spread_malloc(std::size_t count, std::size_t bytes) {
  return or_null([&] { return detail::spread_malloc(count, bytes); });
}
VIADUCT_C_CALLABLE void spread_free(vsc_word array) { detail::spread_free(array); }
