#pragma once
/// @file
/// The end of a benchmark that is a job.

#include <string>

#include "benchmarks/common/figures.hpp"
#include "viaduct/job.hpp"

namespace viaduct::bench {

/// Prints @p figures, and writes them with the facts of the machine to @p json_file; empty: no
/// file.  Throws Error: the file, or standard output, cannot be written.
void conclude(const Figures& figures, const Job& job, const std::string& json_file);

}  // namespace viaduct::bench
