#include "tests/splitc/neg_objects.hpp"

void set(global_ptr<int> to) {
#ifdef VIADUCT_NEGATIVE
  store(global_ptr<const int>(to), 1);
#else
  store(to, 1);
#endif
}
