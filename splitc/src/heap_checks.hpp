#pragma once
// Blocks of operator new in checked mode.

#include <cstddef>
#include <cstdint>

namespace viaduct::splitc::detail {

/// From now on operator new and delete report their blocks in the heap [begin, begin + bytes), of
/// which @p states has a state for each 16 bytes. Heap and states stay until the process ends.
void begin_heap_checks(std::uint8_t* states, std::byte* begin, std::size_t bytes) noexcept;

}  // namespace viaduct::splitc::detail
