#pragma once

namespace viaduct::shim {

/// Collective. Allocates every static spread array of the program.
void allocate_static_arrays();

}  // namespace viaduct::shim
