#include <fcntl.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include "runtime/machine.hpp"
#include "tools/viaduct-info/probes.hpp"
#include "tools/viaduct-info/report.hpp"
#include "via/copy.hpp"
#include "via/memory_lock.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::info {
namespace {

std::string line(const char* what, const std::string& value) {
  return fmt::format("  {:<28} {}\n", what, value);
}

std::string outcome(bool works) {
  return works ? "works" : fmt::format("refused ({})", std::strerror(errno));
}

std::string cross_memory() {
  if (cross_memory_works()) return outcome(true);
  return outcome(false) + ": larger sends to private memory are copied through the sender's window";
}

std::string membarrier() {
  if (membarrier_works()) return outcome(true);
  return outcome(false) + ": a rank that sleeps wakes by itself every millisecond";
}

std::string huge_pages() {
  const FileDescriptor file(::memfd_create("viaduct-info", MFD_CLOEXEC | MFD_HUGETLB));
  if (!file.is_open()) return fmt::format("no huge memory files ({})", std::strerror(errno));
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const bool room =
      ::ftruncate(file.get(), kHugePage) == 0 && ::fallocate(file.get(), 0, 0, kHugePage) == 0;
  std::ifstream shmem("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string transparent = "not there";
  std::getline(shmem, transparent);
  return fmt::format("{}; transparent ones in shared memory: {}", room ? "some free" : "none free",
                     transparent);
}

std::string limit_of(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return "unknown";
  const auto word = [](rlim_t value) {
    return value == RLIM_INFINITY ? "unlimited" : fmt::format("{}", value);
  };
  return fmt::format("{} (at most {})", word(limit.rlim_cur), word(limit.rlim_max));
}

std::string cores(const MachineLimits& limits) {
  std::string text = fmt::format("{} may be used", limits.cores);
  text += limits.quota_cores == 0
              ? "; no control group's quota"
              : fmt::format("; a control group's quota is worth {}", limits.quota_cores);
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return text;
  if (hwloc_topology_load(topology) == 0) {
    text += fmt::format("; {} cores and {} hardware threads in {} package(s)",
                        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE),
                        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU),
                        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE));
  }
  hwloc_topology_destroy(topology);
  return text;
}

std::string memory(const MachineLimits& limits) {
  if (limits.memory_source.empty()) return "no limit found";
  return fmt::format("{} may still be taken, by {}", in_units(limits.free_memory_bytes),
                     limits.memory_source);
}

std::string clock() {
  return fmt::format("{} time-stamp counter, {:.3f} ticks/ns",
                     has_invariant_tsc() ? "invariant" : "no invariant", ticks_per_ns());
}

std::string copies() {
  const std::size_t threshold = via::copy_threshold();
  if (threshold == ~std::size_t{0}) return "always plain: the CPU does not tell its caches";
  return fmt::format("{} from {} on", to_string(via::large_copy_method()), in_units(threshold));
}

}  // namespace

std::string in_units(std::uint64_t bytes) {
  constexpr std::array kUnits{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string locked_memory(const via::MemoryLock& lock) {
  const auto word = [](std::uint64_t bytes) {
    return bytes == via::MemoryLock::kUnlimited ? "unlimited" : in_units(bytes);
  };
  if (lock.limited())
    return fmt::format("{} (at most {})", word(lock.limit_bytes), word(lock.most_bytes));
  if (lock.limit_bytes == via::MemoryLock::kUnlimited) return "unlimited";
  return fmt::format("unlimited by CAP_IPC_LOCK (ulimit -l is {})", word(lock.limit_bytes));
}

std::string machine() {
  const MachineLimits limits = machine_limits();
  return "This machine:\n" + line("cores", cores(limits)) + line("memory", memory(limits)) +
         line("clock", clock()) + line("bulk copies", copies()) + line("membarrier", membarrier()) +
         line("process_vm_readv, _writev", cross_memory()) + line("huge pages", huge_pages()) +
         line("open files (ulimit -n)", limit_of(RLIMIT_NOFILE)) +
         line("address space (ulimit -v)", limit_of(RLIMIT_AS)) +
         line("file size (ulimit -f)", limit_of(RLIMIT_FSIZE)) +
         line("locked memory", locked_memory(via::memory_lock()));
}

}  // namespace viaduct::info
