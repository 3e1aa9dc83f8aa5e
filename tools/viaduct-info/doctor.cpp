#include "tools/viaduct-info/doctor.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>

#include "runtime/machine.hpp"
#include "tools/viaduct-info/probes.hpp"
#include "tools/viaduct-info/report.hpp"
#include "via/memory_lock.hpp"
#include "via/registration_cache.hpp"
#include "viaduct/runtime/config.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/settings.hpp"
#include "viaduct/splitc/settings.hpp"

namespace viaduct::info {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kLockedForRdma =
    64 * kMiB;  // rings, and pages of bulk transfers, of a rank
constexpr std::uint64_t kMemoryForCore = 64 * kMiB;  // a rank and its rings to some hundred peers
constexpr std::uint64_t kProcessesForCore = 4;       // a rank, its threads, its child processes
constexpr std::uint64_t kOtherProcesses = 8;
constexpr std::uint64_t kFilesForRank = 5;
constexpr std::uint64_t kOtherFiles = 32;
constexpr std::uint64_t kOrdinaryShm = 64 * kMiB;
constexpr std::uint64_t kProgramBytes = 64 * kMiB;  // a program, its libraries, its static data

struct Limit {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

Limit limit_of(__rlimit_resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return {RLIM_INFINITY, RLIM_INFINITY};
  return {limit.rlim_cur, limit.rlim_max};
}

std::string size_of(std::uint64_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : in_units(limit);
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool has_rdma(const std::string& root) {
  std::error_code problem;
  std::filesystem::directory_iterator devices(root + "/sys/class/infiniband", problem);
  return !problem && devices != std::filesystem::directory_iterator();
}

Finding lock_of_memory(const std::string& root) {
  const via::MemoryLock lock = via::memory_lock();
  Finding finding{Health::good, "locked memory", locked_memory(lock),
                  "provider verbs pins the memory that devices reach", ""};
  if (!lock.limited() || lock.limit_bytes >= kLockedForRdma) return finding;
  const bool rdma = has_rdma(root);
  finding.health = rdma ? Health::problem : Health::hint;
  finding.meaning =
      fmt::format("provider verbs pins the memory that devices reach, {} and more for a rank{}",
                  in_units(kLockedForRdma),
                  rdma ? "" : "; there is no RDMA device here, so nothing needs it now");
  finding.remedy =
      lock.most_bytes >= kLockedForRdma
          ? "ulimit -l unlimited"
          : "printf '* - memlock unlimited\\n' > /etc/security/limits.d/rdma.conf, then log in "
            "again (in a container: --ulimit memlock=-1)";
  return finding;
}

Finding shared_memory_folder() {
  struct statvfs status {};
  const bool there = ::statvfs("/dev/shm", &status) == 0;
  const std::uint64_t bytes = there ? status.f_blocks * status.f_frsize : 0;
  Finding finding{Health::good, "/dev/shm", there ? in_units(bytes) : "not there",
                  "Viaduct does not use it: its shared memory has no name", ""};
  if (bytes > kOrdinaryShm) return finding;
  finding.health = Health::hint;
  finding.meaning += "; other programs of a job may (Open MPI does)";
  finding.remedy = "mount -o remount,size=1g /dev/shm (in a container: --shm-size=1g)";
  return finding;
}

Finding memory_files() {
  const bool works = memory_files_work();
  return {
      works ? Health::good : Health::problem, "shared memory",
      works ? "memfd_create works" : fmt::format("memfd_create fails ({})", std::strerror(errno)),
      works ? "ranks of a host share memory by it"
            : "ranks of a host cannot share memory: no job runs",
      works ? ""
            : "docker run --security-opt seccomp=unconfined ..., or a profile that allows "
              "memfd_create"};
}

Finding cross_memory() {
  if (cross_memory_works())
    return {Health::good, "process_vm_readv, _writev", "work",
            "memory that is not shared is copied once", ""};
  return {
      Health::problem, "process_vm_readv, _writev",
      fmt::format("refused ({})", std::strerror(errno)),
      "larger transfers from and to memory that is not shared are copied twice",
      "docker run --cap-add=SYS_PTRACE ..., or a seccomp profile that allows process_vm_readv and "
      "process_vm_writev"};
}

/// Yama keeps processes that are not each other's children apart.
std::optional<Finding> ptrace_scope(const std::string& root) {
  const std::string scope = first_line(root + "/proc/sys/kernel/yama/ptrace_scope");
  if (scope.empty() || scope == "0" || (scope != "3" && ::geteuid() == 0)) return std::nullopt;
  return Finding{
      Health::problem, "kernel.yama.ptrace_scope", scope,
      "a rank may not reach another's memory with process_vm_readv: larger transfers from "
      "and to memory that is not shared are copied twice",
      scope == "3" ? "sysctl cannot lower it: boot without it"
                   : "sysctl -w kernel.yama.ptrace_scope=0"};
}

Finding barriers() {
  if (membarrier_works())
    return {Health::good, "membarrier", "works", "a rank that sleeps is woken at once", ""};
  return {Health::problem, "membarrier", fmt::format("refused ({})", std::strerror(errno)),
          "a rank that sleeps wakes by itself every millisecond instead of being woken",
          "docker run --security-opt seccomp=unconfined ..., or a profile that allows membarrier"};
}

Finding process_descriptors() {
  if (pidfds_work())
    return {Health::good, "pidfd_open", "works", "the end of a process is noticed at once", ""};
  return {Health::hint, "pidfd_open", fmt::format("refused ({})", std::strerror(errno)),
          "the end of viaduct-run is asked for ten times a second",
          "docker run --security-opt seccomp=unconfined ..., or a profile that allows pidfd_open"};
}

Finding memory_changes(const std::string& root) {
  const std::string problem = via::RegistrationCache::probe();
  if (problem.empty())
    return {Health::good, "userfaultfd", "works",
            "memory of bulk transfers over verbs stays registered", ""};
  return {has_rdma(root) ? Health::problem : Health::hint, "userfaultfd", problem,
          "bulk transfers over verbs are copied",
          "docker run --security-opt seccomp=unconfined ..., or a profile that allows userfaultfd "
          "(Linux 5.19 and later)"};
}

Finding huge_pages(const std::string& root) {
  const std::string file = root + "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
  const std::string modes = first_line(file);
  Finding finding{Health::good, "huge pages of shared memory", modes.empty() ? "not there" : modes,
                  "fewer misses of the address cache in large segments", ""};
  const bool given = modes.find("[always]") != std::string::npos ||
                     modes.find("[within_size]") != std::string::npos ||
                     modes.find("[force]") != std::string::npos;
  if (given) return finding;
  finding.health = Health::hint;
  finding.meaning = "large segments use small pages, which costs some speed at random access";
  finding.remedy = "echo within_size > /sys/kernel/mm/transparent_hugepage/shmem_enabled";
  return finding;
}

Finding cores(const MachineLimits& limits) {
  const long there = ::sysconf(_SC_NPROCESSORS_ONLN);
  Finding finding{Health::good, "cores", fmt::format("{} of {} may be used", limits.cores, there),
                  "ranks up to that number wait by spinning; more of them share cores by yielding",
                  ""};
  if (limits.cores > 1) return finding;
  finding.health = Health::hint;
  finding.meaning =
      "every job of more than one rank shares one core: messages wait for the "
      "scheduler";
  finding.remedy = "taskset -c 0-N viaduct-run ..., or a larger cpu.max of the control group";
  return finding;
}

Finding core_quota(const MachineLimits& limits) {
  if (limits.quota_cores == 0)
    return {Health::good, "control group: processor time", "no quota", "ranks are never throttled",
            ""};
  return {
      Health::hint, "control group: processor time",
      fmt::format("a quota worth {} cores", limits.quota_cores),
      "a group that has used it up stands still for the rest of each period, whoever waits for it",
      "echo max > /sys/fs/cgroup/GROUP/cpu.max (in a container: without --cpus)"};
}

Finding memory(const MachineLimits& limits) {
  const bool known = !limits.memory_source.empty();
  Finding finding{Health::good, "control group: memory",
                  known ? fmt::format("{} may still be taken, by {}",
                                      in_units(limits.free_memory_bytes), limits.memory_source)
                        : "no limit found",
                  "shared memory counts against it; what does not fit is refused at the start", ""};
  if (!known || limits.free_memory_bytes >= kMemoryForCore * limits.cores) return finding;
  finding.health = Health::problem;
  finding.meaning = fmt::format("a rank for each of {} cores may not fit ({} for each)",
                                limits.cores, in_units(kMemoryForCore));
  const bool grouped = limits.memory_source.find("/cgroup/") != std::string::npos;
  finding.remedy =
      grouped
          ? fmt::format("echo {} > {} (in a container: --memory), or end other programs",
                        limits.memory_source.find("memory.max") != std::string::npos ? "max" : "-1",
                        limits.memory_source)
          : "ps aux --sort=-rss | head, and end what need not run";
  return finding;
}

Finding processes(const MachineLimits& limits) {
  const bool known = !limits.process_source.empty();
  Finding finding{Health::good, "control group: processes",
                  known ? fmt::format("{} more may be started, by {}", limits.free_processes,
                                      limits.process_source)
                        : "no limit found",
                  "each rank is one, viaduct-run three", ""};
  if (!known || limits.free_processes >= kProcessesForCore * limits.cores + kOtherProcesses)
    return finding;
  finding.health = Health::problem;
  finding.meaning += fmt::format(": a job of {} ranks may not start", limits.cores);
  finding.remedy =
      fmt::format("echo max > {} (in a container: --pids-limit=-1)", limits.process_source);
  return finding;
}

Finding open_files(const MachineLimits& limits) {
  const Limit limit = limit_of(RLIMIT_NOFILE);
  const std::uint64_t wanted = kFilesForRank * std::max(limits.cores, 16U) + kOtherFiles;
  Finding finding{
      Health::good, "open files", fmt::format("{} (at most {})", limit.soft, limit.hard),
      fmt::format("viaduct-run needs {} for a rank and {} more", kFilesForRank, kOtherFiles), ""};
  if (limit.hard >= wanted) return finding;
  finding.health = Health::problem;
  finding.meaning += fmt::format(": a job of {} ranks is refused", std::max(limits.cores, 16U));
  finding.remedy = "ulimit -Hn 65536 (as root), or --ulimit nofile=65536 of the container";
  return finding;
}

/// The address space that the settings take of a rank, for itself and again for each peer of its
/// host.
struct Reserved {
  std::uint64_t window = 0;  ///< in every program
  std::uint64_t spread = 0;  ///< in programs of Split-C
  std::uint64_t heap = 0;    ///< likewise
  [[nodiscard]] std::uint64_t region() const { return spread + heap; }
};

Reserved reserved() {
  RuntimeSettings settings;
  config::load(&settings, runtime_options());
  const splitc::Settings split_c = splitc::load_settings();
  return {static_cast<std::uint64_t>(settings.shm_window),
          static_cast<std::uint64_t>(split_c.spread_bytes),
          split_c.heap == "shared" ? static_cast<std::uint64_t>(split_c.heap_bytes) : 0};
}

std::string raise(const char* flag, const Limit& limit) {
  const bool hard = limit.hard != RLIM_INFINITY;
  return fmt::format(
      "ulimit -{} unlimited{}", flag,
      hard ? fmt::format(" (as root: the hard limit is {})", size_of(limit.hard)) : "");
}

/// A higher limit, or lower settings of @p most bytes each, where they may be so small.
std::string raise_or_lower(const char* flag, const Limit& limit, const Reserved& now,
                           std::uint64_t most) {
  constexpr std::uint64_t kLeastHeap = 64 * kMiB;
  if (most < kLeastHeap) return raise(flag, limit);
  std::string text = raise(flag, limit) + ", or export";
  const auto lower = [&](const char* variable, std::uint64_t value) {
    if (value > most) text += fmt::format(" {}={}M", variable, most / kMiB);
  };
  lower("VIADUCT_SHM_WINDOW", now.window);
  lower("VIADUCT_SPREAD_BYTES", now.spread);
  lower("VIADUCT_HEAP_BYTES", now.heap);
  return text;
}

/// The ranks of one host that @p bytes are enough for, where each takes @p each, and this one
/// @p own.
std::uint64_t ranks_within(std::uint64_t bytes, std::uint64_t own, std::uint64_t each) {
  return bytes > own ? (bytes - own) / each : 0;
}

/// A rank maps the windows of all ranks of its host. In Split-C it maps their regions, too, and its
/// own once more, in a row with the others.
Finding address_space() {
  const Reserved now = reserved();
  const Limit limit = limit_of(RLIMIT_AS);
  constexpr std::uint64_t kRanks = 2;
  const std::uint64_t each = now.window + now.region();
  const std::uint64_t own = kProgramBytes + now.region();
  Finding finding{
      Health::good, "address space", size_of(limit.soft),
      fmt::format("each of {} ranks maps {}, and {} in Split-C: for each rank a window of {} "
                  "(VIADUCT_SHM_WINDOW); in Split-C memory of {} (VIADUCT_SPREAD_BYTES, "
                  "VIADUCT_HEAP_BYTES), and its own twice",
                  kRanks, in_units(kProgramBytes + kRanks * now.window),
                  in_units(own + kRanks * each), in_units(now.window), in_units(now.region())),
      ""};
  if (limit.soft == RLIM_INFINITY) return finding;
  const std::uint64_t windows = ranks_within(limit.soft, kProgramBytes, now.window);
  const std::uint64_t ranks = ranks_within(limit.soft, own, each);
  finding.meaning += fmt::format("; the limit is enough for {} rank{}, in Split-C for {}", windows,
                                 windows == 1 ? "" : "s", ranks);
  if (ranks >= kRanks) return finding;
  finding.health = Health::problem;
  // Two windows, three times spread memory and heap, and some room for static data.
  constexpr std::uint64_t kParts = 10;
  finding.remedy = raise_or_lower("v", limit, now, limit.soft / kParts);
  return finding;
}

/// A rank's window is one file, and its region in Split-C is another.
Finding file_size() {
  const Reserved now = reserved();
  const Limit limit = limit_of(RLIMIT_FSIZE);
  const std::uint64_t largest = std::max(now.window, now.region() + kProgramBytes);
  Finding finding{
      Health::good, "file size", size_of(limit.soft),
      fmt::format("a rank's window is a file of {} (VIADUCT_SHM_WINDOW), its memory in Split-C one "
                  "of {} and its static data (VIADUCT_SPREAD_BYTES, VIADUCT_HEAP_BYTES)",
                  in_units(now.window), in_units(now.region())),
      ""};
  if (limit.soft == RLIM_INFINITY || limit.soft >= largest) return finding;
  finding.health = Health::problem;
  finding.meaning += limit.soft < now.window ? ", which do not fit: no job starts"
                                             : ", which does not fit: no Split-C program starts";
  finding.remedy = raise_or_lower("f", limit, now, limit.soft / 4);
  return finding;
}

/// Why @p option's value in the environment is refused; "" where it is accepted.
std::string problem_of(config::Option option) {
  bool flag = false;
  std::int64_t number = 0;
  std::string text;
  void* const room = option.type == config::Type::boolean ? static_cast<void*>(&flag)
                     : option.type == config::Type::text  ? static_cast<void*>(&text)
                                                          : &number;
  option.offset = 0;
  try {
    config::load(room, std::span(&option, 1));
  } catch (const Error& refused) {
    return refused.sentence();
  }
  return "";
}

Finding settings() {
  std::string problem;
  for (const config::Table& table : config::all_tables())
    for (const config::Option& option : table.options)
      if (problem.empty()) problem = problem_of(option);
  const char* const provider = std::getenv("VIADUCT_PROVIDER");
  if (const std::string refused = provider != nullptr ? config::provider_problem(provider) : "";
      !refused.empty())
    problem = fmt::format("VIADUCT_PROVIDER={}: {}", provider, refused);
  if (problem.empty())
    return {Health::good, "settings", "each value is accepted",
            "viaduct-info --help-config lists them", ""};
  return {Health::problem, "settings", problem, "no program of Viaduct starts so", ""};
}

const char* word_for(Health health) noexcept {
  return health == Health::good ? "ok" : health == Health::hint ? "hint" : "PROBLEM";
}

}  // namespace

std::vector<Finding> examine(const std::string& system_root) {
  const MachineLimits limits = machine_limits(system_root);
  std::vector<Finding> findings{settings(), lock_of_memory(system_root), shared_memory_folder(),
                                memory_files(), cross_memory()};
  if (auto yama = ptrace_scope(system_root)) findings.push_back(*yama);
  findings.insert(findings.end(),
                  {barriers(), process_descriptors(), memory_changes(system_root),
                   huge_pages(system_root), cores(limits), core_quota(limits), memory(limits),
                   processes(limits), open_files(limits), address_space(), file_size()});
  return findings;
}

std::string describe(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& each : findings) {
    text += fmt::format("{:<8} {}: {}\n         {}\n", word_for(each.health), each.subject,
                        each.found, each.meaning);
    if (!each.remedy.empty()) text += fmt::format("         fix: {}\n", each.remedy);
  }
  const auto problems = std::count_if(findings.begin(), findings.end(), [](const Finding& each) {
    return each.health == Health::problem;
  });
  return text + (problems == 0
                     ? std::string("\nNo problems.\n")
                     : fmt::format("\n{} problem{}.\n", problems, problems == 1 ? "" : "s"));
}

int exit_code_of(const std::vector<Finding>& findings) noexcept {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& each) { return each.health == Health::problem; })
             ? 1
             : 0;
}

}  // namespace viaduct::info
