#include "tests/splitc/neg_objects.hpp"

int value(global_ptr<void> p) {
#ifdef VIADUCT_NEGATIVE
  return *p;
#else
  return *global_ptr<int>(p);
#endif
}
