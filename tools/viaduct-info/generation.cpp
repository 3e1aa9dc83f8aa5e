#include "tools/viaduct-info/generation.hpp"

#include <fmt/format.h>

#include "via/generations/settings.hpp"
#include "viaduct/runtime/config.hpp"

namespace viaduct::info {
namespace {

/// The message that brings the slot, and with it the notification.
std::string slot_of(const std::string& generation) {
  if (generation == "v2") return "one RDMA write with an immediate value into the peer's ring";
  return generation == "v3" ? "one send by the VI of the MAP"
                            : "one send by the VI of short messages";
}

std::string medium_of(const std::string& generation) {
  if (generation == "v2") return slot_of(generation);
  return generation == "v3" ? slot_of(generation)
                            : "one send by the VI of the size that holds both";
}

}  // namespace

std::string generation_in_force() {
  via::generations::Settings settings;
  config::load(&settings, via::generations::options());
  return settings.generation == "channel" ? std::string() : settings.generation;
}

via::Choice provider_of_maps(const std::string& generation, bool same_host,
                             const std::string& forced, std::uint32_t turn) {
  const std::string name = forced.empty() ? "shm" : forced;
  const std::string setting = "VIADUCT_AM_GENERATION=" + generation;
  const std::string why = "a MAP of " + generation + " over VIs of this provider, since " + setting;
  if (name != "shm" && !name.starts_with("fault(")) {
    via::Choice choice = via::choose_provider(same_host, name, turn);
    if (!choice.provider.empty()) choice.why = why + "; " + choice.why;
    return choice;
  }
  if (!same_host && name.find("verbs") == std::string::npos)
    return {"", fmt::format("{} uses VIs of provider {}, and the two are on different hosts: set "
                            "VIADUCT_PROVIDER=verbs",
                            setting, name)};
  return {name, why};
}

std::string way_of_map(const std::string& generation, std::uint64_t bytes, std::uint64_t most_short,
                       std::uint64_t most_medium) {
  constexpr std::uint64_t kSmallData = 512;  // of MapBase::send()
  if (bytes <= most_short)
    return fmt::format("as arguments of a short message (at most {} bytes), {}", most_short,
                       slot_of(generation));
  const std::string apart =
      "the data by an RDMA write into the peer's half, then the slot by " + slot_of(generation);
  if (bytes <= most_medium)
    return fmt::format(
        "as a medium message (at most {} bytes, half of VIADUCT_AM_MEDIUM_BYTES), {}", most_medium,
        bytes <= kSmallData ? apart
                            : fmt::format("data and slot by {}; where the MAP has no credit for "
                                          "that, the data by an RDMA write before",
                                          medium_of(generation)));
  if (generation == "v1-strict")
    return "as a bulk message: the data by sends of at most 16384 bytes, which the receiver copies "
           "into its memory, then the slot by " +
           slot_of(generation);
  return "as a bulk message: the data by RDMA into the receiver's memory, then the slot by " +
         slot_of(generation);
}

}  // namespace viaduct::info
