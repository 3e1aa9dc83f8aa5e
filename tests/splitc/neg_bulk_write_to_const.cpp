#include "tests/splitc/neg_objects.hpp"

void set(global_ptr<int> to, const int* from) {
#ifdef VIADUCT_NEGATIVE
  bulk_write(global_ptr<const int>(to), from, 9);
#else
  bulk_write(to, from, 9);
#endif
}
