#pragma once
/// @file
/// The asynchronous errors of a NIC that its program has not been told of yet.

#include <cstdint>
#include <deque>
#include <functional>

#include "viaduct/via/nic.hpp"

namespace viaduct::via {

/// An error is found in the middle of a call that goes on to use its VI. The callback of
/// Nic::on_error() may destroy any VI, so it is called when no VI is in use any more: the provider
/// adds an error where it finds it, and tells at the end of the call. From one thread at a time.
class ErrorReports {
 public:
  using Callback = std::function<void(const AsyncError&)>;

  /// Nic::on_error().
  void set(Callback callback) { callback_ = std::move(callback); }
  /// @return false: there is no callback, and the caller logs the error.  Never waits.
  [[nodiscard]] bool add(const AsyncError& error);
  /// Calls the callback for each error, or @p log where it was taken away meanwhile. The callback
  /// may come here again, and set another one.
  void tell(const Callback& log) noexcept;
  /// Errors of a VI or a queue that ends are not told.
  void forget(const Vi& vi) noexcept;
  void forget(const CompletionQueue& queue) noexcept;
  /// @return whether there are errors to tell.  Cost: a load or two.
  [[nodiscard]] bool any() const noexcept { return !errors_.empty(); }
  /// @return whether the callback runs.  Cost: one load.
  [[nodiscard]] bool is_telling() const noexcept { return telling_ != 0; }

 private:
  Callback callback_;
  std::deque<AsyncError> errors_;
  std::uint32_t telling_ = 0;  // callbacks that run, one in the other
};

}  // namespace viaduct::via
