// Two ranks throw a number to and fro with Active Messages.
//
//     viaduct-run -n 2 build/release/examples/ping_pong     [ROUNDS]
//
// A request handler runs at the peer and may reply once; the reply's handler runs at the requester.
// Typed handlers are plain functions: their parameters are the message.

#include <cstdio>
#include <cstdlib>

#include <viaduct/am.hpp>
#include <viaduct/job.hpp>
#include <viaduct/runtime/clock.hpp>

namespace am = viaduct::am;

namespace {

// Handlers have no closure: they find their data through the rank's own state. Ranks may be
// threads.
thread_local int last_pong = 0;
thread_local bool finished = false;

void on_pong(am::Token&, int x) { last_pong = x; }
void on_ping(am::Token& token, int x) { token.reply<on_pong>(x + 1); }
void on_finished(am::Token&) { finished = true; }

int body(viaduct::Job& job, int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10000;
  if (rounds <= 0) {
    std::fprintf(stderr, "ping_pong: ROUNDS is a positive number, not '%s'\n", argv[1]);
    return 2;
  }
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();  // index r is rank r

  if (index(job.rank()) == 0) {
    const am::Index peer{job.size() - 1};  // alone in the job: ourselves
    const std::uint64_t start = viaduct::monotonic_ns();
    for (int i = 0; i < rounds; ++i) {
      if (endpoint.request<on_ping>(peer, i) != viaduct::Status::ok) return 1;
      while (last_pong != i + 1) bundle.poll();
    }
    const auto elapsed = static_cast<double>(viaduct::monotonic_ns() - start);
    std::printf("%d round trips, %.0f ns each way\n", rounds, elapsed / rounds / 2);
    for (std::uint32_t r = 1; r < job.size(); ++r)
      if (endpoint.request<on_finished>(am::Index{r}) != viaduct::Status::ok) return 1;
  } else {
    while (!finished) (void)bundle.wait();  // handles messages that come; sleeps when none do
  }
  return bundle.barrier() == viaduct::Status::ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
