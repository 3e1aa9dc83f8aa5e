#include "viaduct/via/shm/region_cache.hpp"

#include "via/shm/nic.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::via::shm {

bool RegionCache::find(Nic& nic, ProtectionTag tag, const LocalSegment& s, Use use) noexcept {
  if (s.length == 0 || covers(s)) return true;
  RegionEntry* const region = nic.local_region(s.handle);
  if (region == nullptr || region->tag != static_cast<std::uint32_t>(tag)) return false;
  const std::byte* own_window = nic.job().segment().base();
  const RegionCache found{reinterpret_cast<const std::byte*>(region->address), region->bytes,
                          s.handle, &region->handle, region->in_window != 0 ? own_window : nullptr};
  if (!found.covers(s) || (use == Use::written && !Nic::may_write(*region))) return false;
  *this = found;
  return true;
}

}  // namespace viaduct::via::shm
