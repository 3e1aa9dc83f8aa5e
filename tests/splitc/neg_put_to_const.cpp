#include "tests/splitc/neg_objects.hpp"

void set(global_ptr<int> to) {
#ifdef VIADUCT_NEGATIVE
  put(global_ptr<const int>(to), 1);
#else
  put(to, 1);
#endif
}
