#pragma once
/// @file
/// The one table of a job's counters that VIADUCT_STATS=1 prints.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/src/job_bootstrap.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/stats.hpp"

namespace viaduct {

/// Publishes this rank's counters; print_stats on rank 0 finds them after the next fence.
void put_stats(Bootstrap& bootstrap, const std::vector<Stats::Row>& rows);

/// Writes the table of all ranks' counters to standard error, in one piece.
void print_stats(JobBootstrap& bootstrap, std::uint32_t size);

/// The table: a row for each counter, with sum, least and greatest over @p ranks.
[[nodiscard]] std::string format_stats(const std::vector<std::vector<Stats::Row>>& ranks);

/// The rows as text and back. Text, so that a rank whose counters differ from another's can still
/// be added up.
[[nodiscard]] std::string pack_rows(const std::vector<Stats::Row>& rows);
[[nodiscard]] std::vector<Stats::Row> unpack_rows(const std::string& text);

}  // namespace viaduct
