#pragma once
/// @file
/// The memory that litmus tests work on, and how processes run them in step.

#include <vector>

#include "tests/splitc/litmus.hpp"
#include "tests/splitc/model_values.hpp"

namespace viaduct::splitc_test {

inline constexpr std::uint32_t kRuns = 128;  // most in a batch

struct alignas(128) Cell {
  long word;
  long own_word;
  std::byte block[kBlock];
};
struct CellPair {
  Cell x;
  Cell y;
};

/// Kinds of memory.
enum class Where : std::uint8_t { spread, fixed, stack };

/// What a batch works with.
struct Layout {
  std::array<std::uint32_t, kMaxRoles> ranks{};  // by role
  std::uint32_t x_owner = 0;
  std::uint32_t y_owner = 0;
  Where x_where{};
  Where y_where{};
  std::uint32_t runs = 0;
  unsigned paths = 0;  // that accesses may take
  bool one_sided = false;
  bool by_clock = false;  // roles 0 and 1 agree on a time to begin at
};

class World {
 public:
  /// Collective.
  explicit World(CellPair* on_stack);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// The same in all processes.
  [[nodiscard]] Layout choose(const Case& subject, std::uint64_t seed) const;
  /// Collective.
  void run_batch(const Case& subject, const Layout& layout);
  /// In process 0, after a batch.
  [[nodiscard]] Outcome outcome(const Case& subject, const Layout& layout, std::uint32_t run) const;

 private:
  using Results = std::array<long, kResults>;
  struct Own {
    alignas(128) long gate;   // runs that the other role has come to
    alignas(128) long start;  // what the clock shows when the run begins
    alignas(128) splitc::lock_t lock;
    alignas(128) long word;
    alignas(128) Results results[kMaxRoles][kRuns];  // process 0's are filled
    alignas(128) std::byte large[kLarge];
  };

  [[nodiscard]] splitc::global_ptr<CellPair> pair(std::uint32_t owner, Where where,
                                                  std::uint32_t run) const;
  void clear(const Layout& layout);
  void meet(const Layout& layout, std::uint32_t role, long run);
  void agree_on_start(const Layout& layout, std::uint32_t role);

  Own* own_;
  std::array<std::vector<splitc::global_ptr<CellPair>>, 3> cells_;
  CellPair* spread_;
  bool handshake_;  // a word of the other process is soon there
  unsigned path_;
  std::uint32_t round_ = 0;
  long start_ = 0;  // of the run before
};

}  // namespace viaduct::splitc_test
