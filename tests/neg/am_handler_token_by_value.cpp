#include "tests/neg/am_messages.hpp"

#ifdef VIADUCT_NEGATIVE
void on_shape(am::Token, int);
#else
void on_shape(am::Token&, int);
#endif

viaduct::Status send(am::Endpoint& endpoint, am::Index to) {
  return endpoint.request<on_shape>(to, 1);
}
