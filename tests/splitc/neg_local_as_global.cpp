#include "tests/splitc/neg_objects.hpp"

int value(int* local) {
#ifdef VIADUCT_NEGATIVE
  return read<int>(local);
#else
  return read(toglobal(local));
#endif
}
