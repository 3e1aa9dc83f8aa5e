#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <string>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "tools/viaduct-info/generation.hpp"
#include "tools/viaduct-info/probes.hpp"
#include "tools/viaduct-info/report.hpp"
#include "via/choice.hpp"
#include "via/copy.hpp"
#include "via/memory_lock.hpp"
#include "via/registration_cache.hpp"
#include "via/verbs/provider.hpp"
#include "via/verbs/settings.hpp"
#include "viaduct/am/settings.hpp"
#include "viaduct/am/types.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/config.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc/choice.hpp"

namespace viaduct::info {
namespace {

std::string line(const std::string& what, const std::string& value) {
  return fmt::format("  {:<28} {}\n", what, value);
}

std::string describe(const via::verbs::PortInfo& port, bool chosen) {
  const std::string gid =
      port.gid_index < 0 ? "no GID"
                         : fmt::format("GID {} {} ({})", port.gid_index, port.gid, port.gid_type);
  return fmt::format("{}, {}, MTU {}, {:.0f} Gb/s, {}{}", port.active ? "active" : "not active",
                     port.ethernet ? "Ethernet" : "InfiniBand", port.mtu_bytes,
                     port.gigabits_per_second, gid, chosen ? "; the one that is used" : "");
}

std::string limits_of(const via::verbs::PortInfo& port) {
  return fmt::format(
      "at most {} connections, {} requests under way in each, {} shared receives, {} regions",
      port.max_queue_pairs, port.max_queue_depth, port.max_shared_receives, port.max_regions);
}

constexpr std::uint64_t kShort = 56;  // seven words beside the header, in one line

/// How Active Messages carry a message of this size, where memory is shared and where it is not.
std::string way_of_small(std::uint64_t bytes, std::uint64_t max_medium, bool remote) {
  if (bytes <= kShort)
    return fmt::format("as arguments of a short message: one cache line (at most {} bytes){}",
                       kShort, remote ? ", written by RDMA with an immediate value" : "");
  if (bytes <= am::kMaxLineData && !remote)
    return fmt::format(
        "as a medium message, the data in its own two or three cache lines (at most {} bytes, 8 "
        "less for each word of arguments)",
        am::kMaxLineData);
  return fmt::format(
      "as a medium message, copied through the sender's ring (at most {} bytes, half of "
      "VIADUCT_AM_MEDIUM_BYTES){}",
      max_medium, remote ? ", payload and line written by RDMA at once" : "");
}

std::string way_of_bulk(std::uint64_t bytes, bool remote) {
  if (remote)
    return "as a bulk message: written by RDMA into the receiver's memory, without its help, then "
           "one line";
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

std::string way(const via::Choice& choice, std::uint64_t bytes) {
  if (choice.provider.empty()) return "not at all: " + choice.why;
  const auto max_medium = static_cast<std::uint64_t>(am::load_settings().medium_bytes) / 2;
  const std::string generation = generation_in_force();
  const bool maps = !generation.empty();
  const bool remote = maps || choice.provider != "shm";
  const bool small = bytes <= std::max(kShort, max_medium);
  const std::string text =
      fmt::format("provider {}: {}\n                {}", choice.provider, choice.why,
                  maps    ? way_of_map(generation, bytes, kShort, max_medium)
                  : small ? way_of_small(bytes, max_medium, remote)
                          : way_of_bulk(bytes, remote));
  if (!remote) return text;
  return text + "\n                Split-C's reads and writes: " +
         splitc::remote_way(splitc::load_settings(), bytes);
}

/// The registration of the program's memory for bulk transfers over verbs.
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
    why = (lock.limited() ? "half of the limit; locked memory: " : "locked memory: ") +
          locked_memory(lock);
  return fmt::format("up to {} of a rank ({}), for transfers from {} on", in_units(bytes), why,
                     in_units(static_cast<std::uint64_t>(settings.cache_from)));
}

via::Choice choice_for(bool same_host, std::uint32_t turn) {
  const char* const variable = std::getenv("VIADUCT_PROVIDER");
  const std::string forced = variable != nullptr ? variable : "";
  const std::string generation = generation_in_force();
  return generation.empty() ? via::choose_provider(same_host, forced, turn)
                            : provider_of_maps(generation, same_host, forced, turn);
}

/// A pair of this job's ranks.
std::string choose_in(Job& job, std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  if (from >= job.size() || to >= job.size())
    throw Error(
        errors::no_such_rank, std::errc::invalid_argument,
        fmt::format("there is no rank {}: {}", std::max(from, to), describe_ranks(job.size())));
  if (index(job.rank()) != from) return {};
  const std::uint32_t here = job.host_of(Rank{from});
  const std::uint32_t there = job.host_of(Rank{to});
  const std::string text =
      from == to ? "provider shm: a rank talks to itself by its own memory, whatever is forced"
                 : way(choice_for(here == there, via::turn_of(job, Rank{from})), bytes);
  const std::string hosts = here == there ? fmt::format("both on host {}", here)
                                          : fmt::format("on hosts {} and {}", here, there);
  return fmt::format("{} from rank {} to rank {} ({}):\n  {}\n", in_units(bytes), from, to, hosts,
                     text);
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
    text += line("", limits_of(port));
  }
  if (!found.problem.empty()) text += line("RDMA devices", found.problem);
  text += line("memory kept registered", kept_registered());
  return text;
}

std::string choose(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, bool names_ranks) {
  Job job;
  if (job.size() > 1 || names_ranks) return choose_in(job, from, to, bytes);
  return fmt::format("{} between two ranks\n  on one host:  {}\n  on two hosts: {}\n",
                     in_units(bytes), way(choice_for(true, 0), bytes),
                     way(choice_for(false, 0), bytes));
}

}  // namespace viaduct::info
