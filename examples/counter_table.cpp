// A distributed table of counters: every key has an owner, which alone touches the key's counter.
//
//     viaduct-run -n 4 build/release/examples/counter_table     [INCREMENTS]
//
// An increment is a request without an answer; a look-up is a call, which answers its handler's
// result. Handlers of one rank run one at a time, inside its polls, so that the table needs no
// lock. Handlers reach the table through the endpoint.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include <viaduct/am.hpp>
#include <viaduct/job.hpp>

namespace am = viaduct::am;

namespace {

constexpr std::uint64_t kKeys = 1000;

using Table = std::unordered_map<std::uint64_t, std::uint64_t>;  // this rank's part

void on_increment(am::Token& token, std::uint64_t key, std::uint64_t by) {
  token.state<Table>()[key] += by;
}
std::uint64_t look_up(am::Token& token, std::uint64_t key) {
  const Table& counters = token.state<Table>();
  const auto entry = counters.find(key);
  return entry == counters.end() ? 0 : entry->second;
}

/// A hash, the same in all ranks, spreads the keys over the ranks.
am::Index owner_of(std::uint64_t key, std::uint32_t ranks) {
  const std::uint64_t mixed = key * 0x9e3779b97f4a7c15ULL;
  return am::Index{static_cast<std::uint32_t>((mixed >> 32) % ranks)};
}

/// The key that rank @p r counts in its step @p i. Every rank can compute the key, and so can check
/// the sums.
std::uint64_t key_of(std::uint64_t r, std::uint64_t i) { return (i * 7919 + r * 104729) % kKeys; }
std::uint64_t amount_of(std::uint64_t r, std::uint64_t i) { return 1 + (r + i) % 3; }

int give_up(const viaduct::Job& job) {
  std::fprintf(stderr, "counter_table: rank %u gives up, since another rank is lost\n",
               index(job.rank()));
  return 1;
}

int body(viaduct::Job& job, int argc, char** argv) {
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 20000;
  if (wanted <= 0) {
    std::fprintf(stderr, "counter_table: INCREMENTS is a positive number, not '%s'\n", argv[1]);
    return 2;
  }
  const auto increments = static_cast<std::uint64_t>(wanted);
  const std::uint64_t me = index(job.rank());
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();  // index r is rank r, ourselves included
  Table counters;
  endpoint.set_state(counters);

  for (std::uint64_t i = 0; i < increments; ++i) {
    const std::uint64_t key = key_of(me, i);
    if (endpoint.request<on_increment>(owner_of(key, job.size()), key, amount_of(me, i)) !=
        viaduct::Status::ok)
      return give_up(job);
  }
  // A look-up is handled after our own increments of that key: requests between two endpoints keep
  // their order. A look-up at every owner shows that our increments have been handled. After the
  // barrier this holds for those of all ranks.
  for (std::uint32_t r = 0; r < job.size(); ++r)
    if (!endpoint.call<look_up>(am::Index{r}, 0).wait()) return give_up(job);
  if (bundle.barrier() != viaduct::Status::ok) return give_up(job);

  std::unordered_map<std::uint64_t, std::uint64_t> expected;
  for (std::uint64_t r = 0; r < job.size(); ++r)
    for (std::uint64_t i = 0; i < increments; ++i) expected[key_of(r, i)] += amount_of(r, i);

  int wrong = 0;
  for (std::uint64_t key = me; key < kKeys; key += job.size()) {  // the ranks share the checking
    const auto found = endpoint.call<look_up>(owner_of(key, job.size()), key).wait();
    if (!found) return give_up(job);
    if (*found != expected[key] && ++wrong == 1)
      std::fprintf(stderr, "counter_table: key %llu counts %llu, not %llu\n",
                   static_cast<unsigned long long>(key), static_cast<unsigned long long>(*found),
                   static_cast<unsigned long long>(expected[key]));
  }
  if (bundle.barrier() != viaduct::Status::ok) return give_up(job);
  if (me == 0)
    std::printf(
        "%llu increments of %llu keys by %u ranks; rank 0 owns %zu keys and found %d of its share "
        "wrong\n",
        static_cast<unsigned long long>(increments * job.size()),
        static_cast<unsigned long long>(kKeys), job.size(), counters.size(), wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
