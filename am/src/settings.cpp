#include "viaduct/am/settings.hpp"

#include <array>
#include <bit>
#include <string>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/config.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/via/channel/channel_end.hpp"

namespace viaduct::am {

std::span<const config::Option> options() noexcept {
  using config::Option;
  using config::Type;
  static constexpr std::array<Option, 4> kOptions{
      Option{"slots", "VIADUCT_AM_SLOTS", "128", "slots", Type::integer, 8, 32768, "",
             "64-byte slots of the ring to one peer; a power of two", offsetof(Settings, slots)},
      Option{"credits", "VIADUCT_AM_CREDITS", "auto", "messages", Type::integer, 1, 16384, "",
             "requests to one peer that may be outstanding (k); auto: as many as the slots allow",
             offsetof(Settings, credits)},
      Option{"medium_bytes", "VIADUCT_AM_MEDIUM_BYTES", "8K", "bytes", Type::bytes, 8192, 1 << 26,
             "",
             "ring for medium payloads to one peer, a power of two; the largest medium message is "
             "half of it",
             offsetof(Settings, medium_bytes)},
      Option{"poll_every", "VIADUCT_AM_POLL_EVERY", "8", "slots", Type::integer, 1, 1 << 20, "",
             "a rank that only sends polls once in so many slots sent to a peer; to one peer alone "
             "once in four times as many",
             offsetof(Settings, poll_every)},
  };
  return kOptions;
}

Settings load_settings() {
  Settings s;
  config::load(&s, options());
  const auto power_of_two = [](std::int64_t v, const char* variable) {
    if (!std::has_single_bit(static_cast<std::uint64_t>(v)))
      throw Error(errors::bad_setting, std::errc::invalid_argument,
                  std::string(variable) + "=" + std::to_string(v) +
                      " is not a power of two: take " +
                      std::to_string(std::bit_ceil(static_cast<std::uint64_t>(v))));
  };
  power_of_two(s.slots, "VIADUCT_AM_SLOTS");
  power_of_two(s.medium_bytes, "VIADUCT_AM_MEDIUM_BYTES");
  const std::int64_t most = via::channel::Flow::most_credits(static_cast<std::uint32_t>(s.slots));
  if (s.credits == config::kAuto) s.credits = most;
  if (s.credits > most)
    throw Error(errors::bad_setting, std::errc::invalid_argument,
                "VIADUCT_AM_CREDITS=" + std::to_string(s.credits) + ": a ring of " +
                    std::to_string(s.slots) + " slots has room for " + std::to_string(most) +
                    " credits; raise VIADUCT_AM_SLOTS");
  return s;
}

}  // namespace viaduct::am
