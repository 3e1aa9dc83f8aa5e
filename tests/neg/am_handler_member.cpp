#include "tests/neg/am_messages.hpp"

#ifdef VIADUCT_NEGATIVE
struct Counter {
  void on_shape(am::Token&, int);
};
#else
struct Counter {
  static void on_shape(am::Token&, int);
};
#endif

viaduct::Status send(am::Endpoint& endpoint, am::Index to) {
  return endpoint.request<&Counter::on_shape>(to, 1);
}
