#include "runtime/machine.hpp"

#include "runtime/src/cores.hpp"
#include "runtime/src/memory_limit.hpp"

namespace viaduct {

MachineLimits machine_limits(const std::string& system_root) {
  const MemoryHeadroom headroom = memory_headroom(system_root);
  return {usable_cores(system_root), quota_cores(system_root), headroom.free_bytes,
          headroom.source};
}

}  // namespace viaduct
