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

/// Runs a program found in PATH and waits. Throws std::system_error when it cannot be started.
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
