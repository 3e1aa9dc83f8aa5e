#pragma once
/// @file
/// The cold remainder of a Job, and the functions by which run() makes Jobs of threads.

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/src/environment.hpp"
#include "runtime/src/fork_mark.hpp"
#include "runtime/src/job_bootstrap.hpp"
#include "runtime/src/lifeline.hpp"
#include "runtime/src/page_mapping.hpp"
#include "runtime/src/pmix.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/mapped_memory.hpp"

namespace viaduct {

struct Job::Impl {
  Launch launch;
  PageMapping own_page;                // processes
  std::shared_ptr<ThreadWorld> world;  // threads, and a job of one
  std::unique_ptr<JobBootstrap> bootstrap;
  JobBootstrap* job_bootstrap = nullptr;  // the same, after Job has taken it over
  std::unique_ptr<Pmix> pmix;             // where a PMIx server is to know of this rank's end
  ForkMark fork_mark;
  Lifeline lifeline;
  std::vector<MappedMemory> peer_windows;  // processes
  int exceptions_before = 0;
  bool abandoned = false;  // the body threw: do not finalize
  bool failed = false;     // the body answered another code than 0: do not wait long for the others

  [[nodiscard]] JobPage* page() const noexcept {
    return world ? world->page.get() : own_page.get();
  }

  [[nodiscard]] const PageShape& shape() const noexcept {
    return world ? world->page.shape() : own_page.shape();
  }

  Launch joined(Launch launch);
  static std::unique_ptr<Impl> from_environment();
  static std::unique_ptr<Impl> of_thread(std::shared_ptr<ThreadWorld> world, const Launch& launch,
                                         std::uint32_t rank);
};

}  // namespace viaduct
