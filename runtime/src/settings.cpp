#include "viaduct/runtime/settings.hpp"

#include <array>
#include <limits>

// The struct holds a string, so it is not of standard layout in the letter; every compiler that is
// supported defines offsetof for it.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace viaduct {
namespace {

using config::Option;
using config::Type;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kTiB = std::int64_t{1} << 40;
constexpr std::int64_t kSecond = 1'000'000'000;

constexpr std::array<Option, 7> kOptions{{
    {"spin_ns", "VIADUCT_SPIN_NS", "auto", "ns", Type::time_ns, 0, 60 * kSecond, "",
     "How long a wait spins before it yields; auto: long when every rank has a core, else not at "
     "all.",
     offsetof(RuntimeSettings, spin_ns)},
    {"yields", "VIADUCT_YIELDS", "auto", "", Type::integer, 0, 1'000'000, "",
     "How often a wait yields its core before it blocks; auto: chosen with VIADUCT_SPIN_NS.",
     offsetof(RuntimeSettings, yields)},
    {"shm_window", "VIADUCT_SHM_WINDOW", "16G", "bytes", Type::bytes, kMiB, 16 * kTiB, "",
     "Address space of a rank's shared memory; it costs memory only where something is allocated "
     "in it.",
     offsetof(RuntimeSettings, shm_window)},
    {"stats", "VIADUCT_STATS", "0", "", Type::boolean, 0, 1, "",
     "Print one table of the whole job's counters when it is finalized.",
     offsetof(RuntimeSettings, stats)},
    {"log", "VIADUCT_LOG", "warn", "", Type::text, 0, 0, "error|warn|info|debug",
     "The least urgent messages that are still written to standard error.",
     offsetof(RuntimeSettings, log)},
    {"hang_report", "VIADUCT_HANG_REPORT", "0", "ns", Type::time_ns, 0, kNoLimit, "",
     "A wait longer than this prints what this rank waits for, but for the waits for all ranks at "
     "the start and at the end of its job; 0: never.",
     offsetof(RuntimeSettings, hang_report_ns)},
    {"join_timeout", "VIADUCT_JOIN_TIMEOUT", "60s", "ns", Type::time_ns, kSecond / 10,
     24 * 3600 * kSecond, "",
     "How long a rank that was not started by viaduct-run on this host waits for the others at the "
     "start of its job.",
     offsetof(RuntimeSettings, join_timeout_ns)},
}};

}  // namespace

std::span<const Option> runtime_options() noexcept { return kOptions; }

}  // namespace viaduct
