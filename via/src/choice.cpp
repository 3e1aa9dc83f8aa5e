#include "via/choice.hpp"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "runtime/errors/codes.hpp"
#include "via/verbs/provider.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via {
namespace {

constexpr std::string_view kShm = "shm";
constexpr std::string_view kVerbs = "verbs";

Choice choose_verbs(std::string_view reason, std::string_view device, std::uint32_t turn) {
  const verbs::Found found = verbs::find_ports(device, turn);
  if (found.chosen < 0)
    return {"", fmt::format("{}: verbs is needed, and {}", reason,
                            found.problem.empty() ? "no port is active" : found.problem)};
  const verbs::PortInfo& port = found.ports[static_cast<std::size_t>(found.chosen)];
  return {std::string(kVerbs),
          fmt::format("{}; by {} port {} ({})", reason, port.device, port.port, port.gid_type)};
}

}  // namespace

Choice choose_provider(bool same_host, std::string_view forced, std::uint32_t turn) {
  const std::string_view device =
      forced.size() > kVerbs.size() ? forced.substr(kVerbs.size() + 1) : std::string_view{};
  if (forced == kVerbs || (!device.empty() && forced.substr(0, kVerbs.size()) == kVerbs &&
                           forced[kVerbs.size()] == ':'))
    return choose_verbs("VIADUCT_PROVIDER forces verbs", device, turn);
  if (!forced.empty() && forced != kShm)
    return {"", fmt::format("VIADUCT_PROVIDER is {}: set it to shm or verbs, or leave it unset",
                            forced)};
  if (forced == kShm && !same_host)
    return {"", "VIADUCT_PROVIDER forces shm, and the two are on different hosts: unset it"};
  if (forced == kShm) return {std::string(kShm), "VIADUCT_PROVIDER forces shm"};
  if (same_host) return {std::string(kShm), "the two have the same host key, so they share memory"};
  return choose_verbs("the two are on different hosts", {}, turn);
}

std::uint32_t turn_of(const Job& job, Rank rank) noexcept {
  std::uint32_t before = 0;
  for (std::uint32_t r = 0; r < index(rank); ++r)
    if (job.host_of(Rank{r}) == job.host_of(rank)) ++before;
  return before;
}

void require_one_host(const Job& job) {
  if (job.hosts() == 1) return;
  throw Error(
      errors::hosts_unreachable, std::errc::no_such_device,
      fmt::format("this job's {} ranks are on {} hosts, and provider shm reaches only those "
                  "of one: provider verbs is missing between them; start all ranks on one "
                  "host, or see viaduct-info for what provider verbs finds on this one",
                  job.size(), job.hosts()));
}

std::string next_nic_key(Job& job) { return fmt::format("via.nic.{}", job.next_nic()); }

void fence_of_provider(Job& job, const std::string& key, std::string_view kind) {
  const std::string kind_key = key + ".provider";
  job.bootstrap().put(kind_key, std::as_bytes(std::span(kind)));
  job.bootstrap().fence();
  const std::vector<std::byte> bytes = job.bootstrap().get(Rank{0}, kind_key);
  const std::string_view first(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (first == kind) return;
  throw Error(errors::settings_differ, std::errc::invalid_argument,
              fmt::format("rank {} opens provider {}, and rank 0 provider {}: give all ranks the "
                          "same VIADUCT_PROVIDER",
                          index(job.rank()), kind, first));
}

}  // namespace viaduct::via
