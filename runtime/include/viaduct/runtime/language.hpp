#pragma once
/// @file
/// The language that Viaduct's headers are written in. An older one ends the compilation here, with
/// one sentence instead of hundreds.

#if __cplusplus < 202002L
#error "Viaduct needs C++20: compile with -std=c++20 (CMake: set(CMAKE_CXX_STANDARD 20))"
#include <C++20, as the line above says>  // There is no such file: compilers stop here.
#endif
