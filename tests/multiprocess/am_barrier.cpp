/// @file
/// What a barrier of Active Messages promises: when it returns, the requests are handled that other
/// ranks of the host had sent to this one before. With more ranks than a bundle looks at in each
/// poll, so that rings are set aside and taken up again all the time.

#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "viaduct/am.hpp"
#include "viaduct/job.hpp"

namespace viaduct::am {
namespace {

std::uint32_t handled = 0;
void on_request(Token& /*token*/) { ++handled; }

/// Which ranks send in round @p round: all ranks come to the same answer.
std::uint32_t senders(std::uint32_t round) {
  const std::uint32_t h = (round + 1) * 0x9e3779b9U;
  return h ^ h >> 15;
}

int body(Job& job, int argc, char** argv) {
  const auto rounds = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1000);
  Context context(job);
  Bundle bundle(context);
  Endpoint endpoint(bundle);
  endpoint.map_all();
  const std::uint32_t me = index(job.rank());
  std::uint32_t wanted = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t mask = senders(round);
    if (me == 0) {
      for (std::uint32_t rank = 1; rank < job.size(); ++rank) wanted += mask >> rank & 1;
      for (std::uint32_t polls = mask % 400; polls != 0; --polls) bundle.poll();
    } else if ((mask >> me & 1) != 0) {
      for (std::uint32_t pauses = mask / me % 2000; pauses != 0; --pauses) __builtin_ia32_pause();
      if (endpoint.request<on_request>(Index{0}) != Status::ok) return 1;
    }
    if (bundle.barrier() != Status::ok) return 1;
    if (handled != wanted) {
      fmt::print(stderr, "round {}: {} of {} requests are handled\n", round, handled, wanted);
      return 1;
    }
    if (bundle.barrier() != Status::ok) return 1;  // the next round's requests come behind this
  }
  return 0;
}

}  // namespace
}  // namespace viaduct::am

int main(int argc, char** argv) { return viaduct::run(viaduct::am::body, argc, argv); }
