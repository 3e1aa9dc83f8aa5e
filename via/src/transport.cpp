/// Gives a transport to ranks that need one.

#include <fmt/format.h>

#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/errors/codes.hpp"
#include "via/channel/nic.hpp"
#include "via/choice.hpp"
#include "via/generations/generations.hpp"
#include "via/generations/settings.hpp"
#include "via/verbs/provider.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via {
namespace {

/// The value of VIADUCT_PROVIDER: shm or verbs (perhaps with a device) between all ranks, or
/// nothing.
struct Wish {
  bool shm = false;
  bool verbs = false;
  std::string_view device;
};
Wish wished_provider() {
  const char* const text = std::getenv("VIADUCT_PROVIDER");
  const std::string_view name = text == nullptr ? std::string_view{} : text;
  constexpr std::string_view kVerbs = "verbs";
  if (name.empty()) return {};
  if (name == "shm") return {true, false, {}};
  if (name == kVerbs) return {false, true, {}};
  if (name.size() > kVerbs.size() + 1 && name.starts_with("verbs:"))
    return {false, true, name.substr(kVerbs.size() + 1)};
  throw Error(
      errors::no_such_provider, std::errc::no_such_device,
      "VIADUCT_PROVIDER=" + std::string(name) +
          ": Active Messages and Split-C run on the providers shm and verbs: set it to one of "
          "them, or leave it unset");
}

constexpr std::string_view kGenerationKey = "via.generation";

std::string own_generation() {
  generations::Settings settings;
  config::load(&settings, generations::options());
  return settings.generation;
}

}  // namespace

void state_generation(Job& job) {
  const std::string own = own_generation();
  job.bootstrap().put(kGenerationKey, std::as_bytes(std::span(own)));
}

void require_same_generation(Job& job) {
  const std::string own = own_generation();
  const std::vector<std::byte> bytes = job.bootstrap().get(Rank{0}, kGenerationKey);
  const std::string_view first(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (first == own) return;
  throw Error(errors::settings_differ, std::errc::invalid_argument,
              fmt::format("rank {} and rank 0 differ in VIADUCT_AM_GENERATION, {} and {} "
                          "(channel: unset): set it alike for all ranks",
                          index(job.rank()), own, first));
}

void use_transport_where_needed(Job& job, channel::Nic& nic) {
  if (const auto generation = generations::wished_generation()) {
    const char* const provider = std::getenv("VIADUCT_PROVIDER");
    const bool named = provider != nullptr && *provider != '\0';
    return nic.use_transport(
        generations::open_transport(job, named ? provider : "shm", *generation),
        [&](Rank rank) { return rank != job.rank(); });
  }
  const Wish wish = wished_provider();
  if (wish.shm) require_one_host(job);
  if (!wish.verbs && job.hosts() == 1) return;
  nic.use_transport(verbs::open_transport(job, wish.device), [&](Rank rank) {
    return wish.verbs ? rank != job.rank() : !job.same_host(rank);
  });
}

}  // namespace viaduct::via
