#include "tests/splitc/neg_objects.hpp"

void set(global_ptr<int> to, global_ptr<const int> from) {
#ifdef VIADUCT_NEGATIVE
  *global_ptr<const int>(to) = *from;
#else
  *to = *from;
#endif
}
