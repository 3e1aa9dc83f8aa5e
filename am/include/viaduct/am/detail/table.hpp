#pragma once
/// @file
/// The translation table of an endpoint, and the MAPs that its messages take.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "viaduct/am/detail/map.hpp"
#include "viaduct/am/types.hpp"
#include "viaduct/runtime/owned.hpp"

namespace viaduct::am::detail {

/// What the indices of an endpoint name, and the MAP that a message to each index takes. The table
/// owns all MAPs of the endpoint. An index whose entry is not in use has no MAP.
class TranslationTable {
 public:
  struct Entry {
    EndpointName name;
    bool in_use = false;
    Tag tag = kTagNone;
  };
  TranslationTable();
  /// The memory that an index takes.
  static constexpr std::size_t kBytesPerIndex = sizeof(Map*) + sizeof(Entry);

  [[nodiscard]] std::size_t size() const noexcept { return maps_.size(); }
  /// The table never shrinks.
  void grow(std::size_t count);
  /// @return the MAP of @p index, or the null map, over which no message goes.  Precondition: @p
  /// index is in the table.
  [[nodiscard]] Map& map_of(Index index) const noexcept { return *maps_[value(index)]; }
  [[nodiscard]] Map& null_map() noexcept { return *null_map_; }
  /// Messages to @p index take @p map from now on.
  void lead(Index index, Map& map) noexcept { maps_[value(index)] = &map; }

  [[nodiscard]] const Entry& operator[](Index index) const noexcept {
    return entries_[value(index)];
  }
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  /// @return whether @p index is in use; false beyond the table.
  [[nodiscard]] bool is_mapped(Index index) const noexcept {
    return value(index) < entries_.size() && entries_[value(index)].in_use;
  }
  /// @return the lowest index that names @p name, or kNoIndex.
  [[nodiscard]] Index index_of(EndpointName name) const noexcept;
  /// @p index names @p name from now on. @p other: the lowest index that names it already.
  ///
  /// @return ok; bad_state (in use, or @p other has another tag).
  Status set(Index index, EndpointName name, Tag tag, Index other);
  /// @p index names nothing any more.
  void clear(Index index) noexcept;

  [[nodiscard]] const std::vector<Owned<Map>>& maps() const noexcept { return owned_; }
  /// @return the MAP to @p name; null: there is none.
  [[nodiscard]] Map* find(EndpointName name) const noexcept;
  /// Adds @p map, and leads its index there.
  Map& add(Owned<Map> map);
  /// Takes @p map out of the table.
  [[nodiscard]] Owned<Map> remove(Map& map) noexcept;

 private:
  std::vector<Map*> maps_;  // by index; never null: entries without a MAP share the null map
  std::vector<Entry> entries_;
  Owned<Map> null_map_;  // of its own: a MAP is aligned to a cache line
  std::vector<Owned<Map>> owned_;
};

}  // namespace viaduct::am::detail
