#pragma once
/// @file
/// The terminal that a job was started from.

#include <sys/types.h>
#include <span>

#include "runtime/launcher/supervisor.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::launcher {

/// The controlling terminal, to be watched for its end; empty when there is none (setsid, a batch
/// system), or when its end is not to matter (nohup).
[[nodiscard]] FileDescriptor open_terminal(const SupervisorLink& supervisor);

/// Whether the terminal has gone.  Blocks: never.
[[nodiscard]] bool is_hung_up(int terminal) noexcept;

/// read(2) of standard input, for a thread that blocks SIGTTIN. It begins no read of a terminal
/// before something is there and the job is in the foreground: such a read would take what is typed
/// for the shell after the job was suspended. In the background it waits.
[[nodiscard]] ssize_t read_standard_input(std::span<char> to) noexcept;

}  // namespace viaduct::launcher
