#pragma once
/// @file
/// Leaving the surroundings of the process that a helper process was forked from.

#include <initializer_list>

namespace viaduct {

/// Out of the user's sight: a session of its own, no terminal, no streams, no directory held, no
/// descriptor but @p kept; the signals that people send are ignored. The process is called @p name.
void detach(const char* name, std::initializer_list<int> kept);

}  // namespace viaduct
