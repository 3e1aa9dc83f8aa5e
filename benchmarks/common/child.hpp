#pragma once
/// @file
/// Other programs, run to their end.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace viaduct::bench {

struct Ended {
  int code = 0;        ///< 128 + the signal's number when a signal ended it
  std::string output;  ///< of standard output and standard error together
};

/// Runs @p command (the program's path, then its arguments), without standard input, and waits for
/// its end.  Throws Error when it cannot be started, and when SIGINT, SIGTERM or SIGHUP has come:
/// the command has been asked to end, too, and at its own end this program ends by that signal.
[[nodiscard]] Ended run_child(const std::vector<std::string>& command);

/// Runs @p count copies of @p command at the same time, without standard input and output, and
/// waits for the end of all.  Throws Error when one cannot be started, or does not end with 0.
void run_children(const std::vector<std::string>& command, std::uint32_t count);

/// Throws Error in a process of a job of several ranks: a benchmark that starts jobs of its own
/// would run once for each rank.
void require_no_job();

/// The folder of this program's file.
[[nodiscard]] std::filesystem::path own_folder();
/// @p path, if it can be run.  Throws Error with the @p remedy.
std::filesystem::path require_program(const std::filesystem::path& path, const char* remedy);

/// A temporary folder for files that such programs read; removed with its contents.
class ScratchFolder {
 public:
  /// Throws Error that names the parent folder in which it cannot be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace viaduct::bench
