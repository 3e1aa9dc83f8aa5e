#include "tests/splitc/neg_objects.hpp"

long bump(global_ptr<long> counter) {
#ifdef VIADUCT_NEGATIVE
  return static_cast<long>(fetch_add(global_ptr<double>(counter), 1.0));
#else
  return fetch_add(counter, 1);
#endif
}
