#pragma once
/// @file
/// The segment of an endpoint, as it is registered and shown to peers.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "viaduct/am/detail/wire_format.hpp"
#include "viaduct/via/memory_region.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::via {
class Transport;
}
namespace viaduct::via::channel {
class Nic;
}

namespace viaduct::am::detail {

class TranslationTable;
struct Map;

/// The memory that peers write to and read from directly, and the page that tells them where that
/// is. The page never shows memory that is not registered.
class Segment {
 public:
  /// Makes the page, which shows no memory.  Throws Error (memory).
  void open(via::channel::Nic& nic, via::ProtectionTag tag);
  /// Undoes open(), while no peer knows the page.
  void take_back_page() noexcept;
  /// Ends the use of all memory, when no peer uses it any more.
  void close() noexcept;

  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }
  [[nodiscard]] EndpointPage& page() const noexcept { return *page_; }
  /// @return whether this process may write to the memory (shm::Nic::may_write()).
  [[nodiscard]] bool is_writable() const noexcept { return is_writable(region_); }
  /// Takes new memory of @p bytes in place of that before, and shows it to the peers of @p table.
  void make(std::size_t bytes, const TranslationTable& table);
  /// The same with the caller's memory.
  void use(std::span<std::byte> memory, const TranslationTable& table);
  /// Writes into @p block where the memory is, for a peer that a transport reaches.
  void show_in(MapBlock& block) const noexcept;

 private:
  void publish(std::span<std::byte> memory, const TranslationTable& table);
  void show_remote(via::Transport& transport, std::uint32_t key, const TranslationTable& table,
                   std::vector<const Map*> peers) noexcept;
  [[nodiscard]] bool is_writable(const via::MemoryRegion& region) const noexcept;
  void replace_own(std::byte* memory) noexcept;

  via::channel::Nic* nic_ = nullptr;
  via::ProtectionTag tag_{};
  std::span<std::byte> memory_;
  std::byte* own_ = nullptr;  // the memory, where make() has made it
  via::MemoryRegion region_;
  std::uint32_t transport_key_ = 0;  // of the memory, with the transport; 0: none
  EndpointPage* page_ = nullptr;
};

}  // namespace viaduct::am::detail
