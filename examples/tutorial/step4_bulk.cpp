// Step 4: data. A bulk request writes an array into the next rank's segment; its handler runs there
// when the whole array has come.
//
//     viaduct-run -n 4 build/release/examples/step4_bulk

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

#include <viaduct/am.hpp>
#include <viaduct/job.hpp>

namespace am = viaduct::am;

constexpr std::size_t kWords = 10'000;
thread_local std::uint64_t sum = 0;

void on_array(am::Token&, std::span<std::uint64_t> words) {
  sum = std::accumulate(words.begin(), words.end(), std::uint64_t{0});
}

int body(viaduct::Job& job, int, char**) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  endpoint.make_segment(kWords * sizeof(std::uint64_t));  // where others may write
  if (bundle.barrier() != viaduct::Status::ok) return 1;  // all have their segment
  const std::uint32_t me = index(job.rank());
  const std::vector<std::uint64_t> words(kWords, me + 1);
  const am::Index next{(me + 1) % job.size()};
  if (endpoint.request_bulk<on_array>(next, words, 0) != viaduct::Status::ok) return 1;
  // No array comes from a rank that is lost.
  (void)bundle.wait_until([&] { return sum != 0 || job.life_epoch() != 0; });
  if (sum == 0) {
    std::fprintf(stderr, "rank %u gives up, since another rank is lost\n", me);
    return 1;
  }
  const std::uint32_t previous = (me + job.size() - 1) % job.size();
  std::printf("rank %u: the array of rank %u adds up to %llu\n", me, previous,
              static_cast<unsigned long long>(sum));
  if (bundle.barrier() != viaduct::Status::ok) return 1;
  return sum == kWords * (previous + 1) ? 0 : 1;
}

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
