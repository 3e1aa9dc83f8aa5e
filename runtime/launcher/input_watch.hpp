#pragma once
/// @file
/// An agent's standard input, before the job begins.

#include <thread>

#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::launcher {

/// Standard input is the first thing that an agent has of viaduct-run, long before a connection. A
/// thread looks at it, reading nothing, and ends this process when it ends: viaduct-run is gone.
/// viaduct-run keeps it open until the job begins, so the end may overtake the order to begin by
/// some moments only.
class InputWatch {
 public:
  /// Throws Error.
  InputWatch();
  /// The job begins.
  ~InputWatch();
  InputWatch(const InputWatch&) = delete;
  InputWatch& operator=(const InputWatch&) = delete;

 private:
  FileDescriptor stop_;
  std::thread thread_;
};

}  // namespace viaduct::launcher
