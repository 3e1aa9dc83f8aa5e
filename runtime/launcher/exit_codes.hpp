#pragma once
/// @file
/// The exit codes of viaduct-run itself, beside those of ranks.

namespace viaduct::launcher {

inline constexpr int kExitLeft = 1;   ///< a rank ended without finalizing its Job
inline constexpr int kExitUsage = 2;  ///< bad command line
inline constexpr int kExitTimeLimit = 124;
inline constexpr int kExitLauncher = 125;  ///< launcher or bootstrap error
inline constexpr int kExitSignal = 128;    ///< plus the signal's number

}  // namespace viaduct::launcher
