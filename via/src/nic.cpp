#include "viaduct/via/nic.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "via/choice.hpp"
#include "via/fault/provider.hpp"
#include "via/shm/nic.hpp"
#include "via/verbs/provider.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/config.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via {
namespace {

/// Whether @p name is verbs:DEVICE.
bool names_a_device(std::string_view name) noexcept {
  return name.starts_with("verbs:") && !name.ends_with(':');
}

}  // namespace

MemoryRegion::~MemoryRegion() {
  if (nic_ != nullptr) nic_->deregister(handle_);
}

void MemoryRegion::swap(MemoryRegion& other) noexcept {
  std::swap(nic_, other.nic_);
  std::swap(handle_, other.handle_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
}

std::unique_ptr<Nic> open_nic(Job& job, std::string_view name) {
  if (name == "shm") {
    require_one_host(job);
    return std::make_unique<shm::Nic>(job);
  }
  if (name == "verbs") return verbs::open(job);
  if (names_a_device(name)) return verbs::open(job, name.substr(name.find(':') + 1));
  if (fault::is_fault(name)) return fault::open(job, name);
  throw Error(errors::no_such_provider, std::errc::no_such_device,
              "cannot open a NIC: " + config::provider_problem(std::string(name)) +
                  " (set VIADUCT_PROVIDER to one of them or leave it unset)");
}

}  // namespace viaduct::via

namespace viaduct::config {

std::span<const std::string_view> providers() noexcept {
  static constexpr std::array<std::string_view, 2> kProviders{
      "shm", "verbs"};  // all that open_nic() knows
  return kProviders;
}

std::string provider_problem(const std::string& name) {
  if (via::fault::is_fault(name)) {
    try {
      return provider_problem(via::fault::provider_under(name));
    } catch (const Error& error) {
      return error.sentence();
    }
  }
  const auto all = providers();
  const std::string first = via::names_a_device(name) ? "verbs" : name;
  if (std::find(all.begin(), all.end(), first) != all.end()) return {};
  std::string known;
  for (const std::string_view provider : all)
    known += (known.empty() ? "" : ", ") + std::string(provider);
  return "there is no provider \"" + name + "\"; this build has: " + known;
}

}  // namespace viaduct::config
