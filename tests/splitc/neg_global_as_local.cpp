#include "tests/splitc/neg_objects.hpp"

int value(global_ptr<int> p) {
#ifdef VIADUCT_NEGATIVE
  int* local = p;
  return *local;
#else
  return *tolocal(p);
#endif
}
