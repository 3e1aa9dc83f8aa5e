// Launcher: the answer to SIGUSR1.

#include <fmt/format.h>
#include <sys/uio.h>
#include <algorithm>
#include <array>

#include "runtime/clock.hpp"
#include "runtime/hang_report.hpp"
#include "runtime/launcher/launcher.hpp"
#include "runtime/launcher/processes.hpp"
#include "runtime/launcher/say.hpp"

namespace viaduct::launcher {
namespace {

constexpr std::size_t kLongestName = 48;

/// The name of the operation that a rank is in: a literal in its memory, read where the kernel
/// allows it.
std::string operation_of(const RankRecord& record, pid_t pid) {
  const char* const address = record.operation.load(std::memory_order_relaxed);
  if (address == nullptr) return {};
  std::array<char, kLongestName> name{};
  const iovec here{name.data(), name.size() - 1};
  const iovec there{const_cast<char*>(address), name.size() - 1};
  if (::process_vm_readv(pid, &here, 1, &there, 1, 0) <= 0) return {};
  const std::string text(name.data());
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return printable ? text : std::string{};
}

}  // namespace

void Launcher::print_hang_report() const {
  const std::uint64_t now = monotonic_ns();
  std::string report = "what each rank waits for:";
  for (std::uint32_t i = part_.first_rank; i < part_.first_rank + part_.ranks; ++i) {
    const RankRecord& record = host_.page().record(Rank{i});
    // The rank's own word: a program between the launcher and the rank may have another pid. The
    // number serves to look only, so that a wrong one does no harm.
    const pid_t pid = record.pid.load(std::memory_order_relaxed);
    report += "\n  " + hang_line(record, i, operation_of(record, pid), now);
    const char state = process_state(pid);
    if (state == 'T' || state == 't') report += "; its process is stopped";
  }
  say(report);
}

}  // namespace viaduct::launcher
