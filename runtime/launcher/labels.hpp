#pragma once
/// @file
/// --label: the ranks' output, line by line, with "[rank] " before each line.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "runtime/launcher/descriptor.hpp"

namespace viaduct::launcher {

/// One pipe per rank and stream, read by a thread of its own, so that a reader of viaduct-run's
/// output that is slow never holds up the launcher. Lines stay whole, the two streams apart. When
/// the reader has gone, ranks that write on get SIGPIPE.
class Labels {
 public:
  Labels() = default;
  ~Labels() { finish(); }
  Labels(const Labels&) = delete;
  Labels& operator=(const Labels&) = delete;

  struct Ends {
    Descriptor out;
    Descriptor err;
  };
  /// The writing ends for one process, whose lines are to begin with @p label. Call before start().
  [[nodiscard]] Ends add(const std::string& label);

  void start();

  /// Writes what is still in the pipes, incomplete last lines too, and ends the thread. Who still
  /// holds a writing end is not waited for.
  void finish();

 private:
  struct Stream {
    Descriptor pipe;
    int target;
    std::string label;
    std::string partial;
  };
  Descriptor add_stream(const std::string& label, int target);
  void loop();
  std::size_t drain(Stream& stream);
  void finish(Stream& stream);
  void break_off(int target);
  void emit(Stream& stream, bool all);

  std::vector<Stream> streams_;
  Descriptor stop_;
  std::thread thread_;
};

}  // namespace viaduct::launcher
