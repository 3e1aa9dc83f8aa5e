#include "viaduct/am/task.hpp"

namespace am = viaduct::am;

am::Task wait_for(am::Future<int> future) {
#ifdef VIADUCT_NEGATIVE
  auto then = std::move(future).then([](am::Result<int>) {});
  const auto result = co_await then;
#else
  const auto result = co_await future;
#endif
  (void)result;
}
