// Takes more than there is, and says how it was told.
//
//     greedy segment BYTES   a segment of so many bytes
//     greedy maps            a MAP to every rank; what comes back is counted by its reason

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace am = viaduct::am;
using viaduct::Status;

namespace {

thread_local std::uint32_t answered = 0;
void on_back(am::Token&) { ++answered; }
void on_hello(am::Token& token) { token.reply<on_back>(); }

int body(viaduct::Job& job, int argc, char** argv) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  if (argc > 2 && std::strcmp(argv[1], "segment") == 0) {
    (void)endpoint.make_segment(std::strtoull(argv[2], nullptr, 10));
    return bundle.barrier() == Status::ok ? 0 : 1;
  }
  std::uint32_t congestion = 0;
  std::uint32_t other = 0;
  endpoint.set_undeliverable_handler([&](const am::Returned& returned) {
    ++(returned.status == am::Undeliverable::congestion ? congestion : other);
  });
  if (index(job.rank()) == 0) {
    for (std::uint32_t r = 0; r < job.size(); ++r)
      if (endpoint.request<on_hello>(am::Index{r}) != Status::ok) return 3;
    if (bundle.wait_until([&] { return answered + congestion + other == job.size(); }) !=
        Status::ok)
      return 4;
    std::printf("greedy: %u answered, %u congestion, %u other\n", answered, congestion, other);
  }
  if (bundle.barrier() != Status::ok) return 5;
  return other == 0 ? 0 : 6;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
