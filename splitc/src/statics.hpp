#pragma once
// Moving the program's static data into shared memory.

#include <cstddef>
#include <optional>
#include <string>

#include "splitc/src/image.hpp"
#include "viaduct/runtime/memory_file.hpp"

namespace viaduct::splitc::detail {

/// Why this process' static data must stay private; empty when it may move.
[[nodiscard]] std::string reason_against_sharing(const Image& image);

/// Copies the static data of @p image into @p file from @p offset on, one range behind the other,
/// and maps the file in its place. Other threads are held meanwhile, for which it waits 2 s at
/// most, and signals wait. Protections that the program has given to pages stay.
/// Answers why the static data must stay private after all; empty: it has moved. Throws Error:
/// memory is short, and nothing has changed; or a mapping is refused.
[[nodiscard]] std::string share_statics(const Image& image, MemoryFile& file, std::size_t offset);

}  // namespace viaduct::splitc::detail
