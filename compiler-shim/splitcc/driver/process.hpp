#pragma once
/// @file
/// Runs other programs, and makes temporary files.

#include <string>
#include <vector>

namespace viaduct::splitcc {

struct Outcome {
  int code = 0;        // of its exit; 128 + signal
  int signal = 0;      // that has ended it
  std::string output;  // when it was asked for
  std::string errors;  // likewise
};

enum class Keep : unsigned char { nothing, errors, output_and_errors };

/// Thrown when no process reads this program's output any more: the temporary files are removed on
/// the way out, and then the signal ends the program.
struct Ended {
  int signal;
};

/// From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT, where they are not ignored, end this program
/// at any moment, after the program that run_program() has started, with all in its process group,
/// and after the temporary folders. Writing fails instead of raising SIGPIPE or SIGXFSZ.
///
/// Call from   main(), before other threads, folders and run_program()
void end_with_children();

/// Whether a write to a pipe without a reader is to end this program by SIGPIPE.
[[nodiscard]] bool ends_of_broken_pipe();

/// Runs a program found in PATH, in a process group of its own, and waits. Throws std::system_error
/// when it cannot be started.
[[nodiscard]] Outcome run_program(const std::vector<std::string>& command, Keep keep);

/// A folder that is removed with its contents.
class TemporaryFolder {
 public:
  /// Its name ends in @p name where no folder is called so yet: then a compiler cache finds again
  /// what it has compiled there. Throws std::system_error.
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  /// A new file's name, ending in @p name.
  [[nodiscard]] std::string file(const std::string& name);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<std::string> files_;
};

}  // namespace viaduct::splitcc
