#pragma once
/// What am_registry_libraries.cpp knows about a library with handlers.

#include <cstddef>
#include <cstdint>

#include "viaduct/am/registry.hpp"

struct LibraryHandler {
  const void* function;
  viaduct::am::Thunk thunk;
  const char* name;
  std::uint16_t handler_number;
};

/// Registers the library's handlers through @p registrar (the program's own) and answers them.
using RegisterLibrary =
    LibraryHandler* (*)(void (*registrar)(const viaduct::am::HandlerEntry&) noexcept,
                        std::size_t* count);
inline constexpr const char* kRegisterLibrary = "viaduct_test_register_library";
