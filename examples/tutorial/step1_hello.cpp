// Step 1: a job. Every rank runs this program; a rank knows its number and how many there are.
//
//     viaduct-run -n 4 build/release/examples/step1_hello

#include <cstdio>

#include <viaduct/job.hpp>

int body(viaduct::Job& job, int, char**) {
  std::printf("rank %u of %u\n", index(job.rank()), job.size());
  return 0;
}

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
