#pragma once
/// @file
/// Other programs, and files that go away.

#include <string>
#include <vector>

namespace viaduct::splitcc {

struct Outcome {
  int code = 0;        // of its exit; 128 + signal
  std::string output;  // when it was asked for
  std::string errors;  // likewise
};

enum class Keep : unsigned char { nothing, errors, output_and_errors };

/// Thrown when a signal asks this program to end: what it has made goes away on the way out.
struct Ended {
  int signal;
};

/// From here on SIGINT, SIGTERM and SIGHUP, where they are not ignored, end the program that
/// run_program() has started, with all in its process group, and make run_program() throw Ended.
void end_children_with_this_program();

/// Runs a program found in PATH, in a process group of its own, and waits. Throws std::system_error
/// when it cannot be started, Ended when a signal has come.
[[nodiscard]] Outcome run_program(const std::vector<std::string>& command, Keep keep);

/// A folder that is removed with what is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  /// A new file's name, ending in @p name.
  [[nodiscard]] std::string file(const std::string& name);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int count_ = 0;
};

}  // namespace viaduct::splitcc
