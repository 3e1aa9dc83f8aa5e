// A job that hangs in a known way, for the report of what every rank waits for: rank 0 waits for a
// message that nobody sends, rank 1 for a credit towards rank 2, which computes and does not poll;
// rank 4 for the reply of rank 5, whose handler does not return; all others wait in a barrier.

#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <span>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace am = viaduct::am;
using viaduct::Status;

namespace {

void on_nothing(am::Token&, std::uint64_t) {}
void on_data(am::Token&, std::span<const std::byte>) {}
thread_local bool met = false;
void on_met(am::Token&) { met = true; }
void on_stuck(am::Token&) {
  while (true) ::pause();
}

int body(viaduct::Job& job, int, char**) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  const std::uint32_t me = index(job.rank());
  if (me == 1 && endpoint.request<on_met>(am::Index{2}) != Status::ok) return 1;
  if (me == 2 && bundle.wait_until([] { return met; }) != Status::ok) return 1;
  if (bundle.barrier() != Status::ok) return 1;
  std::printf("rank %u goes\n", me);
  std::fflush(stdout);
  if (me == 0) return bundle.wait() == Status::ok ? 0 : 1;
  const std::byte data[1000] = {};
  if (me == 1 && endpoint.request_medium<on_data>(am::Index{2}, std::span<const std::byte>(data)) !=
                     Status::ok)
    return 1;
  if (me == 1)
    while (endpoint.request<on_nothing>(am::Index{2}, std::uint64_t{0}) == Status::ok) {
    }
  if (me == 2)
    while (true) ::pause();
  if (me == 4 && endpoint.request<on_stuck>(am::Index{5}) != Status::ok) return 1;
  if (me >= 4) return bundle.wait() == Status::ok ? 0 : 1;
  return bundle.barrier() == Status::ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
