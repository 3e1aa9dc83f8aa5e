#include "runtime/machine.hpp"

#include "runtime/src/cores.hpp"
#include "runtime/src/memory_limit.hpp"

namespace viaduct {

MachineLimits machine_limits() {
  const MemoryHeadroom headroom = memory_headroom();
  return {usable_cores(), quota_cores(), headroom.free_bytes, headroom.source};
}

}  // namespace viaduct
