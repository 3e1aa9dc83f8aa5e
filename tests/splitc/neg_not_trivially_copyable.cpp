#include "tests/splitc/neg_objects.hpp"

unsigned long size(global_ptr<Node> from) {
#ifdef VIADUCT_NEGATIVE
  return sizeof(read(global_ptr<Named>(from)));
#else
  return sizeof(read(from));
#endif
}
