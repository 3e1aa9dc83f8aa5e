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
#include "via/fault/provider.hpp"
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

std::string own_generation() {
  generations::Settings settings;
  config::load(&settings, generations::options());
  return settings.generation;
}

std::string own_provider() {
  const char* const name = std::getenv("VIADUCT_PROVIDER");
  return name == nullptr ? "" : name;
}

/// shm, or verbs: what ranks must have in common.
std::string kind_of(const std::string& provider) {
  if (provider.empty()) return "shm";
  if (fault::is_fault(provider)) return kind_of(fault::provider_under(provider));
  return provider.substr(0, provider.find(':'));
}

constexpr std::string_view kGenerationKey = "via.generation";
constexpr std::string_view kProviderKey = "via.provider";

void put_text(Job& job, std::string_view key, const std::string& text) {
  job.bootstrap().put(key, std::as_bytes(std::span(text)));
}

std::string text_of_rank_0(Job& job, std::string_view key) {
  const std::vector<std::byte> bytes = job.bootstrap().get(Rank{0}, key);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void refuse_difference(const Job& job, const char* variable,
                                    const std::string& values) {
  throw Error(errors::settings_differ, std::errc::invalid_argument,
              fmt::format("rank {} and rank 0 differ in {}, {}: give all ranks the same {}",
                          index(job.rank()), variable, values, variable));
}

}  // namespace

void state_transport(Job& job) {
  if (!generations::wished_generation()) static_cast<void>(wished_provider());
  static_cast<void>(kind_of(own_provider()));  // each rank complains of its own
  put_text(job, kGenerationKey, own_generation());
  put_text(job, kProviderKey, own_provider());
}

void require_same_transport(Job& job) {
  const std::string generation = own_generation();
  const std::string first_generation = text_of_rank_0(job, kGenerationKey);
  if (generation != first_generation)
    refuse_difference(job, "VIADUCT_AM_GENERATION",
                      fmt::format("{} and {} (channel: unset)", generation, first_generation));
  const std::string provider = own_provider();
  const std::string first_provider = text_of_rank_0(job, kProviderKey);
  if (kind_of(provider) != kind_of(first_provider))
    refuse_difference(job, "VIADUCT_PROVIDER",
                      fmt::format("{} and {}", provider.empty() ? "unset" : provider,
                                  first_provider.empty() ? "unset" : first_provider));
}

void use_transport_where_needed(Job& job, channel::Nic& nic) {
  if (const auto generation = generations::wished_generation()) {
    const std::string provider = own_provider();
    return nic.use_transport(
        generations::open_transport(job, provider.empty() ? "shm" : provider, *generation),
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
