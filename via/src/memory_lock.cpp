#include "via/memory_lock.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace viaduct::via {

namespace {

std::string in_kib(std::uint64_t bytes) {
  return bytes == MemoryLock::kUnlimited ? "unlimited" : std::to_string(bytes / 1024) + " KiB";
}

/// Whether this user namespace is the machine's: only its capabilities lift the limit.
bool in_first_namespace() {
  std::uint64_t inside = 1;
  std::uint64_t outside = 1;
  std::uint64_t count = 0;
  constexpr std::uint64_t kAll = 0xffffffff;
  return std::ifstream("/proc/self/uid_map") >> inside >> outside >> count && inside == 0 &&
         outside == 0 && count == kAll;
}

}  // namespace

MemoryLock memory_lock() {
  MemoryLock lock;
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    if (limit.rlim_cur != RLIM_INFINITY) lock.limit_bytes = limit.rlim_cur;
    if (limit.rlim_max != RLIM_INFINITY) lock.most_bytes = limit.rlim_max;
  }
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmPin:") {
      status >> lock.registered_bytes;
      lock.registered_bytes *= 1024;
    } else if (word == "CapEff:") {
      constexpr unsigned kIpcLock = 14;
      std::uint64_t capabilities = 0;
      status >> std::hex >> capabilities >> std::dec;
      lock.exempt = (capabilities >> kIpcLock & 1) != 0 && in_first_namespace();
    }
  }
  return lock;
}

std::string memory_lock_advice(const MemoryLock& lock, std::size_t wanted) {
  if (!lock.limited())
    return "registered memory is locked, and the machine has no more to lock: free some memory, or "
           "register less";
  const std::uint64_t needed = lock.registered_bytes + wanted;
  std::string text = "registered memory is locked, this process may lock " +
                     in_kib(lock.limit_bytes) + " (RLIMIT_MEMLOCK), has locked " +
                     in_kib(lock.registered_bytes) +
                     (wanted == 0 ? std::string(", and needs more")
                                  : ", and needs at least " + in_kib(needed + 1023) + " now") +
                     ". ";
  if (lock.most_bytes >= needed && lock.most_bytes > lock.limit_bytes)
    return text + "Raise the limit: 'ulimit -l " +
           (lock.most_bytes == MemoryLock::kUnlimited ? "unlimited"
                                                      : std::to_string(lock.most_bytes / 1024)) +
           "' in the shell that starts the job";
  return text +
         "Only root can raise the limit: a line '* - memlock unlimited' in "
         "/etc/security/limits.d/rdma.conf and a new login; LimitMEMLOCK=infinity in the unit of a "
         "service (slurmd, sshd) that starts the job; --ulimit memlock=-1 for a container; then "
         "'ulimit -l' says 'unlimited'";
}

std::size_t default_pinned_bytes(const MemoryLock& lock) {
  if (lock.limited()) return static_cast<std::size_t>(lock.limit_bytes / 2);
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const auto pages = static_cast<std::size_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return std::min(kMost, pages * page / 8);
}

}  // namespace viaduct::via
