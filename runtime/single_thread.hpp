#pragma once
/// @file
/// Whether the process has one thread, so that nothing need be kept from a second one.

#include <sys/single_threaded.h>

namespace viaduct {

/// @return whether the caller is the only thread of the process. It stays so until the caller makes
/// a thread. A process that has had several threads may go on to answer false.  Never blocks.
/// Cost: one load.
[[nodiscard]] inline bool is_single_threaded() noexcept { return __libc_single_threaded != 0; }

}  // namespace viaduct
