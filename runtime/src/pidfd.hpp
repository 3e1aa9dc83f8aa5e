#pragma once
/// @file
/// A descriptor that stands for a process.

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct {

/// pidfd_open(2) of @p pid; none where the kernel or seccomp refuse it.
inline FileDescriptor open_pidfd(pid_t pid) noexcept {
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace viaduct
