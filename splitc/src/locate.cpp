/// The path by which an operation reaches a place.

#include <string>

#include "runtime/errors/codes.hpp"
#include "splitc/src/mapped.hpp"
#include "splitc/src/wait.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/splitc/access.hpp"

namespace viaduct::splitc::detail {

/// The place of [address of word, + bytes): mapped in this process, or in a registered region, or
/// neither: then messages reach it. A pointer that cannot be right stops the program.
Machine::Impl::Place Machine::Impl::locate(const char* operation, std::uint64_t word,
                                           std::size_t bytes, Use use) {
  const std::uint32_t process = process_of(word);
  const std::uint64_t address = address_of(word);
  if (is_null(word))
    stop(errors::null_pointer, operation,
         "the global pointer is null: give it an object's address");
  if (process >= job.size()) stop_no_process(operation, "the global pointer", process);
  if (process == hot.myproc)
    return {own_place(operation, process, without_process(word), bytes, use), Place::kNone};
  switch (path) {
    case Path::automatic:
    case Path::direct:
      if (!mapped[process]) map_view(process);
      return {found(process, address, bytes, use), Place::kNone};
    case Path::rdma:
      return {nullptr, region_of(operation, process, address, bytes)};
    case Path::message:
      break;
  }
  return {};
}

/// The place as it is mapped here. Null: in no shared memory, or ranks are threads and the place
/// may only be read: then the owner is asked by a message, and says so.
std::byte* Machine::Impl::found(std::uint32_t process, std::uint64_t address, std::size_t bytes,
                                Use use) {
  std::byte* const here = machine.memory().find(process, address, bytes);
  const bool may_be_const = use == Use::writes && job.threads_mode();
  return here != nullptr && may_be_const && !is_writable(here, bytes) ? nullptr : here;
}

/// The registered range of @p process that holds all of it.
std::uint32_t Machine::Impl::region_of(const char* operation, std::uint32_t process,
                                       std::uint64_t address, std::size_t bytes) {
  Owner& owner = owners[process];
  if (!owner.known) {
    const auto table = job.bootstrap().get(Rank{process}, "splitc.regions");
    std::vector<std::uint64_t> words(table.size() / 8);
    std::memcpy(words.data(), table.data(), words.size() * 8);
    owner.tag = static_cast<via::ProtectionTag>(words.at(0));
    for (std::size_t i = 1; i + 3 < words.size(); i += 4)
      owner.regions.push_back(
          {words[i], words[i + 1], words[i + 2], static_cast<std::uint32_t>(words[i + 3])});
    owner.known = true;
    (void)channel(process, false, operation);  // the NIC knows the process then
  }
  for (std::uint32_t i = 0; i < owner.regions.size(); ++i) {
    const Region& region = owner.regions[i];
    const std::uint64_t at = address - region.address;
    if (at < region.bytes && bytes <= region.bytes - at) return i;
  }
  return Place::kNone;
}

/// Moves the bytes by RDMA. False: the NIC cannot reach the place, so a message must be used.
bool Machine::Impl::rdma(std::uint32_t process, std::uint32_t which, std::uint64_t address,
                         std::byte* local, std::size_t bytes, bool write) noexcept {
  if (which == Place::kNone) return false;
  const Owner& owner = owners[process];
  const Region& region = owner.regions[which];
  const auto place =
      nic->remote_place(Rank{process}, owner.tag, region.there + (address - region.address),
                        static_cast<via::MemoryHandle>(region.handle), bytes,
                        write ? via::Rights::rdma_write : via::Rights::rdma_read);
  if (place.status != 0) return false;
  if (place.mapped != nullptr && bytes <= sizeof(std::uint64_t)) {
    count(kRdma);
    copy_value(write ? place.mapped : local, write ? local : place.mapped, bytes);
    return true;
  }
  const bool done = write ? nic->write_place(Rank{process}, place, local, bytes)
                          : nic->read_place(Rank{process}, place, local, bytes);
  if (done) count(kRdma);
  return done;
}

void* mapped_objects(std::uint64_t first, std::size_t count, std::size_t bytes_each) {
  Machine::Impl& impl = machine("mapped").impl();
  if (count > kAddressMask / bytes_each) return nullptr;
  return impl.locate("mapped", first, count * bytes_each, Machine::Impl::Use::reads).here;
}

}  // namespace viaduct::splitc::detail
