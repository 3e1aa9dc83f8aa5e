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
  /// is called first (which keeps the final values).
  void add(std::string_view layer, std::span<const CounterName> names,
           std::span<const std::uint64_t> values);
  void remove(std::span<const std::uint64_t> values);

  struct Row {
    std::string layer, name, unit;
    std::uint64_t value;
  };
  /// All counters, equal (layer, name) summed, in the order of add().
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
