#include "viaduct/am/endpoint.hpp"

namespace am = viaduct::am;

void keep(am::Token& token) {
#ifdef VIADUCT_NEGATIVE
  am::Token kept = token;
#else
  am::Token& kept = token;
#endif
  (void)kept;
}
