#include "tests/splitc/neg_objects.hpp"

global_ptr<int> itself(global_ptr<int> p) {
#ifdef VIADUCT_NEGATIVE
  return global_ptr<const int>(p);
#else
  return p;
#endif
}
