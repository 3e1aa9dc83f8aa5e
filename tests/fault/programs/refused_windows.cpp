/// @file
/// Sends to a peer whose memory cannot be mapped, again and again: each request comes back.

#include <cstdint>
#include <cstdio>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace {

using namespace viaduct;

void on_nothing(am::Token&) {}

int body(Job& job, int, char**) {
  constexpr std::uint32_t kRequests = 1200;
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  std::uint32_t returned = 0;
  endpoint.set_undeliverable_handler([&](const am::Returned&) { ++returned; });
  const am::Index next{(index(job.rank()) + 1) % job.size()};
  for (std::uint32_t i = 0; i < kRequests; ++i) (void)endpoint.request<on_nothing>(next);
  if (returned == kRequests) return 0;
  std::printf("%u of %u requests have come back\n", returned, kRequests);
  return 1;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
