#include "viaduct/runtime/status.hpp"

viaduct::Status send();

bool sent() {
#ifdef VIADUCT_NEGATIVE
  send();
  return true;
#else
  return send() == viaduct::Status::ok;
#endif
}
