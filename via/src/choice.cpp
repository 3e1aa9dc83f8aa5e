#include "via/choice.hpp"

#include <fmt/format.h>

#include "runtime/errors/codes.hpp"
#include "via/verbs/provider.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via {
namespace {

constexpr std::string_view kShm = "shm";
constexpr std::string_view kVerbs = "verbs";

Choice choose_verbs(std::string_view reason, std::string_view device, std::uint32_t sender) {
  const verbs::Found found = verbs::find_ports(device, sender);
  if (found.chosen < 0)
    return {"", fmt::format("{}: verbs is needed, and {}", reason,
                            found.problem.empty() ? "no port is active" : found.problem)};
  const verbs::PortInfo& port = found.ports[static_cast<std::size_t>(found.chosen)];
  return {std::string(kVerbs),
          fmt::format("{}; by {} port {} ({})", reason, port.device, port.port, port.gid_type)};
}

}  // namespace

Choice choose_provider(bool same_host, std::string_view forced, std::uint32_t sender) {
  const std::string_view device =
      forced.size() > kVerbs.size() ? forced.substr(kVerbs.size() + 1) : std::string_view{};
  if (forced == kVerbs || (!device.empty() && forced.substr(0, kVerbs.size()) == kVerbs &&
                           forced[kVerbs.size()] == ':'))
    return choose_verbs("VIADUCT_PROVIDER forces verbs", device, sender);
  if (!forced.empty() && forced != kShm)
    return {"", fmt::format("VIADUCT_PROVIDER is {}: set it to shm or verbs, or leave it unset",
                            forced)};
  if (forced == kShm && !same_host)
    return {"", "VIADUCT_PROVIDER forces shm, and the two are on different hosts: unset it"};
  if (forced == kShm) return {std::string(kShm), "VIADUCT_PROVIDER forces shm"};
  if (same_host) return {std::string(kShm), "the two have the same host key, so they share memory"};
  return choose_verbs("the two are on different hosts", {}, sender);
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

}  // namespace viaduct::via
