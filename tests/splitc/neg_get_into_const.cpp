#include "tests/splitc/neg_objects.hpp"

int value(global_ptr<int> p) {
#ifdef VIADUCT_NEGATIVE
  const int here = 0;
  wait(get(&here, p));
  return here;
#else
  int here = 0;
  wait(get(&here, p));
  return here;
#endif
}
