/// @file
/// Split-C alone, then both models: what polls cost that find nothing. See idle_poll.sh.

#include "tests/mixed/idle_poll.hpp"
#include "viaduct/splitc.hpp"

using namespace viaduct;

namespace {

void poll_split_c() {
  for (int i = 0; i < kIdlePolls; ++i) splitc::poll();
}

}  // namespace

extern "C" [[gnu::noinline]] void viaduct_idle_split_c_alone() { poll_split_c(); }
extern "C" [[gnu::noinline]] void viaduct_idle_split_c_both() { poll_split_c(); }
extern "C" [[gnu::noinline]] void viaduct_idle_am_both(am::Bundle& bundle) { poll_idly(bundle); }

int splitc_main(int, char**) {
  viaduct_idle_split_c_alone();
  am::Context context(splitc::job());
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  viaduct_idle_split_c_both();
  viaduct_idle_am_both(bundle);
  return 0;
}
