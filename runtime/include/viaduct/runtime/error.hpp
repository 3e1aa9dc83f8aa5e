#pragma once
/// @file
/// The exception of set-up: a sentence that names the object, the value and the remedy, with the
/// errno behind it.

#include <string>
#include <system_error>

namespace viaduct {

/// what() is the sentence, a colon, and the errno's text.
class Error : public std::system_error {
 public:
  /// @p sentence names the object, the value and the remedy. Throws std::bad_alloc alone.
  Error(std::errc code, const std::string& sentence);
  /// The same with an errno that a system call has left.  Throws std::bad_alloc alone.
  Error(int errno_value, const std::string& sentence);
};

/// Throws Error with the calling thread's current errno.
[[noreturn]] void throw_errno(const std::string& sentence);

/// Writes one sentence to standard error, prefixed with "viaduct:" and the rank if there is one,
/// and aborts. For contract violations by the caller (a request from a handler, a second reply)
/// that cannot be answered.  Call from any thread.  @return never.
[[noreturn, gnu::cold, gnu::noinline]] void violate_contract(const std::string& sentence) noexcept;

}  // namespace viaduct
