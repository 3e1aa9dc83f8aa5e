#pragma once
/// @file
/// The lock of an object whose calls are serialised. Public headers declare it only: <mutex> would
/// double what compiling them costs.

#include <mutex>

namespace viaduct {

struct CallMutex : std::recursive_mutex {};

}  // namespace viaduct
