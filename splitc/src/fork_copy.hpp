#pragma once
// The memory of a forked child, in place of the memory that its parent shares: a private copy at
// the same addresses, made before the child runs.

#include <cstddef>

namespace viaduct::splitc::detail {

/// Makes room for @p ranges calls of copy_on_fork(). Call from any thread.  Throws Error.
void prepare_copy_on_fork(std::size_t ranges);

/// Shared memory of this process: a mapping of @p fd, from @p offset on, at @p begin. Both stay
/// until the process ends.
/// fork(), from the first of these on, holds the thread that calls it until the child has copied
/// everything. Both block all signals meanwhile. Children of posix_spawn(), system(), popen(),
/// vfork() and _Fork() get no copy: they share the parent's memory until they exec. Call from any
/// thread.  Precondition: there is room.
void copy_on_fork(std::byte* begin, std::size_t bytes, int fd, std::size_t offset) noexcept;

/// Whether this process was forked by a process that shared memory; its own copy is private.
[[nodiscard]] bool is_forked_copy() noexcept;

}  // namespace viaduct::splitc::detail
