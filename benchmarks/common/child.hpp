#pragma once
/// @file
/// Other programs, run to their end.

#include <string>
#include <vector>

namespace viaduct::bench {

struct Ended {
  int code = 0;        ///< 128 + the signal's number when a signal ended it
  std::string output;  ///< of standard output and standard error together
};

/// Runs @p command (the program's path, then its arguments), without standard input, and waits for
/// its end.  Throws Error when it cannot be started.
[[nodiscard]] Ended run_child(const std::vector<std::string>& command);

/// A folder of its own for files that such programs read; removed with all that is in it.
class ScratchFolder {
 public:
  /// Throws Error naming the folder that it cannot be made in.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace viaduct::bench
