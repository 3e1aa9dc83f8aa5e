#pragma once

#include <cstdint>
#include <string>

namespace viaduct::shim {

/// Collective. Allocates every static spread array of the program.
void allocate_static_arrays();
/// "NAME[element]" of the static or automatic spread array that @p word lies in, else nothing.
[[nodiscard]] std::string spread_array_at(std::uint64_t word);
/// Static global pointers that begin as local ones become pointers to objects of this process.
void complete_static_pointers();

}  // namespace viaduct::shim
