#include "viaduct/runtime/stats.hpp"

#include <algorithm>

namespace viaduct {
namespace {

void add_row(std::vector<Stats::Row>& rows, std::string_view layer, const CounterName& name,
             std::uint64_t value) {
  const auto same = [&](const Stats::Row& row) {
    return row.layer == layer && row.name == name.name;
  };
  const auto found = std::find_if(rows.begin(), rows.end(), same);
  if (found != rows.end()) {
    found->value += value;
  } else {
    rows.push_back({std::string(layer), std::string(name.name), std::string(name.unit), value});
  }
}

}  // namespace

void Stats::add(std::string_view layer, std::span<const CounterName> names,
                std::span<const std::uint64_t> values) {
  sources_.push_back({layer, names, values});
}

void Stats::remove(std::span<const std::uint64_t> values) {
  const auto same = [&](const Source& source) { return source.values.data() == values.data(); };
  const auto found = std::find_if(sources_.begin(), sources_.end(), same);
  if (found == sources_.end()) return;
  for (std::size_t i = 0; i < found->names.size(); ++i) {
    add_row(finished_, found->layer, found->names[i], found->values[i]);
  }
  sources_.erase(found);
}

std::vector<Stats::Row> Stats::rows() const {
  std::vector<Row> rows = finished_;
  for (const Source& source : sources_) {
    for (std::size_t i = 0; i < source.names.size(); ++i) {
      add_row(rows, source.layer, source.names[i], source.values[i]);
    }
  }
  return rows;
}

}  // namespace viaduct
