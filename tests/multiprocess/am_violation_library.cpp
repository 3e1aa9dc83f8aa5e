/// @file
/// A library with a handler, which am_violation opens when its Context is there already.

#include "viaduct/am/endpoint.hpp"

namespace {
void on_late(viaduct::am::Token&, int) {}
}  // namespace

extern "C" [[gnu::visibility("default")]] void send_late(viaduct::am::Endpoint& endpoint,
                                                         viaduct::am::Index to) {
  (void)endpoint.request<on_late>(to, 1);
}
