#include "tests/splitc/neg_objects.hpp"

int bump(global_ptr<int> to) {
#ifdef VIADUCT_NEGATIVE
  return fetch_add(global_ptr<const int>(to), 1);
#else
  return fetch_add(to, 1);
#endif
}
