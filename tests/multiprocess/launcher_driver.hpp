#pragma once
/// @file
/// Starting programs from a test, and looking at what they leave.

#include <sys/types.h>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace driver {

struct Result {
  int code = -1;  ///< exit code, or 128 + signal
  std::string out;
  std::string err;
  double seconds = 0;
};

/// So long a program that has not hung may say nothing: nothing in these tests takes longer,
/// whatever else the machine does, but if it is an emulated one (TEST_PATIENCE).
int patience_seconds();

using Environment = std::vector<std::pair<std::string, std::string>>;
using Words = std::vector<std::string>;

Words operator+(Words left, const Words& right);

/// Waits until @p pipe, of which nothing is read, takes no more. False when it took too long.
bool wait_until_full(int pipe);

/// A program that runs beside the test. Whatever still runs at the end is killed.
class Program {
 public:
  explicit Program(const std::vector<std::string>& command, const Environment& environment = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  void write_stdin(const std::string& text);
  void close_stdin();

  /// Waits until the standard output (or error) has @p count times @p text. False when it ended or
  /// took too long.
  [[nodiscard]] bool wait_for(const std::string& text, int count = 1);
  [[nodiscard]] bool wait_for_error(const std::string& text, int count = 1);

  /// Waits until neither output stream takes more, of which nothing is read. False when it took too
  /// long.
  [[nodiscard]] bool wait_until_full() const;

  /// The standard error so far.
  [[nodiscard]] const std::string& error_text() const { return result_.err; }

  /// Waits for its end and for that of its output.
  Result finish();

 private:
  bool wait_in(const std::string& stream, const std::string& text, int count);
  bool read_some(int limit_ms);
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  Result result_;
  std::chrono::steady_clock::time_point started_;
};

/// Path of viaduct-run, or of another program of the build, from where this test's own file is.
std::string viaduct_run();
std::string test_program(const std::string& name);

/// A word that no other process has in its command line.
std::string new_tag();

/// Processes with @p tag in their command line that have not ended.
std::vector<pid_t> processes_with(const std::string& tag);

/// Only what hangs takes so long, on a machine however busy.
inline constexpr double kHangSeconds = 120;

/// Waits until none is left. False after kHangSeconds.
bool all_gone(const std::string& tag);

/// The name that a process goes by, and its parent.
std::string name_of(pid_t pid);
pid_t parent_of(pid_t pid);
std::vector<pid_t> children_of(pid_t parent);

/// The command of a job: viaduct-run with @p options, and the actor that has @p tag in its command
/// line and does @p verb.
Words command(const Words& options, const std::string& tag, const Words& verb);

/// Runs viaduct-run with @p options, and the actor or a script of the shell, to their ends. A
/// process that is left afterwards is a failure of the test.
Result launched(const Words& options, const Words& verb, const Environment& environment = {});
Result launched_script(const Words& options, const std::string& script);

bool has(const std::string& text, const std::string& part);
int count(const std::string& text, const std::string& part);

}  // namespace driver
