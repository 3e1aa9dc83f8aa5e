/// Segments: the memory of an endpoint that peers write to and read from directly.

#include "viaduct/am/detail/segment.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "via/channel/nic.hpp"
#include "viaduct/am/detail/table.hpp"
#include "viaduct/via/transport.hpp"

namespace viaduct::am::detail {

void Segment::open(via::channel::Nic& nic, via::ProtectionTag tag) {
  page_ = new (nic.allocate(sizeof(EndpointPage))) EndpointPage{};
  page_->protection_tag = static_cast<std::uint32_t>(tag);
  nic_ = &nic;
  tag_ = tag;
}

void Segment::take_back_page() noexcept { nic_->release(reinterpret_cast<std::byte*>(page_)); }

/// Peers that have not yet heard of the end may still use the memory and the page.
void Segment::close() noexcept {
  region_ = {};
  if (transport_key_ != 0) nic_->transport()->deregister(transport_key_);
  if (own_ != nullptr) nic_->release_when_parted(own_);
  nic_->release_when_parted(reinterpret_cast<std::byte*>(page_));
}

bool Segment::is_writable(const via::MemoryRegion& region) const noexcept {
  via::shm::RegionEntry* const entry = nic_->local_region(region.handle());
  return entry == nullptr || via::shm::Nic::may_write(*entry);
}

void Segment::make(std::size_t bytes, const TranslationTable& table) {
  std::byte* memory = nic_->allocate(bytes);
  try {
    publish({memory, bytes}, table);
  } catch (...) {
    nic_->release(memory);
    throw;
  }
  replace_own(memory);
}

void Segment::use(std::span<std::byte> memory, const TranslationTable& table) {
  publish(memory, table);
  replace_own(nullptr);
}

void Segment::replace_own(std::byte* memory) noexcept {
  if (own_ != nullptr) nic_->release(own_);
  own_ = memory;
}

void Segment::publish(std::span<std::byte> memory, const TranslationTable& table) {
  via::MemoryRegion region;
  via::Transport* const transport = nic_->transport();
  std::uint32_t key = 0;
  std::vector<const Map*> peers;
  if (transport != nullptr) peers.reserve(table.maps().size());
  if (!memory.empty()) {
    region = nic_->register_memory(tag_, memory.data(), memory.size(),
                                   via::Rights::rdma_write | via::Rights::rdma_read);
    if (transport != nullptr) key = transport->register_memory(memory.data(), memory.size());
  }
  page_->segment_bytes.store(0);
  if (!memory.empty()) page_->segment_handle.store(static_cast<std::uint32_t>(region.handle()));
  page_->segment_address.store(reinterpret_cast<std::uint64_t>(memory.data()));
  page_->segment_bytes.store(memory.size());
  if (transport != nullptr) {
    page_->read_only.store(is_writable(region) ? 0 : 1);
    show_remote(*transport, key, table, std::move(peers));
  }
  region_ = std::move(region);
  memory_ = memory;
}

/// Shows the segment, which @p transport has registered as @p key, to the peers that are reached by
/// that. @p peers: empty, with room for all of them.
void Segment::show_remote(via::Transport& transport, std::uint32_t key,
                          const TranslationTable& table, std::vector<const Map*> peers) noexcept {
  const std::uint32_t before = std::exchange(transport_key_, key);
  for (const auto& map : table.maps()) {
    if (map->channel == nullptr || !map->channel->is_remote() ||
        map->channel->state() == via::ViState::idle)
      continue;
    auto* block = reinterpret_cast<MapBlock*>(map->channel->prepare_extra());
    show_in(*block);
    map->channel->forward_extra(reinterpret_cast<std::byte*>(block), sizeof *block);
  }
  // All peers are told before the first wait. During a wait, peers may come and go.
  for (const auto& map : table.maps()) peers.push_back(map.get());
  for (const Map* map : peers) {
    const bool is_here = std::any_of(table.maps().begin(), table.maps().end(),
                                     [&](const auto& owned) { return owned.get() == map; });
    if (is_here && map->channel != nullptr) (void)map->channel->flush_extra();
  }
  if (before != 0) transport.deregister(before);
}

void Segment::show_in(MapBlock& block) const noexcept {
  block.page.segment_address.store(page_->segment_address.load());
  block.page.segment_handle.store(transport_key_);
  block.page.segment_bytes.store(transport_key_ == 0 ? 0 : page_->segment_bytes.load());
  block.page.read_only.store(page_->read_only.load());
  block.page.check_word.store(check_word_of(block.page));
}

}  // namespace viaduct::am::detail
