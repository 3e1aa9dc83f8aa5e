#include "tests/neg/am_messages.hpp"

viaduct::Status send(am::Endpoint& endpoint, am::Index to, [[maybe_unused]] std::span<int> ints,
                     [[maybe_unused]] std::span<double> doubles) {
#ifdef VIADUCT_NEGATIVE
  return endpoint.get<on_bulk>(to, doubles, 0, 1);
#else
  return endpoint.get<on_bulk>(to, ints, 0, 1);
#endif
}
