// Ranks that end, fence and close in an order that the command line says: one list of steps for the
// last rank, one for all others.
//
//     closing STEPS-OF-THE-LAST STEPS-OF-THE-OTHERS      as "job,fence,close-all,end"
//
// job: has a Job from here on (ranks that are threads have one from the start). end: its
// destructor. barrier: one of Active Messages. pause: a moment. sleep, compute: for ever. exit:
// leaves. throw: fails.

#include <fcntl.h>
#include <unistd.h>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"

namespace {

using viaduct::Job;

void close_all() {
  for (int fd = 3; fd < 1024; ++fd) ::close(fd);
}

void close_socket() {
  if (const char* const fd = std::getenv("VIADUCT_BOOTSTRAP_FD")) ::close(std::atoi(fd));
}

void barrier(Job& job) {
  viaduct::am::Context context(job);
  viaduct::am::Bundle bundle(context);
  if (bundle.barrier() != viaduct::Status::ok) throw std::runtime_error("somebody is lost");
}

/// A step for which it does not matter who made the Job.
void take(const std::string& step, Job* job) {
  if (step == "fence") job->bootstrap().fence();
  if (step == "barrier") barrier(*job);
  if (step == "close-all") close_all();
  if (step == "close-socket") close_socket();
  if (step == "pause") std::this_thread::sleep_for(std::chrono::milliseconds(60));
  if (step == "sleep")
    while (true) ::pause();
  if (step == "compute")
    while (true) static_cast<void>(viaduct::monotonic_ns());
  if (step == "say") static_cast<void>(!::write(STDOUT_FILENO, "goes\n", 5));
  if (step == "exit") ::_exit(0);
  if (step == "throw") throw std::runtime_error("has failed");
}

bool is_last(const char* rank, const char* size) {
  return rank != nullptr && size != nullptr && std::atoi(rank) + 1 == std::atoi(size);
}

int of_process(char** argv) {
  const bool last = is_last(std::getenv("VIADUCT_RANK"), std::getenv("VIADUCT_SIZE"));
  std::unique_ptr<Job> job;
  std::istringstream steps(argv[last ? 1 : 2]);
  for (std::string step; std::getline(steps, step, ',');) {
    if (step == "job") job = std::make_unique<Job>();
    if (step == "end") job.reset();
    take(step, job.get());
  }
  return 0;
}

int of_thread(Job& job, int, char** argv) {
  const bool last = index(job.rank()) + 1 == job.size();
  std::istringstream steps(argv[last ? 1 : 2]);
  for (std::string step; std::getline(steps, step, ',') && step != "end";) take(step, &job);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const mode = std::getenv("VIADUCT_MODE");
  if (argc != 3) return 2;
  if (mode != nullptr && std::string(mode) == "threads") return viaduct::run(of_thread, argc, argv);
  try {
    return of_process(argv);
  } catch (const std::exception& problem) {
    ::dprintf(STDERR_FILENO, "%s\n", problem.what());
    return 1;
  }
}
