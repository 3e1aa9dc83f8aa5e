#include "tests/splitc/neg_objects.hpp"

double value(global_ptr<double> p) {
#ifdef VIADUCT_NEGATIVE
  float here = 0;
  wait(get(&here, p));
  return here;
#else
  double here = 0;
  wait(get(&here, p));
  return here;
#endif
}
