#include "runtime/src/stats_table.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/stats.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <sstream>

namespace viaduct {
namespace {

constexpr const char* kKey = "runtime.stats";

struct Total {
  Stats::Row row;
  std::uint64_t sum = 0;
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t greatest = 0;
};

void add(std::vector<Total>& totals, const Stats::Row& row) {
  const auto same = [&](const Total& t) {
    return t.row.layer == row.layer && t.row.name == row.name;
  };
  auto found = std::find_if(totals.begin(), totals.end(), same);
  if (found == totals.end()) found = totals.insert(found, Total{row});
  found->sum += row.value;
  found->least = std::min(found->least, row.value);
  found->greatest = std::max(found->greatest, row.value);
}

}  // namespace

std::string pack_rows(const std::vector<Stats::Row>& rows) {
  std::string text;
  for (const Stats::Row& row : rows)
    text += fmt::format("{}\t{}\t{}\t{}\n", row.layer, row.name, row.unit, row.value);
  return text;
}

std::vector<Stats::Row> unpack_rows(const std::string& text) {
  std::vector<Stats::Row> rows;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    Stats::Row row{};
    if (std::getline(fields, row.layer, '\t') && std::getline(fields, row.name, '\t') &&
        std::getline(fields, row.unit, '\t') && fields >> row.value) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string format_stats(const std::vector<std::vector<Stats::Row>>& ranks) {
  std::vector<Total> totals;
  for (const auto& rows : ranks) {
    for (const Stats::Row& row : rows) add(totals, row);
  }
  std::string text =
      fmt::format("viaduct: counters of {} rank{}\n", ranks.size(), ranks.size() == 1 ? "" : "s");
  text += fmt::format("{:<10} {:<28} {:<10} {:>16} {:>16} {:>16}\n", "layer", "counter", "unit",
                      "sum", "min", "max");
  for (const Total& total : totals) {
    text += fmt::format("{:<10} {:<28} {:<10} {:>16} {:>16} {:>16}\n", total.row.layer,
                        total.row.name, total.row.unit, total.sum, total.least, total.greatest);
  }
  return text;
}

void put_stats(Bootstrap& bootstrap, const std::vector<Stats::Row>& rows) {
  const std::string text = pack_rows(rows);
  bootstrap.put(kKey, std::as_bytes(std::span(text.data(), text.size())));
}

void print_stats(JobBootstrap& bootstrap, std::uint32_t size) {
  std::vector<std::vector<Stats::Row>> ranks;
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::vector<std::byte> bytes = bootstrap.get_or_empty(Rank{i}, kKey);
    if (bytes.empty()) continue;  // a rank that is lost, or that has no counters
    ranks.push_back(
        unpack_rows(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
  }
  const std::string table = format_stats(ranks);
  std::size_t done = 0;
  while (done < table.size()) {
    const ssize_t wrote = ::write(STDERR_FILENO, table.data() + done, table.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

}  // namespace viaduct
