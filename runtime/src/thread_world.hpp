#pragma once
/// @file
/// The state that ranks share when they are threads of one process. A job of one rank without a
/// launcher is such a world of size 1.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/src/exchange.hpp"
#include "runtime/src/page_mapping.hpp"
#include "viaduct/runtime/job_page.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct {

struct ThreadWorld {
  explicit ThreadWorld(PageMapping job_page)
      : page(std::move(job_page)),
        exchange(page.shape().ranks),
        outcomes(page.shape().ranks),
        windows(page.shape().ranks, nullptr),
        shared_fds(page.shape().ranks) {
    retired.reserve(page.shape().ranks);  // a Job's end allocates nothing
  }

  enum class Outcome : std::uint8_t { waiting, released, failed };
  struct FenceOutcome {
    Outcome outcome = Outcome::waiting;
    Rank culprit{};
  };

  PageMapping page;
  std::mutex mutex;  // guards everything below
  std::condition_variable released;
  Exchange exchange;
  std::vector<FenceOutcome> outcomes;
  std::vector<std::byte*> windows;  // where each rank's is mapped
  std::vector<std::map<std::string, int, std::less<>>> shared_fds;
  std::vector<std::unique_ptr<Segment>> retired;  // of ranks that have finalized
  bool failed = false;  // some rank has failed; first_failure is its exit code
  int first_failure = 0;
};

/// Marks @p rank as lost in its record and the epoch, and wakes ranks that wait at a fence or
/// sleep.
void lose_thread_rank(ThreadWorld& world, Rank rank, RankState state, int cause);

}  // namespace viaduct
