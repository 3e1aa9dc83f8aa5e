#include "viaduct/runtime/types.hpp"

#ifdef VIADUCT_NEGATIVE
viaduct::Rank rank = 3;
#else
viaduct::Rank rank{3};
#endif
