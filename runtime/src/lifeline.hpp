#pragma once
/// @file
/// A rank that no launcher has started ends with the agent of its host.

#include <utility>

#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct {

/// The reading end of a pipe whose only writing end the agent has. While this object lives, the
/// kernel kills this process when the agent ends before its connection with this process has ended,
/// even when the agent and its watchdog are killed at once. Where the kernel cannot (gVisor), the
/// watchdog is left.
class Lifeline {
 public:
  Lifeline() = default;
  explicit Lifeline(FileDescriptor pipe) noexcept;
  ~Lifeline();
  Lifeline(Lifeline&& other) noexcept = default;
  Lifeline& operator=(Lifeline&& other) noexcept {
    std::swap(pipe_, other.pipe_);
    return *this;
  }

 private:
  FileDescriptor pipe_;
};

}  // namespace viaduct
