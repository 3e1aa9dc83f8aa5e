#include "tests/splitc/neg_objects.hpp"

double call() {
#ifdef VIADUCT_NEGATIVE
  return atomic<half>(1, Node{});
#else
  return atomic<half>(1, 2.0);
#endif
}
