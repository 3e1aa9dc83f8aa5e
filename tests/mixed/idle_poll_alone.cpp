/// @file
/// Active Messages without Split-C: what a poll costs that finds nothing. See idle_poll.sh.

#include "tests/mixed/idle_poll.hpp"

extern "C" [[gnu::noinline]] void viaduct_idle_am_alone(viaduct::am::Bundle& bundle) {
  poll_idly(bundle);
}

namespace {

int body(viaduct::Job& job, int, char**) {
  viaduct::am::Context context(job);
  viaduct::am::Bundle bundle(context);
  viaduct::am::Endpoint endpoint(bundle);
  endpoint.map_all();
  viaduct_idle_am_alone(bundle);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
