// Ranks of launcher_actor that write what they must not into the job page.

#include <unistd.h>
#include <random>
#include <string>

#include "tests/multiprocess/programs/launcher_actor.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/job_page.hpp"

namespace actor {

using viaduct::Job;
using viaduct::JobPage;
using viaduct::Rank;
using viaduct::RankRecord;

namespace {

void fill(void* at, std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  auto* const to = static_cast<volatile unsigned char*>(at);
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<unsigned char>(random());
}

}  // namespace

// scribble SEED page|record exit|hang
int scribble(Job& job, char** argv) {
  if (barrier(job) != viaduct::Status::ok) return 9;
  if (index(job.rank()) != 1) hang();
  const auto seed = static_cast<unsigned>(std::atoi(argv[3]));
  if (std::string(argv[4]) == "page")
    fill(&job.page(), JobPage::bytes_for(job.size()), seed);
  else
    fill(&job.record(job.rank()), sizeof(RankRecord), seed);
  if (std::string(argv[5]) == "exit") ::_exit(0);
  hang();
}

// name-victim PID
int name_victim(Job& job, char** argv) {
  if (barrier(job) != viaduct::Status::ok) return 9;
  for (std::uint32_t i = 0; i < job.size(); ++i) job.record(Rank{i}).pid.store(std::atoi(argv[3]));
  say("ready");
  hang();
}

}  // namespace actor
