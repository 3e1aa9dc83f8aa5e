// Two ranks throw a number to and fro with Active Messages.
//
//     viaduct-run -n 2 build/release/examples/ping_pong     [ROUNDS]
//
// A request handler runs at the peer and may reply once; the reply's handler runs at the requester.
// Typed handlers are plain functions: their parameters are the message. With --keep-going, and in a
// job without viaduct-run, a rank outlives the loss of another one, and has to look for it.

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

int give_up(const viaduct::Job& job) {
  std::fprintf(stderr, "ping_pong: rank %u gives up, since another rank is lost\n",
               index(job.rank()));
  return 1;
}

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
      if (endpoint.request<on_ping>(peer, i) != viaduct::Status::ok) return give_up(job);
      // A lost peer's reply does not come, but the request comes back, and stops the program.
      while (last_pong != i + 1) bundle.poll();
    }
    const auto elapsed = static_cast<double>(viaduct::monotonic_ns() - start);
    std::printf("%d round trips, %.0f ns each way\n", rounds, elapsed / rounds / 2);
    for (std::uint32_t r = 1; r < job.size(); ++r)
      if (endpoint.request<on_finished>(am::Index{r}) != viaduct::Status::ok) return give_up(job);
  } else {
    // Handles messages that come, and sleeps when none do. A wait does not end because a rank is
    // lost, so that the condition asks for that, too.
    (void)bundle.wait_until([&] { return finished || job.is_lost(viaduct::Rank{0}); });
    if (!finished) return give_up(job);
  }
  return bundle.barrier() == viaduct::Status::ok ? 0 : give_up(job);
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
