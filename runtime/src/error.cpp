#include "viaduct/runtime/error.hpp"

#include <unistd.h>
#include <cerrno>
#include <cstdlib>

#include "runtime/src/rank_name.hpp"

namespace viaduct {
namespace {

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

}  // namespace

Error::Error(std::errc code, const std::string& sentence)
    : std::system_error(std::make_error_code(code), sentence) {}

Error::Error(int errno_value, const std::string& sentence)
    : std::system_error(errno_value, std::generic_category(), sentence) {}

void throw_errno(const std::string& sentence) { throw Error(errno, sentence); }

void violate_contract(const std::string& sentence) noexcept {
  write_line("viaduct: " + rank_prefix() + sentence + "\n");
  std::abort();
}

}  // namespace viaduct
