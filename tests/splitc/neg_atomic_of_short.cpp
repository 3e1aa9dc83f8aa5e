#include "tests/splitc/neg_objects.hpp"

int bump(global_ptr<int> counter) {
#ifdef VIADUCT_NEGATIVE
  return fetch_add(global_ptr<short>(counter), short{1});
#else
  return fetch_add(counter, 1);
#endif
}
