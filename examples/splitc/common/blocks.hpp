#pragma once
// The distribution of items in blocks of consecutive ones.

#include <algorithm>
#include <cstddef>

#include <viaduct/splitc.hpp>

namespace examples {

/// MYPROC and PROCS in the type of sizes.
[[nodiscard]] inline std::size_t my_number() { return static_cast<std::size_t>(MYPROC); }
[[nodiscard]] inline std::size_t process_count() { return static_cast<std::size_t>(PROCS); }

/// Items 0 to count - 1: process 0 has the first ceil(count / PROCS) of them, process 1 the next
/// ones, and so on; the last processes may have fewer, or none.
class Blocks {
 public:
  explicit Blocks(std::size_t count)
      : count_(count), most_((count + process_count() - 1) / process_count()) {}

  [[nodiscard]] std::size_t count() const { return count_; }
  /// The size of the greatest block; at least 1, so that it may be allocated.
  [[nodiscard]] std::size_t most() const { return std::max<std::size_t>(most_, 1); }
  [[nodiscard]] std::size_t begin(std::size_t process) const {
    return std::min(process * most_, count_);
  }
  [[nodiscard]] std::size_t end(std::size_t process) const { return begin(process + 1); }
  [[nodiscard]] std::size_t size(std::size_t process) const {
    return end(process) - begin(process);
  }
  [[nodiscard]] int owner(std::size_t i) const { return static_cast<int>(i / most()); }
  /// The item's place in its owner's block.
  [[nodiscard]] std::size_t place(std::size_t i) const { return i % most(); }

  [[nodiscard]] std::size_t my_begin() const { return begin(my_number()); }
  [[nodiscard]] std::size_t my_end() const { return end(my_number()); }
  [[nodiscard]] std::size_t my_size() const { return size(my_number()); }
  [[nodiscard]] bool is_mine(std::size_t i) const { return my_begin() <= i && i < my_end(); }

 private:
  std::size_t count_;
  std::size_t most_;
};

}  // namespace examples
