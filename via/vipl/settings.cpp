#include "via/vipl/settings.hpp"

#include <array>

namespace viaduct::via::vipl {

std::span<const config::Option> options() noexcept {
  using config::Option;
  using config::Type;
  static constexpr std::array<Option, 4> kOptions{
      Option{"queue_depth", "VIADUCT_VIPL_QUEUE_DEPTH", "1024", "", Type::integer, 16, 32768, "",
             "descriptors that a work queue holds (MaxDescriptorsPerQueue), as far as the provider "
             "has them",
             offsetof(Settings, queue_depth)},
      Option{"max_transfer", "VIADUCT_VIPL_MAX_TRANSFER", "4M", "bytes", Type::bytes, 32768,
             0x7fffffff, "", "largest transfer of one descriptor (MaxTransferSize)",
             offsetof(Settings, max_transfer)},
      Option{"name", "VIADUCT_VIPL_NAME", "", "", Type::text, 0, 0, "",
             "name of this process for VipNSGetHostByName, besides its host's",
             offsetof(Settings, name)},
      Option{"devices", "VIADUCT_VIPL_DEVICES", "", "", Type::text, 0, 0, "",
             "further names, with commas between them, that VipOpenNic takes for the provider",
             offsetof(Settings, devices)},
  };
  return kOptions;
}

}  // namespace viaduct::via::vipl
