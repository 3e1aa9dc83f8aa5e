#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <string>

#include "am/bundle.hpp"
#include "am/context.hpp"
#include "am/endpoint.hpp"
#include "am/types.hpp"
#include "runtime/config.hpp"
#include "runtime/error.hpp"
#include "runtime/job.hpp"
#include "tools/viaduct-info/probes.hpp"
#include "tools/viaduct-info/report.hpp"
#include "via/choice.hpp"
#include "via/copy.hpp"
#include "via/memory_lock.hpp"
#include "via/registration_cache.hpp"
#include "via/verbs/provider.hpp"
#include "via/verbs/settings.hpp"

namespace viaduct::info {
namespace {

std::string line(const std::string& what, const std::string& value) {
  return fmt::format("  {:<28} {}\n", what, value);
}

std::string describe(const via::verbs::PortInfo& port, bool chosen) {
  const std::string gid =
      port.gid_index < 0 ? "no GID" : fmt::format("GID {} ({})", port.gid_index, port.gid_type);
  return fmt::format("{}, {}, MTU {}, {:.0f} Gb/s, {}{}", port.active ? "active" : "not active",
                     port.ethernet ? "Ethernet" : "InfiniBand", port.mtu_bytes,
                     port.gigabits_per_second, gid, chosen ? "; the one that is used" : "");
}

/// How Active Messages carry a message of this size by shm.
std::string way_by_shm(std::uint64_t bytes, std::uint64_t max_medium) {
  constexpr std::uint64_t kShort = 56;  // seven words beside the header, in one line
  if (bytes <= kShort) return "as arguments of a short message: one cache line (at most 56 bytes)";
  if (bytes <= max_medium)
    return fmt::format(
        "as a medium message, copied through the sender's ring (at most {} bytes, "
        "VIADUCT_AM_MEDIUM_BYTES)",
        max_medium);
  const std::string how = bytes >= via::copy_threshold()
                              ? fmt::format("{} from {} on", to_string(via::large_copy_method()),
                                            in_units(via::copy_threshold()))
                              : "plain stores";
  return fmt::format(
      "as a bulk message: one copy by the sender, into the receiver's segment by {}; "
      "into other memory by {}",
      how,
      cross_memory_works() ? "process_vm_writev"
                           : "a block of the window (process_vm_writev is refused)");
}

std::string way(const via::Choice& choice, std::uint64_t bytes, std::uint64_t max_medium) {
  if (choice.provider.empty()) return "not at all: " + choice.why;
  std::string text = fmt::format("provider {}: {}", choice.provider, choice.why);
  if (choice.provider == "shm") text += "\n" + line("", way_by_shm(bytes, max_medium));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// What bulk transfers over verbs do with the program's memory.
std::string kept_registered() {
  via::verbs::Settings settings;
  config::load(&settings, via::verbs::options());
  const via::MemoryLock lock = via::memory_lock();
  const bool automatic = settings.pinned_bytes == config::kAuto;
  const std::uint64_t bytes = automatic ? via::default_pinned_bytes(lock)
                                        : static_cast<std::uint64_t>(settings.pinned_bytes);
  if (bytes == 0) return "none: bulk transfers are copied (VIADUCT_VERBS_PINNED_BYTES=0)";
  if (const std::string problem = via::RegistrationCache::probe(); !problem.empty())
    return "none: bulk transfers are copied, since " + problem;
  std::string why = "VIADUCT_VERBS_PINNED_BYTES";
  if (automatic)
    why = lock.limited() ? "half of the limit of locked memory" : "locked memory is not limited";
  return fmt::format("up to {} of a rank ({}), for transfers from {} on", in_units(bytes), why,
                     in_units(static_cast<std::uint64_t>(settings.cache_from)));
}

std::string forced_provider() {
  const char* const forced = std::getenv("VIADUCT_PROVIDER");
  return forced != nullptr ? forced : "";
}

}  // namespace

std::string providers() {
  std::string text = "Providers of this build:\n";
  for (const std::string_view name : config::providers())
    text += line(std::string(name), name == "shm" ? "between ranks of one host"
                                                  : "InfiniBand, RoCE, Soft-RoCE, by libibverbs");
  const via::verbs::Found found = via::verbs::find_ports();
  for (std::size_t i = 0; i < found.ports.size(); ++i) {
    const auto& port = found.ports[i];
    text += line(fmt::format("{} port {}", port.device, port.port),
                 describe(port, static_cast<std::int32_t>(i) == found.chosen));
  }
  if (!found.problem.empty()) text += line("RDMA devices", found.problem);
  text += line("memory kept registered", kept_registered());
  return text;
}

std::string choose(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  Job job;
  const std::string forced = forced_provider();
  const bool pair = job.size() > 1;
  if (pair && (from >= job.size() || to >= job.size()))
    throw Error(std::errc::invalid_argument, fmt::format("there is no rank {} in this job of {}",
                                                         std::max(from, to), job.size()));
  if (job.hosts() > 1) {
    if (index(job.rank()) != from) return {};
    const bool same = job.host_of(Rank{from}) == job.host_of(Rank{to});
    const via::Choice choice = via::choose_provider(same, forced);
    return fmt::format("{} from rank {} to rank {} (hosts {} and {}):\n  {}\n", in_units(bytes),
                       from, to, job.host_of(Rank{from}), job.host_of(Rank{to}),
                       choice.provider.empty() ? "not at all: " + choice.why
                                               : "provider " + choice.provider + ": " + choice.why);
  }
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  if (index(job.rank()) != (pair ? from : 0)) return {};
  const std::uint64_t medium = endpoint.max_medium();
  const auto one = way(via::choose_provider(true, forced), bytes, medium);
  if (pair)
    return fmt::format("{} from rank {} to rank {}:\n  {}\n", in_units(bytes), from, to, one);
  return fmt::format("{} between two ranks\n  on one host:  {}\n  on two hosts: {}\n",
                     in_units(bytes), one, way(via::choose_provider(false, forced), bytes, medium));
}

}  // namespace viaduct::info
