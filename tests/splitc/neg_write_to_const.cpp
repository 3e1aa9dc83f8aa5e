#include "tests/splitc/neg_objects.hpp"

void set(global_ptr<int> to) {
#ifdef VIADUCT_NEGATIVE
  *global_ptr<const int>(to) = 1;
#else
  *to = 1;
#endif
}
