#pragma once
/// @file
/// A rank that no launcher has started ends with the agent of its host.

namespace viaduct {

/// The reading end of a pipe whose only writing end the agent has. While this object lives, the
/// kernel kills this process when the agent ends before its connection with this process has ended.
/// The agent and its watchdog may even be killed at once. Where the kernel cannot (gVisor), the
/// watchdog is left.
class Lifeline {
 public:
  Lifeline() = default;
  /// Takes over @p pipe; -1 for none.
  explicit Lifeline(int pipe) noexcept;
  ~Lifeline();
  Lifeline(Lifeline&& other) noexcept;
  Lifeline& operator=(Lifeline&& other) noexcept;

 private:
  int pipe_ = -1;
};

}  // namespace viaduct
