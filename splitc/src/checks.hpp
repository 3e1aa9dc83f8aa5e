#pragma once
// The tables of checked mode (docs/checked.md): which bytes of the symmetric regions belong to a
// block, and the sentences about accesses that leave one, or come after its end.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "splitc/src/region.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/mapped_memory.hpp"

namespace viaduct::splitc::detail {

struct LastingMemory;

/// Each process has a state for every 16 bytes of its own region, in memory that the others of its
/// host map. A state is the number of bytes, from the first on, that belong to a block, or one of
/// the names below. A block of spread memory has the same state in all processes: blocks that all
/// allocate alike are looked up in this process' states, and blocks that one process has allocated
/// for all in that process' states.
class Checks {
 public:
  static constexpr std::size_t kGrain = 16;
  static constexpr std::uint8_t kUnknown = 0;  // in malloc's heap: no block has been reported there
  static constexpr std::uint8_t kBehind = 0xf1;
  static constexpr std::uint8_t kFreed = 0xfd;

  /// In the source; no file: unknown.
  struct Place {
    const char* file = nullptr;
    int line = 0;
    const void* code = nullptr;  // where the file is unknown
  };

  /// Publishes the states; a fence must follow before another process looks.  Throws Error.
  Checks(Job& job, const RegionLayout& layout, bool threads, LastingMemory& lasting);
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;

  /// Behind each block some bytes stay unused, so that an access behind it does not hit another
  /// block.
  [[nodiscard]] static constexpr std::size_t with_red_zone(std::size_t bytes) noexcept {
    if (bytes == 0) return 1 + kRedZone;
    return bytes + kRedZone < bytes ? bytes : bytes + kRedZone;
  }
  [[nodiscard]] static constexpr std::size_t without_red_zone(std::size_t span) noexcept {
    return span - kRedZone;
  }

  // Blocks of spread memory, by their offsets in the region.
  void allocated(std::size_t offset, std::size_t bytes, std::size_t span, Place place);
  void freed(std::size_t offset, std::size_t bytes, Place place);
  /// The freed span may be allocated again.
  void reused(std::size_t offset, std::size_t span) noexcept;
  [[nodiscard]] bool is_freed(std::size_t offset) const noexcept;

  /// From now on operator new and delete report their blocks.
  void watch_heap() noexcept;
  /// A forked child has states of its own.
  void copy_on_fork() noexcept;
  /// @p process is on another host: its states are not asked for.
  void hide(std::uint32_t process);

  /// Stops the program with a sentence when the @p bytes bytes at the global pointer @p word do not
  /// all lie in one allocated block, as far as that is known. @p asker: the process whose program
  /// has called @p operation.
  void check(const char* operation, std::uint32_t asker, std::uint64_t word, std::size_t bytes,
             Place at);

 private:
  static constexpr std::size_t kRedZone = 128;
  struct Block {
    std::size_t bytes = 0;
    Place allocated;
    Place freed;
  };

  [[nodiscard]] const std::uint8_t* states_of(std::uint32_t process);
  [[nodiscard]] const std::uint8_t* states_for(std::uint32_t process, std::size_t offset);
  [[nodiscard]] const Block* recorded(std::size_t begin) const noexcept;
  [[noreturn]] void stop_freed(const std::string& operation, const std::string& what,
                               const std::uint8_t* states, std::size_t wrong);
  [[noreturn]] void stop_outside(const std::string& operation, const std::string& what,
                                 const std::uint8_t* states, std::size_t first, std::size_t last,
                                 std::size_t wrong);

  Job& job_;
  RegionLayout layout_;
  bool threads_;
  std::size_t states_bytes_;
  int states_fd_ = -1;
  std::uint8_t* own_ = nullptr;
  std::byte* region_ = nullptr;
  struct Peer {
    bool is_known = false;
    const std::uint8_t* states = nullptr;
    MappedMemory mapping;
  };
  std::vector<Peer> peers_;
  std::map<std::size_t, Block> blocks_;
};

/// "read at job.cpp:12", "read in the code before 0x4012ab (...)": the beginning of a sentence.
[[nodiscard]] std::string with_place(const char* operation, const Checks::Place& at);

}  // namespace viaduct::splitc::detail
