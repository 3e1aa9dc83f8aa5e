#pragma once
// The common parts of the two sorting programs: the source of the keys, the check of the result,
// and its output.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "examples/splitc/common/program.hpp"

namespace examples {

/// Whole numbers of 64 bits with the sign bit turned over: unsigned keys in the numbers' order.
using Key = std::uint64_t;
[[nodiscard]] constexpr Key key_of(std::int64_t number) {
  return static_cast<Key>(number) ^ (Key{1} << 63);
}
[[nodiscard]] constexpr std::int64_t number_of(Key key) {
  return static_cast<std::int64_t>(key ^ (Key{1} << 63));
}

struct SortOptions {
  std::string file;                              ///< numbers, one or more a line; else generated
  std::size_t count = 200000;                    ///< generated
  std::uint64_t range = std::uint64_t{1} << 32;  ///< generated from 0 to range - 1
  std::uint64_t seed = 1;
  std::string output;
};
void add_sort_options(viaduct::program::CommandLine& app, SortOptions& options);

/// Collective. This process' block (blocks.hpp) of the keys.
[[nodiscard]] std::vector<Key> load_keys(const SortOptions& options);

/// A checksum that does not change when keys are moved, and does when one is lost or altered.
struct Fingerprint {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t mixed_sum = 0;
};
/// Collective. The checksum of all processes' keys.
[[nodiscard]] Fingerprint fingerprint_of(const std::vector<Key>& mine);

/// Collective. Writes the result where the options say, checks it, and answers the exit code: the
/// keys, process after process, must be in order and be those of @p before.
[[nodiscard]] int finish_sort(const SortOptions& options, const std::vector<Key>& mine,
                              const Fingerprint& before);

}  // namespace examples
