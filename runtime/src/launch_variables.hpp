#pragma once
/// @file
/// The variables by which viaduct-run tells the processes that it starts their place in the job.
/// Not for users to set.

#include <array>
#include <string_view>

namespace viaduct::launch {

inline constexpr const char* kJobId = "VIADUCT_JOB_ID";  // random; names the job's processes
inline constexpr const char* kRank = "VIADUCT_RANK";     // absent in threads mode
inline constexpr const char* kSize = "VIADUCT_SIZE";     // ranks in the job
inline constexpr const char* kMode = "VIADUCT_MODE";     // "processes" or "threads"
inline constexpr const char* kSocket =
    "VIADUCT_BOOTSTRAP_FD";                              // this process' end of its socket pair
inline constexpr const char* kPage = "VIADUCT_PAGE_FD";  // the job page's memfd
inline constexpr const char* kCores = "VIADUCT_CORES";   // cores that the job's ranks share
inline constexpr const char* kBound =
    "VIADUCT_BOUND";  // "1": each rank is bound to a core (--bind)
inline constexpr const char* kKeepGoing =
    "VIADUCT_KEEP_GOING";  // "1": the others go on when a rank fails
inline constexpr const char* kProvider = "VIADUCT_PROVIDER";  // --provider

// For programs that start ranks without viaduct-run (docs/launch.md), together with kRank and
// kSize.
inline constexpr const char* kRendezvous = "VIADUCT_RENDEZVOUS";  // tcp://HOST:PORT
inline constexpr const char* kSecret = "VIADUCT_JOB_SECRET";
inline constexpr const char* kSecretFile = "VIADUCT_JOB_SECRET_FILE";
inline constexpr const char* kHostKey = "VIADUCT_HOST_KEY";  // ranks with the same one share memory

}  // namespace viaduct::launch

namespace viaduct {

/// Whether @p name is one of the variables above.
[[nodiscard]] constexpr bool is_launch_variable(std::string_view name) noexcept {
  constexpr std::array kNames{launch::kJobId,      launch::kRank,       launch::kSize,
                              launch::kMode,       launch::kSocket,     launch::kPage,
                              launch::kCores,      launch::kBound,      launch::kKeepGoing,
                              launch::kProvider,   launch::kRendezvous, launch::kSecret,
                              launch::kSecretFile, launch::kHostKey};
  for (const char* known : kNames) {
    if (name == known) return true;
  }
  return false;
}

}  // namespace viaduct
