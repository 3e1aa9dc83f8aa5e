#pragma once
// What the C-callable functions have in common.

#include "compiler-shim/include/split-c/runtime.h"

/// Before the definition of a function of the library. Weak: old programs bring functions of their
/// own by the same names, and mean those.
#define VIADUCT_C_CALLABLE extern "C" [[gnu::weak]]
