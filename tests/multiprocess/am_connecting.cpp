/// @file
/// Rank 0 sends its first message to the last rank, which never polls. Does not come to its end.

#include <unistd.h>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace {

using namespace viaduct;

void on_nothing(am::Token&) {}

int body(Job& job, int, char**) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  if (index(job.rank()) == 0) return static_cast<int>(endpoint.request<on_nothing>(am::Index{1}));
  while (true) ::pause();
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
