#include "benchmarks/common/conclude.hpp"

#include <cstdio>

#include "benchmarks/common/machine.hpp"
#include "runtime/program/command_line.hpp"

namespace viaduct::bench {

void conclude(const Figures& figures, const Job& job, const std::string& json_file) {
  figures.print(stdout);
  program::write_out();
  if (json_file.empty()) return;
  const char* const mode = job.threads_mode() ? "threads" : "processes";
  figures.write_json(json_file, machine_facts(job.size(), mode));
}

}  // namespace viaduct::bench
