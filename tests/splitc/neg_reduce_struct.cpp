#include "tests/splitc/neg_objects.hpp"

double sum(Node n) {
#ifdef VIADUCT_NEGATIVE
  return all_reduce_add(n).weight;
#else
  return all_reduce_add(n.weight);
#endif
}
