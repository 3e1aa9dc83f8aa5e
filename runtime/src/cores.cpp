#include "runtime/src/cores.hpp"

#include <sched.h>
#include <algorithm>
#include <atomic>
#include <bit>
#include <sstream>
#include <vector>

#include "runtime/src/control_group.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/settings.hpp"

namespace viaduct {
namespace {

// The defaults of waiting, all in one place (measured: docs/decisions/007-waiting.md). To block
// costs the peer a wake-up of about 20 us, so a wait first looks for an answer for about as long as
// that or twice as long. With a core for each rank it spins. With more ranks than cores a spin
// burns the time slice that the peer needs, so the core is handed over at once: 50 yields take 20
// us when no other thread wants the core, and other threads that want it run meanwhile.
constexpr std::int64_t kSpinNs = 50'000;
constexpr std::int64_t kYieldsWithCores = 10;
constexpr std::int64_t kYieldsWithoutCores = 50;

std::uint32_t affinity_cores() {
  // Machines with more than 1024 processors need a larger set than cpu_set_t: grow until the kernel
  // accepts it.
  for (std::size_t processors = 1024; processors <= (1U << 20U); processors *= 2) {
    std::vector<unsigned long> mask(processors / (8 * sizeof(unsigned long)));
    auto* const set = reinterpret_cast<cpu_set_t*>(mask.data());
    const std::size_t bytes = mask.size() * sizeof(unsigned long);
    if (::sched_getaffinity(0, bytes, set) == 0)
      return static_cast<std::uint32_t>(CPU_COUNT_S(bytes, set));
  }
  return 1;
}

std::uint32_t cores_for(std::uint64_t quota, std::uint64_t period) {
  return period == 0 ? 0 : static_cast<std::uint32_t>((quota + period - 1) / period);
}

std::uint32_t group_quota(const ControlGroup& group) {
  if (!group.version2) {
    const auto quota =
        read_number(group.directory + "/cpu.cfs_quota_us");  // "-1" is no number: no quota
    return quota
               ? cores_for(*quota, read_number(group.directory + "/cpu.cfs_period_us").value_or(0))
               : 0;
  }
  std::istringstream words(read_small_file(group.directory + "/cpu.max").value_or("max 0"));
  std::uint64_t quota = 0;
  std::uint64_t period = 0;
  return words >> quota >> period ? cores_for(quota, period)
                                  : 0;  // "max 100000" is no number: no quota
}

}  // namespace

std::uint32_t quota_cores(const std::string& root) {
  std::uint32_t least = 0;
  for (const ControlGroup& group : control_groups(root, "cpu")) {
    const std::uint32_t quota = group_quota(group);
    if (quota != 0) least = least == 0 ? quota : std::min(least, quota);
  }
  return least;
}

std::uint32_t usable_cores(const std::string& root) {
  const std::uint32_t quota = quota_cores(root);
  const std::uint32_t cores = std::max(affinity_cores(), 1U);
  return quota == 0 ? cores : std::min(cores, quota);
}

void note_own_cores(JobPage& page) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return;
  for (std::uint32_t cpu = 0; cpu < JobPage::kMaxCpus; ++cpu) {
    if (CPU_ISSET(cpu, &set))
      page.cpus[cpu / 64].fetch_or(std::uint64_t{1} << (cpu % 64), std::memory_order_relaxed);
  }
}

std::uint32_t cores_in(const JobPage& page, const std::string& root) {
  std::uint32_t cores = 0;
  for (const auto& word : page.cpus)
    cores += static_cast<std::uint32_t>(std::popcount(word.load(std::memory_order_relaxed)));
  const std::uint32_t quota = quota_cores(root);
  return quota == 0 ? cores : std::min(cores, quota);
}

WaitPolicy choose_wait_policy(const RuntimeSettings& settings, std::uint32_t ranks,
                              std::uint32_t cores) {
  const bool core_each = ranks <= cores;
  const std::int64_t spin_ns = settings.spin_ns != config::kAuto ? settings.spin_ns
                               : core_each                       ? kSpinNs
                                                                 : 0;
  const std::int64_t yields = settings.yields != config::kAuto ? settings.yields
                              : core_each                      ? kYieldsWithCores
                                                               : kYieldsWithoutCores;
  WaitPolicy policy;
  if (spin_ns > 0)
    policy.spin_ticks = static_cast<std::uint64_t>(static_cast<double>(spin_ns) * ticks_per_ns());
  policy.yields = static_cast<std::uint32_t>(yields);
  return policy;
}

}  // namespace viaduct
