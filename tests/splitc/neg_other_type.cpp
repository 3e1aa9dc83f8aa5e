#include "tests/splitc/neg_objects.hpp"

global_ptr<long> other(global_ptr<int> p) {
#ifdef VIADUCT_NEGATIVE
  return p;
#else
  return global_ptr<long>(p);
#endif
}
