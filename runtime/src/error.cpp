#include "viaduct/runtime/error.hpp"

#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/src/rank_name.hpp"

namespace viaduct {
namespace {

constexpr std::size_t kDigits = 4;  // of a code as it is printed

// One buffer, so that the line leaves in one write and the lines of several ranks do not mix.
void write_line(const std::string& line) noexcept {
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t wrote = ::write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

/// @p text without each " [VIA-0101]" in it.
std::string without_codes(std::string text) {
  constexpr std::string_view kBegin = " [VIA-";
  for (std::size_t at = 0; (at = text.find(kBegin, at)) != std::string::npos;) {
    const std::size_t end = at + kBegin.size() + kDigits;
    const bool is_code = end < text.size() && text[end] == ']';
    if (is_code)
      text.erase(at, end + 1 - at);
    else
      ++at;
  }
  return text;
}

}  // namespace

std::string to_string(ErrorCode code) {
  const std::string digits = std::to_string(static_cast<unsigned>(code));
  return "VIA-" + std::string(digits.size() < kDigits ? kDigits - digits.size() : 0, '0') + digits;
}

std::string with_code(ErrorCode code, const std::string& sentence) {
  return without_codes(sentence) + " [" + to_string(code) + "]";
}

Error::Error(std::errc code, const std::string& sentence)
    : Error(ErrorCode::none, code, sentence) {}

Error::Error(int errno_value, const std::string& sentence)
    : Error(ErrorCode::none, errno_value, sentence) {}

Error::Error(ErrorCode id, std::errc code, const std::string& sentence)
    : Error(id, static_cast<int>(code), sentence) {}

Error::Error(ErrorCode id, int errno_value, const std::string& sentence)
    : std::system_error(errno_value, std::generic_category(), sentence),
      id_(id),
      sentence_(without_codes(sentence)),
      text_(id == ErrorCode::none ? std::system_error::what()
                                  : with_code(id, std::system_error::what())) {}

void throw_errno(const std::string& sentence) { throw Error(errno, sentence); }

void throw_errno(ErrorCode id, const std::string& sentence) { throw Error(id, errno, sentence); }

void violate_contract(ErrorCode id, const std::string& sentence) noexcept {
  write_line("viaduct: " + rank_prefix() + with_code(id, sentence) + "\n");
  std::abort();
}

}  // namespace viaduct
