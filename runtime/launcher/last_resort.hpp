#pragma once
/// @file
/// The end of viaduct-run when memory runs out and no code catches the exception.

namespace viaduct::launcher {

/// The sentence for it, without the name of the program. Its code is errors::system_refused.
inline constexpr const char* kNoMemory =
    "no memory is left for viaduct-run's own processes (ulimit -v, or the control group's "
    "memory.max) [VIA-0201]";

}  // namespace viaduct::launcher
