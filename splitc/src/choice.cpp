#include "viaduct/splitc/choice.hpp"

#include <fmt/format.h>

#include <limits>

namespace viaduct::splitc {

Path path_of(const Settings& settings) noexcept {
  if (settings.path == "direct") return Path::direct;
  if (settings.path == "rdma") return Path::rdma;
  return settings.path == "message" ? Path::message : Path::automatic;
}

std::size_t rdma_from(const Settings& settings, Path path) noexcept {
  if (path == Path::rdma) return 1;
  return path == Path::automatic ? static_cast<std::size_t>(settings.rdma_from)
                                 : std::numeric_limits<std::size_t>::max();
}

std::string remote_way(const Settings& settings, std::size_t bytes) {
  constexpr std::size_t kWord = 8;
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
  if (bytes >= rdma_from(settings, path))
    return fmt::format(
        "by RDMA read and write, without the owner's part: {} bytes are not less than "
        "VIADUCT_SPLITC_RDMA_FROM={}{}",
        bytes, settings.rdma_from, where);
  return fmt::format(
      "by messages that the owner carries out: {} bytes are less than "
      "VIADUCT_SPLITC_RDMA_FROM={}{}",
      bytes, settings.rdma_from,
      bytes <= kWord ? ", and RDMA does not promise that a word is written whole" : "");
}

}  // namespace viaduct::splitc
