/// @file
/// A job that stands still: process 0 waits in Split-C for process 1, which waits in Active
/// Messages for what nobody sends. Hang reports name both.
///
///     viaduct-run -n 2 mixed_hang

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/splitc.hpp"

int splitc_main(int, char**) {
  using namespace viaduct;
  am::Context context(splitc::job());
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  splitc::barrier();
  if (MYPROC == 1) (void)bundle.wait_until([] { return false; });
  splitc::store_sync(8);
  return 0;
}
