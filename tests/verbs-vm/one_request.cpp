/// @file
/// What a request costs over verbs before the device's own code is entered: `one_request COUNT`.
/// Rank 0 sends COUNT requests from a function that a profiler can find; rank 1 answers each.

#include <cstdlib>

#include "am/bundle.hpp"
#include "am/context.hpp"
#include "am/endpoint.hpp"
#include "runtime/job.hpp"

namespace {

using namespace viaduct;

std::uint64_t g_replies = 0;

void on_reply(am::Token&, std::uint64_t) { ++g_replies; }
void on_request(am::Token& token, std::uint64_t number) { token.reply<on_reply>(number); }

}  // namespace

/// The public call, alone in a function that is not inlined.
extern "C" [[gnu::noinline]] Status one_request(am::Endpoint& endpoint, am::Index to,
                                                std::uint64_t number) {
  return endpoint.request<on_request>(to, number);
}

namespace {

int body(Job& job, int argc, char** argv) {
  if (job.size() != 2 || argc != 2) return 2;
  const std::uint64_t count = std::strtoull(argv[1], nullptr, 10);
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  if (index(job.rank()) == 0) {
    constexpr std::uint64_t kBefore = 20;  // connects
    for (std::uint64_t i = 0; i < kBefore + count; ++i) {
      const Status sent = i < kBefore ? endpoint.request<on_request>(am::Index{1}, i)
                                      : one_request(endpoint, am::Index{1}, i);
      if (sent != Status::ok) return 1;
      if (bundle.wait_until([&] { return g_replies == i + 1; }) != Status::ok) return 1;
    }
  }
  return bundle.barrier() == Status::ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
