// Launcher: the answer to SIGUSR1.

#include <fmt/format.h>
#include <atomic>

#include "runtime/hang_report.hpp"
#include "runtime/launcher/launcher.hpp"
#include "runtime/launcher/processes.hpp"
#include "runtime/launcher/say.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct::launcher {
void Launcher::print_hang_report() const {
  const std::uint64_t now = monotonic_ns();
  std::string report =
      fmt::format("what each rank{} waits for:", is_agent_ ? " on " + part_.host_name : "");
  for (std::uint32_t i = part_.first_rank; i < part_.first_rank + part_.ranks; ++i) {
    const RankRecord& record = host_.page().record(Rank{i});
    report += "\n  " + hang_line(record, i, operation_of(record), now, handler_of(record),
                                 host_.gathering_of(Rank{i}));
    const char state = process_state(record.pid.load(std::memory_order_relaxed));
    if (state == 'T' || state == 't') report += "; its process is stopped";
  }
  say(report);
}

}  // namespace viaduct::launcher
