#include "viaduct/job.hpp"

#ifdef VIADUCT_NEGATIVE
viaduct::Job again(viaduct::Job& job) { return job; }
#else
viaduct::Job& again(viaduct::Job& job) { return job; }
#endif
