#include "benchmarks/common/vi_traffic.hpp"

namespace viaduct::bench {

double thread_cpu_ms() noexcept {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6;
}

}  // namespace viaduct::bench
