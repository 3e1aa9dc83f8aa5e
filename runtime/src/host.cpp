#include "runtime/src/host.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cstdlib>

#include "runtime/errors/codes.hpp"
#include "runtime/src/control_group.hpp"
#include "runtime/src/launch_variables.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

unsigned long long inode_of(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0 ? status.st_ino : 0;
}

}  // namespace

std::string host_key() {
  if (const char* const given = std::getenv(launch::kHostKey); given != nullptr) {
    const std::string key(given);
    if (!key.empty() && key.size() <= kMaxHostKeyBytes) return key;
    throw Error(errors::bad_setting, std::errc::invalid_argument,
                fmt::format("{}={} is not accepted: give 1 to {} characters, the same in all "
                            "processes of a host, or unset it",
                            launch::kHostKey, key, kMaxHostKeyBytes));
  }
  std::string boot = read_small_file("/proc/sys/kernel/random/boot_id").value_or(host_name());
  boot = boot.substr(0, boot.find('\n'));
  constexpr std::size_t kUuid = 36;
  return fmt::format("{}.{:x}.{:x}", boot.substr(0, kUuid), inode_of("/proc/self/ns/net"),
                     inode_of("/proc/self/ns/pid"));
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

}  // namespace viaduct
