// Step 2: a request and its reply. Rank 0 sends two numbers to the last rank, whose handler replies
// with their sum.
//
//     viaduct-run -n 4 build/release/examples/step2_request

#include <cstdio>

#include <viaduct/am.hpp>
#include <viaduct/job.hpp>

namespace am = viaduct::am;

thread_local int sum = 0;
void on_sum(am::Token&, int x) { sum = x; }
void on_add(am::Token& token, int a, int b) { token.reply<on_sum>(a + b); }

int body(viaduct::Job& job, int, char**) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();  // index r is endpoint 0 of rank r
  if (job.rank() == viaduct::Rank{0}) {
    if (endpoint.request<on_add>(am::Index{job.size() - 1}, 40, 2) != viaduct::Status::ok) return 1;
    if (bundle.wait_until([] { return sum != 0; }) != viaduct::Status::ok) return 1;
    std::printf("the last rank says %d\n", sum);
  }
  // Rank 0 is here when it has its answer; the last rank runs the handler while it waits here.
  if (bundle.barrier() != viaduct::Status::ok) return 1;
  return job.rank() == viaduct::Rank{0} && sum != 42 ? 1 : 0;
}

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
