#include "benchmarks/common/app_list.hpp"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

/// A plain congruential generator: the same inputs on every machine.
class Random {
 public:
  std::uint32_t below(std::uint32_t limit) noexcept {
    word_ = word_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(((word_ >> 33) * limit) >> 31);
  }

 private:
  std::uint64_t word_ = 20'260'101;
};

void write(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (!file) throw_errno("cannot write " + path + " (TMPDIR names another place)");
}

/// Bands that cross each other and speckles: components of all sizes.
std::string image(std::uint32_t side) {
  Random random;
  std::string pixels(std::size_t{side} * side, '\0');
  for (std::uint32_t y = 0; y < side; ++y)
    for (std::uint32_t x = 0; x < side; ++x) {
      const bool band = (x / 24 + y / 40) % 3 == 0 || (x + 2 * y) / 64 % 4 == 1;
      const bool on = band != (random.below(16) == 0);
      pixels[std::size_t{y} * side + x] = on ? '\x7f' : '\0';
    }
  return fmt::format("P5\n{} {}\n255\n{}", side, side, pixels);
}

/// Words of a vocabulary in which some are much more frequent than others, as in a language.
std::string text(std::size_t words) {
  constexpr std::uint32_t kVocabulary = 20'000;
  constexpr std::size_t kWordsALine = 12;
  Random random;
  std::string all;
  for (std::size_t i = 1; i <= words; ++i) {
    // The smaller the more frequent; in letters, with base 26.
    std::uint32_t number = random.below(random.below(random.below(kVocabulary) + 1) + 1);
    do {
      all += static_cast<char>('a' + number % 26);
      number /= 26;
    } while (number != 0);
    all += i % kWordsALine == 0 ? '\n' : ' ';
  }
  return all;
}

}  // namespace

std::vector<App> app_list(const ScratchFolder& folder, bool short_runs) {
  const std::uint64_t part = short_runs ? 10 : 1;
  const auto of = [part](std::uint64_t whole) { return std::to_string(whole / part); };
  const std::string picture = folder.file("bands.pgm");
  const std::string words = folder.file("words.txt");
  write(picture, image(short_runs ? 512 : 1536));
  write(words, text(1'500'000 / part));
  std::vector<App> apps{
      {"sample_sort", "sample_sort", {"--count", of(1'500'000)}},
      {"radix_sort", "radix_sort", {"--count", of(500'000)}},
      {"radix_sort_runs", "radix_sort", {"--count", of(1'500'000), "--send", "runs"}},
      {"components", "components", {picture}},
      {"matrix_multiply", "matrix_multiply", {"--size", short_runs ? "256" : "640"}},
      {"heat", "heat", {"--size", "600", "--steps", of(400)}},
      {"bfs", "bfs", {"--vertices", of(400'000)}},
      {"word_count", "word_count", {words}},
      {"gups_fetch_xor", "gups", {"--updates", of(4'000'000)}},
      {"gups_race", "gups", {"--updates", of(4'000'000), "--how", "race"}},
      {"gups_atomic", "gups", {"--updates", of(400'000), "--how", "atomic"}},
  };
  for (const char* how : {"read", "get", "store", "bulk"})
    apps.push_back({fmt::format("em3d_{}", how),
                    "em3d",
                    {"--nodes", "20000", "--steps", of(100), "--how", how}});
  return apps;
}

std::optional<AppResult> parse_app_output(const std::string& output) {
  std::optional<AppResult> result;
  bool verified = false;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    double seconds = 0;
    char unit = 0;
    if (std::sscanf(line.c_str(), "time %lf %c", &seconds, &unit) == 2 && unit == 's')
      result = AppResult{seconds, false};
    verified = verified || line.rfind("verified: ", 0) == 0;
  }
  if (result) result->verified = verified;
  return result;
}

}  // namespace viaduct::bench
