#include "via/nic.hpp"

#include <utility>

#include "runtime/error.hpp"
#include "runtime/job.hpp"
#include "via/shm/nic.hpp"

namespace viaduct::via {

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
  if (name == "shm") return std::make_unique<shm::Nic>(job);
  throw Error(std::errc::no_such_device, "cannot open provider '" + std::string(name) +
                                             "': this build has shm (set VIADUCT_PROVIDER=shm or leave it unset)");
}

}  // namespace viaduct::via
