/// The translation table: which peer and which MAP an index stands for.

#include "viaduct/am/detail/table.hpp"

#include <algorithm>
#include <memory>

#include "am/src/map_life.hpp"

namespace viaduct::am::detail {

TranslationTable::TranslationTable() : null_map_(std::make_unique<Map>()) {}

/// The entries first: where memory lacks for the MAPs, size() is what both have room for.
void TranslationTable::grow(std::size_t count) {
  if (count < size()) return;
  entries_.resize(count);
  maps_.resize(count, null_map_.get());
}

Index TranslationTable::index_of(EndpointName name) const noexcept {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.in_use && entry.name.rank == name.rank && entry.name.number == name.number;
  });
  return Index{found == entries_.end() ? kNoIndex
                                       : static_cast<std::uint32_t>(found - entries_.begin())};
}

Status TranslationTable::set(Index index, EndpointName name, Tag tag, Index other) {
  Entry& entry = entries_[value(index)];
  if (entry.in_use) return Status::bad_state;
  if (value(other) != kNoIndex && entries_[value(other)].tag != tag) return Status::bad_state;
  entry = {name, true, tag};
  Map* existing = find(name);  // made by the peer, by another index, or by one that is no more
  if (existing == nullptr) return Status::ok;
  if (value(existing->index) == kNoIndex) retag(*existing, tag);
  existing->index = index_of(name);
  return Status::ok;
}

void TranslationTable::clear(Index index) noexcept {
  entries_[value(index)] = {};
  lead(index, *null_map_);
}

Map* TranslationTable::find(EndpointName name) const noexcept {
  const auto found = std::find_if(owned_.begin(), owned_.end(), [&](const auto& map) {
    return map->name.rank == name.rank && map->name.number == name.number;
  });
  return found == owned_.end() ? nullptr : found->get();
}

Map& TranslationTable::add(Owned<Map> map) {
  owned_.push_back(std::move(map));
  Map& added = *owned_.back();
  if (value(added.index) != kNoIndex) lead(added.index, added);
  return added;
}

Owned<Map> TranslationTable::remove(Map& map) noexcept {
  if (value(map.index) != kNoIndex) std::replace(maps_.begin(), maps_.end(), &map, null_map_.get());
  const auto found = std::find_if(owned_.begin(), owned_.end(),
                                  [&](const auto& owned) { return owned.get() == &map; });
  Owned<Map> removed = std::move(*found);
  owned_.erase(found);
  return removed;
}

}  // namespace viaduct::am::detail
