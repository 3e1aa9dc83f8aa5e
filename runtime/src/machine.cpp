#include "runtime/machine.hpp"

#include "runtime/src/control_group.hpp"
#include "runtime/src/cores.hpp"
#include "runtime/src/memory_limit.hpp"

namespace viaduct {
namespace {

/// The tightest of the groups' limits on processes and threads.
void look_at_processes(MachineLimits& limits, const std::string& root) {
  for (const ControlGroup& group : control_groups(root, "pids")) {
    const auto most = read_number(group.directory + "/pids.max");
    const auto used = read_number(group.directory + "/pids.current");
    if (!most || !used) continue;
    const std::uint64_t left = *most > *used ? *most - *used : 0;
    if (!limits.process_source.empty() && left >= limits.free_processes) continue;
    limits.free_processes = left;
    limits.process_source = group.directory + "/pids.max";
  }
}

}  // namespace

MachineLimits machine_limits(const std::string& system_root) {
  const MemoryHeadroom headroom = memory_headroom(system_root);
  MachineLimits limits;
  limits.cores = usable_cores(system_root);
  limits.quota_cores = quota_cores(system_root);
  limits.free_memory_bytes = headroom.free_bytes;
  limits.memory_source = headroom.source;
  look_at_processes(limits, system_root);
  return limits;
}

}  // namespace viaduct
