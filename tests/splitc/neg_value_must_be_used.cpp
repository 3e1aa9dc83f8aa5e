#include "tests/splitc/neg_objects.hpp"

int value(global_ptr<int> p) {
#ifdef VIADUCT_NEGATIVE
  read(p);
  return 0;
#else
  return read(p);
#endif
}
