#include "runtime/src/job_size_check.hpp"

#include <fmt/format.h>
#include <cstdlib>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "runtime/src/launch_variables.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {

std::string job_size_problem(std::uint64_t size) {
  if (size <= kMaxJobSize) return {};
  return fmt::format(
      "a job has at most {} processes, not {}: a global pointer names its process in 16 bits; "
      "start fewer processes, each with several threads, or divide the work among several jobs",
      kMaxJobSize, size);
}

std::string describe_ranks(std::uint32_t size) {
  if (size > 1)
    return fmt::format("the job has the ranks 0 to {}; viaduct-run -n starts more", size - 1);
  const bool launched =
      std::getenv(launch::kJobId) != nullptr || std::getenv("PMIX_NAMESPACE") != nullptr;
  if (launched) return "the job has rank 0 alone; viaduct-run -n N starts N ranks";
  return "the job has rank 0 alone, since no launcher has started this program; "
         "viaduct-run -n N PROGRAM starts N ranks";
}

void check_job_size(std::uint64_t size) {
  if (const std::string problem = job_size_problem(size); !problem.empty())
    throw Error(errors::job_too_large, std::errc::invalid_argument, problem);
}

}  // namespace viaduct
