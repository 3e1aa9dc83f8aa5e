#include "via/error_reports.hpp"

namespace viaduct::via {

bool ErrorReports::add(const AsyncError& error) {
  if (!callback_) return false;
  errors_.push_back(error);
  return true;
}

void ErrorReports::tell(const Callback& log) noexcept {
  while (!errors_.empty()) {
    const AsyncError error = errors_.front();
    errors_.pop_front();
    const Callback callback = callback_;
    ++telling_;
    (callback ? callback : log)(error);
    --telling_;
  }
}

void ErrorReports::forget(const Vi& vi) noexcept {
  std::erase_if(errors_, [&vi](const AsyncError& error) { return error.vi == &vi; });
}

void ErrorReports::forget(const CompletionQueue& queue) noexcept {
  std::erase_if(errors_, [&queue](const AsyncError& error) { return error.queue == &queue; });
}

}  // namespace viaduct::via
