#pragma once
/// @file
/// Threads of the launcher's own processes.

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::launcher {

/// A new thread that runs @p body.  Throws Error, which says that it was to be for @p purpose.
template <class Body>
[[nodiscard]] std::thread start_thread(const char* purpose, Body&& body) {
  try {
    return std::thread(std::forward<Body>(body));
  } catch (const std::system_error& problem) {
    throw Error(errors::system_refused, problem.code().value(),
                std::string("cannot start a thread for ") + purpose + " (ulimit -u)");
  }
}

}  // namespace viaduct::launcher
