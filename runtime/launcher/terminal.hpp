#pragma once
/// @file
/// The terminal that a job was started from.

#include "runtime/launcher/supervisor.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::launcher {

/// The controlling terminal, to be watched for its end; empty when there is none (setsid, a batch
/// system), or when its end is not to matter (nohup).
[[nodiscard]] FileDescriptor open_terminal(const SupervisorLink& supervisor);

/// Whether the terminal has gone.  Blocks: never.
[[nodiscard]] bool is_hung_up(int terminal) noexcept;

}  // namespace viaduct::launcher
