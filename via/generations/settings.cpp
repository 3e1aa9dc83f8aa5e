#include "via/generations/settings.hpp"

#include <array>
#include <cstddef>

namespace viaduct::via::generations {

std::span<const config::Option> options() noexcept {
  using config::Option;
  using config::Type;
  static constexpr std::array<Option, 1> kOptions{
      Option{"generation", "VIADUCT_AM_GENERATION", "channel", "", Type::text, 0, 0,
             "channel|v1|v1-strict|v2|v3",
             "what messages between ranks go by: channels, or MAPs of a generation of AMVIA over "
             "VIs of "
             "VIADUCT_PROVIDER (unset: shm)",
             offsetof(Settings, generation)},
  };
  return kOptions;
}

}  // namespace viaduct::via::generations
