#pragma once
/// @file
/// The exception of set-up: a sentence that names the object, the value and the remedy, with the
/// errno behind it. Texts of the library end with a code, as in [VIA-0101], that docs/errors.md and
/// `viaduct-info explain VIA-0101` explain.

#include <cstdint>
#include <string>
#include <system_error>

namespace viaduct {

/// The number of a kind of failure; the same in every release. runtime/errors/ has them all.
enum class ErrorCode : std::uint16_t { none = 0 };

/// "VIA-0101".  Throws std::bad_alloc alone.
[[nodiscard]] std::string to_string(ErrorCode code);

/// @p sentence with " [VIA-0101]" behind it. Codes that are in it already, because it quotes
/// another failure, are left out: a text has one code.  Throws std::bad_alloc alone.
[[nodiscard]] std::string with_code(ErrorCode code, const std::string& sentence);

/// what() is the sentence, a colon, the errno's text, and the code in brackets if there is one.
class Error : public std::system_error {
 public:
  /// @p sentence names the object, the value and the remedy. Throws std::bad_alloc alone.
  Error(std::errc code, const std::string& sentence);
  /// The same with an errno that a system call has left.  Throws std::bad_alloc alone.
  Error(int errno_value, const std::string& sentence);
  /// The library's own: @p id leads to the entry in the error catalogue. Throws std::bad_alloc
  /// alone.
  Error(ErrorCode id, std::errc code, const std::string& sentence);
  /// The same with an errno that a system call has left.  Throws std::bad_alloc alone.
  Error(ErrorCode id, int errno_value, const std::string& sentence);

  [[nodiscard]] const char* what() const noexcept override { return text_.what(); }
  /// The entry in the error catalogue; none in an error of a program's own.
  [[nodiscard]] ErrorCode id() const noexcept { return id_; }
  /// The sentence as it was given, without errno and code.  Throws std::bad_alloc alone.
  [[nodiscard]] std::string sentence() const { return sentence_.what(); }

 private:
  ErrorCode id_;
  std::runtime_error sentence_;  // strings that are copied without throwing
  std::runtime_error text_;
};

/// Throws Error with the calling thread's current errno.
[[noreturn]] void throw_errno(const std::string& sentence);
/// The same, with the entry @p id in the error catalogue.  Throws Error.
[[noreturn]] void throw_errno(ErrorCode id, const std::string& sentence);

/// Writes one sentence and the code to standard error, prefixed with "viaduct:" and the rank if
/// there is one, and aborts. For contract violations by the caller (a request from a handler, a
/// second reply) that cannot be answered.  Call from any thread.  @return never.
[[noreturn, gnu::cold, gnu::noinline]] void violate_contract(ErrorCode id,
                                                             const std::string& sentence) noexcept;

}  // namespace viaduct
