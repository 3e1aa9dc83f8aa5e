#include "viaduct/splitc/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace viaduct::splitc {

Path path_of(const Settings& settings) noexcept {
  if (settings.path == "direct") return Path::direct;
  if (settings.path == "rdma") return Path::rdma;
  return settings.path == "message" ? Path::message : Path::automatic;
}

namespace {

constexpr std::size_t kWord = 8;
/// With VIADUCT_SPLITC_RDMA_FROM=auto.
constexpr RdmaFrom kAutomatic{kWord + 1, 256};

}  // namespace

RdmaFrom rdma_from(const Settings& settings, Path path) noexcept {
  if (path == Path::rdma) return {1, 1};
  constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  if (path != Path::automatic) return {kNever, kNever};
  if (settings.rdma_from == config::kAuto) return kAutomatic;
  const auto from = static_cast<std::size_t>(settings.rdma_from);
  return {from, from};
}

std::string remote_way(const Settings& settings, std::size_t bytes) {
  const Path path = path_of(settings);
  const std::string where =
      "; memory that is not shared (stacks, libraries' data) and a chunk that is used for the "
      "first "
      "time go by message";
  if (path == Path::rdma)
    return fmt::format(
        "by RDMA read and write, without the owner's part: VIADUCT_SPLITC_PATH forces "
        "rdma{}{}",
        bytes <= kWord ? ", where a device need not write a word whole" : "", where);
  if (path != Path::automatic)
    return fmt::format("by messages that the owner carries out: VIADUCT_SPLITC_PATH forces {}",
                       settings.path);
  const RdmaFrom from = rdma_from(settings, path);
  const bool automatic = settings.rdma_from == config::kAuto;
  const std::string setting = automatic
                                  ? "VIADUCT_SPLITC_RDMA_FROM=auto"
                                  : fmt::format("VIADUCT_SPLITC_RDMA_FROM={}", settings.rdma_from);
  if (bytes >= from.always)
    return fmt::format(
        "by RDMA read and write, without the owner's part: {} bytes are not less than {}{}", bytes,
        automatic ? fmt::format("{} ({})", from.always, setting) : setting, where);
  if (bytes >= from.tried)
    return fmt::format(
        "by RDMA read and write or by messages that the owner carries out, whichever was faster "
        "when the program last tried both for {} to {} bytes ({}){}",
        std::bit_floor(bytes - 1) + 1, std::min(std::bit_ceil(bytes), from.always - 1), setting,
        where);
  return fmt::format(
      "by messages that the owner carries out: {} bytes are less than {}{}", bytes,
      automatic ? fmt::format("{} ({})", from.tried, setting) : setting,
      bytes <= kWord ? ", and RDMA does not promise that a word is written whole" : "");
}

}  // namespace viaduct::splitc
