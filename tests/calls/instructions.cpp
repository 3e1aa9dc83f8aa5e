// A look-up at this process, so many times: with a request and a reply written by hand, and as a
// call. Callgrind counts what each takes (instructions.sh). A call allocates nothing.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/unit/allocations.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace am = viaduct::am;

namespace {

struct Table {
  std::uint64_t counts[64] = {};
};
constinit thread_local Table* table = nullptr;
constinit thread_local std::uint64_t found = 0;
constinit thread_local bool answered = false;

void on_found(am::Token&, std::uint64_t value) {
  found = value;
  answered = true;
}
void on_look_up(am::Token& token, std::uint64_t key) {
  token.reply<on_found>(table->counts[key % 64]);
}
std::uint64_t look_up(am::Token&, std::uint64_t key) { return table->counts[key % 64]; }

/// As the wait of a call: the poll is no part of it.
[[gnu::noinline]] void poll_once(am::Bundle& bundle) { bundle.poll(); }

}  // namespace

// The request and the reply written by hand, with the shortest loop that waits for the answer.

extern "C" [[gnu::noinline]] std::uint64_t viaduct_pairs_by_hand(am::Bundle& bundle,
                                                                 am::Endpoint& endpoint,
                                                                 am::Index to, std::uint64_t n) {
  std::uint64_t sum = 0;
  for (std::uint64_t key = 0; key < n; ++key) {
    answered = false;
    if (endpoint.request<on_look_up>(to, key) != viaduct::Status::ok) return 0;
    while (!answered) poll_once(bundle);
    sum += found;
  }
  return sum;
}

// Whole look-ups, as programs write them.

extern "C" [[gnu::noinline]] std::uint64_t viaduct_look_ups_by_hand(am::Bundle& bundle,
                                                                    am::Endpoint& endpoint,
                                                                    am::Index to, std::uint64_t n) {
  std::uint64_t sum = 0;
  for (std::uint64_t key = 0; key < n; ++key) {
    answered = false;
    if (endpoint.request<on_look_up>(to, key) != viaduct::Status::ok) return 0;
    if (bundle.wait_until([] { return answered; }) != viaduct::Status::ok) return 0;
    sum += found;
  }
  return sum;
}

extern "C" [[gnu::noinline]] std::uint64_t viaduct_look_ups_by_call(am::Endpoint& endpoint,
                                                                    am::Index to, std::uint64_t n) {
  std::uint64_t sum = 0;
  for (std::uint64_t key = 0; key < n; ++key) {
    const auto count = endpoint.call<look_up>(to, key).wait();
    if (!count) return 0;
    sum += *count;
  }
  return sum;
}

namespace {

int body(viaduct::Job& job, int argc, char** argv) {
  const std::uint64_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000;
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  Table own;
  for (std::uint64_t i = 0; i < 64; ++i) own.counts[i] = i * i;
  table = &own;
  std::uint64_t expected = 0;
  for (std::uint64_t key = 0; key < n; ++key) expected += own.counts[key % 64];
  const am::Index me{index(job.rank())};
  (void)endpoint.call<look_up>(me, std::uint64_t{0}).wait();  // connects
  const bool right = viaduct_pairs_by_hand(bundle, endpoint, me, n) == expected &&
                     viaduct_look_ups_by_hand(bundle, endpoint, me, n) == expected;
  const std::uint64_t before = allocations();  // of the set-up: the counter counts
  const bool calls_right = viaduct_look_ups_by_call(endpoint, me, n) == expected;
  const std::uint64_t during = allocations() - before;
  std::printf("%s, %llu allocations in %llu calls\n", right && calls_right ? "right" : "wrong",
              static_cast<unsigned long long>(during), static_cast<unsigned long long>(n));
  return right && calls_right && before != 0 && during == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
