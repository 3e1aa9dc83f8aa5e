#include "runtime/src/rank_name.hpp"

namespace viaduct {
namespace {

thread_local std::uint32_t this_rank = kNoRankName;

}  // namespace

void name_this_thread(std::uint32_t rank) noexcept { this_rank = rank; }

std::uint32_t rank_of_this_thread() noexcept { return this_rank; }

std::string rank_prefix() {
  if (this_rank == kNoRankName) return {};
  return "[rank " + std::to_string(this_rank) + "] ";
}

}  // namespace viaduct
