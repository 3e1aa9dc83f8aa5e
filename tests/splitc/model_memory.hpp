#pragma once
/// @file
/// Memory of every kind in every process, and what should be in it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/splitc/model_values.hpp"

namespace viaduct::splitc_test {

inline constexpr std::uint32_t kMaxRanks = 16;
inline constexpr std::uint32_t kCellBytes = 128;
inline constexpr std::uint32_t kArenaBytes = 16384;

/// Where an object may be.
enum class Arena : std::uint8_t {
  spread,       // all_spread_malloc
  alike,        // all_malloc
  own,          // spread_malloc by the last process
  heap,         // new
  zeroed,       // static, without an initial value
  initialised,  // static, with one
  stack,        // of splitc_main
  thread,       // thread_local
  mapped,       // mmap
};
inline constexpr std::uint32_t kArenas = 9;
inline constexpr std::array<const char*, kArenas> kArenaNames{
    "spread memory",      "all_malloc", "spread_malloc", "heap", "zeroed static",
    "initialised static", "stack",      "thread_local",  "mmap"};

/// The real memory: this process' arenas, and pointers to everybody's.
class Memory {
 public:
  /// Collective. @p stack: kArenaBytes of it.
  explicit Memory(std::byte* stack);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] std::byte* mine(std::uint32_t arena) const noexcept { return mine_[arena]; }
  [[nodiscard]] splitc::global_ptr<std::byte> at(std::uint32_t process, std::uint32_t arena,
                                                 std::uint32_t offset) const noexcept {
    return all_[process][arena] + offset;
  }

 private:
  using Pointers = std::array<splitc::global_ptr<std::byte>, kArenas>;
  void exchange();

  std::array<std::byte*, kArenas> mine_{};
  std::vector<Pointers> all_;
  splitc::spread_ptr<Sixteen> spread_;
  splitc::spread_ptr<Sixteen> own_;
};

/// The calling process' memory, for functions that others run here.
[[nodiscard]] Memory& memory_here() noexcept;

/// What each process' arenas hold.
class Contents {
 public:
  explicit Contents(std::uint32_t procs) : bytes_(std::size_t{procs} * kArenas * kArenaBytes) {}
  [[nodiscard]] std::byte* at(std::uint32_t process, std::uint32_t arena,
                              std::uint32_t offset) noexcept {
    return bytes_.data() + (std::size_t{process} * kArenas + arena) * kArenaBytes + offset;
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Where and when something is checked, for the sentence that says what was wrong.
struct Place {
  std::uint64_t seed = 0;
  std::uint32_t phase = 0;
};
/// Says what happened and ends this process, so that the job ends.
[[noreturn]] void fail(const Place& place, const std::string& what);

/// Compares, and fails naming the first byte that differs.
void expect_bytes(const Place& place, const std::string& what, const std::byte* got,
                  const std::byte* wanted, std::size_t bytes);

}  // namespace viaduct::splitc_test
