#include "viaduct/am/future.hpp"

namespace am = viaduct::am;

void tell(am::Future<int> future) {
  auto then = std::move(future).then([](am::Result<int>) {});
#ifdef VIADUCT_NEGATIVE
  auto second = std::move(then).then([](am::Result<int>) {});
#else
  auto second = std::move(then);
#endif
  (void)second;
}
