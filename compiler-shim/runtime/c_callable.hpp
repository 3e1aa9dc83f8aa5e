#pragma once
// Definitions that the C-callable functions share.

#include "compiler-shim/include/split-c/runtime.h"

/// Before the definition of a function of the library. Weak: old programs define functions of their
/// own by the same names, and call those.
#define VIADUCT_C_CALLABLE extern "C" [[gnu::weak]]
