#pragma once
/// @file
/// Completion queues [CQ].

#include <cstddef>
#include <cstdint>
#include <functional>

#include "viaduct/runtime/status.hpp"
#include "viaduct/via/descriptor.hpp"

namespace viaduct::via {

class Vi;

enum class Queue : std::uint8_t { send, receive };

/// A descriptor that is done, the work queue that it was posted to, and that one's VI.
struct Completion {
  Vi* vi = nullptr;
  Descriptor* descriptor = nullptr;
  Queue queue = Queue::send;
};

/// Collects the completions of the work queues attached to it: FIFO per work queue, no order
/// between queues. Belongs to one thread at a time.
class CompletionQueue {
 public:
  CompletionQueue() = default;
  virtual ~CompletionQueue() = default;
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;

  /// Takes one completion. ok, or retry when there is none.  Blocks never.  Progress: moves the
  /// NIC's connections on.
  virtual Status poll(Completion& out) noexcept = 0;

  /// Takes one completion, waiting at most @p timeout_ns (negative: for ever): spins, yields, then
  /// blocks in the kernel. ok or timeout.
  virtual Status wait(Completion& out, std::int64_t timeout_ns) noexcept = 0;

  /// Calls @p ready once, from a thread of the NIC's, when a poll is worth while: a completion can
  /// be taken, or a control message has come. Until it has been called the queue must not be polled
  /// or waited on.  bad_state when one is already armed. @p ready may poll the queue and call
  /// notify() itself, but must not destroy the queue.
  virtual Status notify(std::function<void()> ready) = 0;

  /// Changes the number of completions it can hold. Throws Error when more are in it, or more than
  /// the NIC's limit.
  virtual void resize(std::size_t capacity) = 0;

  /// @return the number of completions that the queue can hold.
  [[nodiscard]] virtual std::size_t capacity() const noexcept = 0;
};

}  // namespace viaduct::via
