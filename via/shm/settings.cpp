#include "via/shm/settings.hpp"

#include <array>

namespace viaduct::via::shm {

std::span<const config::Option> options() noexcept {
  using config::Option;
  using config::Type;
  static constexpr std::array<Option, 4> kOptions{
      Option{"regions", "VIADUCT_SHM_REGIONS", "1024", "", Type::integer, 1, 1 << 20, "",
             "memory regions a rank may have registered at once", offsetof(Settings, max_regions)},
      Option{"queue_depth", "VIADUCT_SHM_QUEUE_DEPTH", "4096", "", Type::integer, 1, 32768, "",
             "largest depth of a send or receive queue", offsetof(Settings, max_queue_depth)},
      Option{"copy_threshold", "VIADUCT_COPY_THRESHOLD", "auto", "bytes", Type::bytes, 1,
             std::int64_t{1} << 40, "",
             "transfers of at least this many bytes bypass the caches; auto: from the cache sizes",
             offsetof(Settings, copy_threshold)},
      Option{"cross_memory", "VIADUCT_CROSS_MEMORY", "yes", "", Type::boolean, 0, 1, "",
             "reach peers' private memory with process_vm_readv and process_vm_writev (the rank "
             "allows its peers to, "
             "also under Yama); no: copy larger sends through the sender's window",
             offsetof(Settings, cross_memory)},
  };
  return kOptions;
}

}  // namespace viaduct::via::shm
