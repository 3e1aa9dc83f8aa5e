#include "tests/splitc/neg_objects.hpp"

global_ptr<void> next(global_ptr<void> p) {
#ifdef VIADUCT_NEGATIVE
  return p + 1;
#else
  return global_ptr<void>(global_ptr<char>(p) + 1);
#endif
}
