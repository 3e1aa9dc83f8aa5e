#include "runtime/src/job_size_check.hpp"

#include <fmt/format.h>

#include "runtime/job_size.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {

std::string job_size_problem(std::uint64_t size) {
  if (size <= kMaxJobSize) return {};
  return fmt::format(
      "a job has at most {} processes, not {}: a global pointer names its process in 16 bits; "
      "start fewer processes, each with several threads, or divide the work among several jobs",
      kMaxJobSize, size);
}

void check_job_size(std::uint64_t size) {
  if (const std::string problem = job_size_problem(size); !problem.empty())
    throw Error(std::errc::invalid_argument, problem);
}

}  // namespace viaduct
