#pragma once
// The process' numbers in threads that do not run splitc_main.

#include <cstdint>

namespace viaduct::splitc::detail {

/// `hot` is a variable of each thread, since ranks may be threads. Where they are processes,
/// threads that begin after this call see @p myproc and @p procs in theirs, so that the arithmetic
/// of spread pointers is right there. Nothing else of Split-C's state: its operations stop them
/// with a sentence. Without an effect where the program's memory cannot be changed.
void show_in_new_threads(std::uint32_t myproc, std::uint32_t procs) noexcept;

}  // namespace viaduct::splitc::detail
