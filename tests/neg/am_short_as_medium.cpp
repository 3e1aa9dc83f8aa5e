#include "tests/neg/am_messages.hpp"

viaduct::Status send(am::Endpoint& endpoint, am::Index to, [[maybe_unused]] std::span<int> ints,
                     [[maybe_unused]] std::span<double> doubles) {
#ifdef VIADUCT_NEGATIVE
  return endpoint.request_medium<on_short>(to, ints, 1, 2.0);
#else
  return endpoint.request<on_short>(to, 1, 2.0);
#endif
}
