// A user's program, outside this repository: it sees what is installed and nothing else. Every rank
// asks its neighbour for a number.

#include <cstdio>
#include <viaduct/am.hpp>
#include <viaduct/job.hpp>
#include <viaduct/runtime/version.hpp>

namespace am = viaduct::am;

namespace {

thread_local int my_number = 0;
thread_local int their_number = 0;

void on_answer(am::Token&, int number) { their_number = number; }
void on_question(am::Token& token) { (void)token.reply<on_answer>(my_number); }

int body(viaduct::Job& job, int, char**) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();

  my_number = 1000 + static_cast<int>(index(job.rank()));
  if (bundle.barrier() != viaduct::Status::ok) return 1;
  const am::Index next{(index(job.rank()) + 1) % job.size()};
  if (endpoint.request<on_question>(next) != viaduct::Status::ok) return 1;
  while (their_number == 0) (void)bundle.wait();
  if (their_number != 1000 + static_cast<int>(next)) return 1;
  std::printf("viaduct %s: rank %u of %u has its neighbour's number\n", viaduct::kVersion,
              index(job.rank()), job.size());
  return bundle.barrier() == viaduct::Status::ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
