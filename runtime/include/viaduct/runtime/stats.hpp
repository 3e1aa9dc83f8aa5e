#pragma once
/// @file
/// Counters of one rank. A layer owns an array of plain 64-bit words that only its rank's thread
/// increments, and a table of their names; VIADUCT_STATS=1 prints one table for the whole job when
/// it is finalized.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace viaduct {

struct CounterName {
  std::string_view name;  ///< "short_requests"
  std::string_view unit;  ///< "messages", "bytes", "calls"
};

class Stats {
 public:
  /// Adds a layer's counters; names and values have equal length and outlive the Stats, or remove()
  /// is called first (which keeps the final values).  Call from the rank's thread.
  void add(std::string_view layer, std::span<const CounterName> names,
           std::span<const std::uint64_t> values);
  /// Keeps the values as they are now and lets go of the array @p values. An array that was not
  /// added is ignored.  Call from the rank's thread.
  void remove(std::span<const std::uint64_t> values);

  struct Row {
    std::string layer, name, unit;
    std::uint64_t value;
  };
  /// @return all counters, equal (layer, name) summed: those removed first, then in the order of
  /// add().
  [[nodiscard]] std::vector<Row> rows() const;

 private:
  struct Source {
    std::string_view layer;
    std::span<const CounterName> names;
    std::span<const std::uint64_t> values;
  };
  std::vector<Source> sources_;
  std::vector<Row> finished_;
};

}  // namespace viaduct
