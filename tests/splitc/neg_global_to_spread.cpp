#include "tests/splitc/neg_objects.hpp"

spread_ptr<int> spread(global_ptr<int> p) {
#ifdef VIADUCT_NEGATIVE
  return p;
#else
  return spread_ptr<int>(p);
#endif
}
