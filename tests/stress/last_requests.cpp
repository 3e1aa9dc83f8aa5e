// Endpoints end in any order after all that was sent has been handled: nothing comes back as
// undeliverable.
//
//     viaduct-run -n N last_requests [ROUNDS]
//
// Requests without a reply are acknowledged in batches. An endpoint that ends must have told its
// peers of the last ones, or they would take them for lost.

#include <cstdint>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace am = viaduct::am;
using viaduct::Status;

namespace {

thread_local std::uint64_t answers = 0;

void on_note(am::Token&, std::uint64_t) {}
void on_answer(am::Token&) { ++answers; }
void on_last(am::Token& token) { token.reply<on_answer>(); }

/// What came back in one life of an endpoint, or -1 when it could not be led.
long one_life(viaduct::Job& job, am::Context& context, std::uint16_t number,
              std::minstd_rand& random) {
  am::Bundle bundle(context);
  long returned = 0;
  am::Endpoint endpoint(bundle);
  endpoint.set_undeliverable_handler([&](const am::Returned&) { ++returned; });
  for (std::uint32_t r = 0; r < job.size(); ++r)
    if (endpoint.map(am::Index{r}, {viaduct::Rank{r}, number}, am::kTagAll) != Status::ok)
      return -1;
  if (bundle.barrier() != Status::ok) return -1;  // from here on everybody has this endpoint
  answers = 0;
  for (std::uint32_t r = 0; r < job.size(); ++r) {
    const std::uint64_t notes = random() % 20;
    for (std::uint64_t i = 0; i < notes; ++i)
      if (endpoint.request<on_note>(am::Index{r}, i) != Status::ok) return -1;
    if (endpoint.request<on_last>(am::Index{r}) != Status::ok) return -1;
  }
  if (bundle.wait_until([&] { return answers == job.size(); }) != Status::ok) return -1;
  if (bundle.barrier() != Status::ok) return -1;
  for (std::uint64_t polls = random() % 2000; polls != 0; --polls) (void)bundle.poll();
  return returned;
}

int body(viaduct::Job& job, int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  am::Context context(job);
  std::minstd_rand random(index(job.rank()) + 1);
  for (int round = 0; round < rounds; ++round) {
    const long returned = one_life(job, context, static_cast<std::uint16_t>(round), random);
    if (returned != 0) {
      // Thrown, because a rank that returns would wait for the others, and they for it.
      throw std::runtime_error("round " + std::to_string(round) + ": " + std::to_string(returned) +
                               " messages came back");
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
