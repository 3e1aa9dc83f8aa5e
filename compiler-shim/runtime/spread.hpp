#pragma once

namespace viaduct::shim {

/// Collective. Allocates every static spread array of the program.
void allocate_static_arrays();
/// Static global pointers that begin as local ones become pointers to objects of this process.
void complete_static_pointers();

}  // namespace viaduct::shim
