#include "benchmarks/common/machine.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include "benchmarks/common/stopwatch.hpp"
#include "via/copy.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::string kernel_release() {
  utsname names{};
  return uname(&names) == 0 ? fmt::format("{} {}", names.sysname, names.release) : "unknown";
}

std::string compiler() {
#ifdef __clang__
  return fmt::format("clang {}", __clang_version__);
#else
  return fmt::format("gcc {}", __VERSION__);
#endif
}

// Seconds of processor time that have been used since the machine started.
double busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  // user nice system idle iowait irq softirq steal; guests' time is in user and nice already
  double ticks[8] = {};
  file >> name;
  for (double& value : ticks) file >> value;
  if (!file || name != "cpu") return 0;
  const double idle = ticks[3] + ticks[4];
  const double all = std::accumulate(std::begin(ticks), std::end(ticks), 0.0);
  return (all - idle) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    throw_errno("cannot ask which cores this rank may run on");
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

int pin_to_core(Rank rank) {
  const std::vector<int> cores = allowed_cores();
  const int core = cores[index(rank) % cores.size()];
  if (cores.size() == 1) return core;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw_errno(fmt::format("cannot pin rank {} to core {}", index(rank), core));
  }
  return core;
}

void unpin() noexcept {
  cpu_set_t set;
  std::memset(&set, 0xff, sizeof set);  // the kernel leaves out what the container does not allow
  static_cast<void>(sched_setaffinity(0, sizeof set, &set));
}

double busy_cores(std::uint32_t milliseconds) {
  const double before = busy_seconds();
  const Stopwatch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return (busy_seconds() - before) / (watch.elapsed_ns() * 1e-9);
}

program::Json machine_facts(std::uint32_t ranks, const std::string& mode) {
  program::Json facts;
  facts.set("cpu", cpu_model())
      .set("cores", std::int64_t{sysconf(_SC_NPROCESSORS_ONLN)})
      .set("kernel", kernel_release())
      .set("compiler", compiler())
      .set("ranks", ranks)
      .set("mode", mode)
      .set("tsc_invariant", has_invariant_tsc())
      .set("tsc_ghz", ticks_per_ns())
      .set("copy_threshold_bytes", via::copy_threshold())
      .set("large_copy", via::to_string(via::large_copy_method()));
  return facts;
}

}  // namespace viaduct::bench
