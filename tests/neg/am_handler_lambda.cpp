#include "tests/neg/am_messages.hpp"

#ifdef VIADUCT_NEGATIVE
constexpr auto on_shape = [](int) {};
#else
constexpr auto on_shape = [](am::Token&, int) {};
#endif

viaduct::Status send(am::Endpoint& endpoint, am::Index to) {
  return endpoint.request<on_shape>(to, 1);
}
