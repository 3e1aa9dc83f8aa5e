#include "runtime/src/rank_name.hpp"

#include <cstdlib>
#include <string_view>

#include "runtime/src/launch_variables.hpp"

namespace viaduct {
namespace {

thread_local std::uint32_t this_rank = kNoRankName;

}  // namespace

void name_this_thread(std::uint32_t rank) noexcept { this_rank = rank; }

std::uint32_t rank_of_this_thread() noexcept { return this_rank; }

std::string rank_prefix() {
  if (this_rank != kNoRankName) return "[rank " + std::to_string(this_rank) + "] ";
  // Before and after the Job, and in other threads: the launcher's variable, where a process is one
  // rank.
  const char* const launched = std::getenv(launch::kRank);
  if (launched == nullptr) return {};
  const std::string_view rank(launched);
  if (rank.empty() || rank.find_first_not_of("0123456789") != rank.npos) return {};
  return "[rank " + std::string(rank) + "] ";
}

}  // namespace viaduct
