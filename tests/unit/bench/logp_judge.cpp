// logp_judge PLAIN WITH_O WITH_G O_NS G_NS: reads the figures of three runs of logp (none, o, g
// injected) and says whether they tell that O_NS and G_NS were injected, each to within 5 %, and
// that nothing else has changed. Exit code: 0 they do, 1 they do not, 2 there is nothing to judge
// by.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "runtime/program/json.hpp"

namespace {

constexpr double kTolerance = 0.05;

class Run {
 public:
  explicit Run(const std::string& path)
      : path_(path), figures_(viaduct::program::Json::read(path).at("figures")) {}
  [[nodiscard]] double median(const std::string& figure) const {
    const double found = figures_.at(figure).at("median").number();
    if (!std::isfinite(found)) throw std::runtime_error(path_ + ": " + figure + " is no number");
    return found;
  }

 private:
  std::string path_;
  viaduct::program::Json figures_;
};

bool near(const char* what, double found, double expected, double tolerance) {
  const bool well = std::abs(found - expected) <= tolerance;
  fmt::print("{} {}: {:.0f} ns, expected {:.0f} to within {:.0f}\n", well ? "  " : "! ", what,
             found, expected, tolerance);
  return well;
}

// What was not injected stays, but for what the machine's cache lines take, which changes with the
// cores' places.
bool unchanged(const char* figure, const Run& plain, const Run& with, double injected) {
  const double hop = std::max(plain.median("hand_over_ns"), with.median("hand_over_ns"));
  return near(figure, with.median(figure), plain.median(figure), kTolerance * injected + hop);
}

bool recovered(const Run& plain, const Run& with_o, const Run& with_g, double o_ns, double g_ns) {
  fmt::print("o = {:.0f} ns injected\n", o_ns);
  bool well = near("o_s_ns, over what it is", with_o.median("o_s_ns") - plain.median("o_s_ns"),
                   o_ns, kTolerance * o_ns);
  for (const char* figure : {"o_r_ns", "L_ns"})
    well = unchanged(figure, plain, with_o, o_ns) && well;
  fmt::print("g = {:.0f} ns injected\n", g_ns);
  well = near("g_ns", with_g.median("g_ns"), g_ns, kTolerance * g_ns) && well;
  for (const char* figure : {"o_s_ns", "o_r_ns", "L_ns"})
    well = unchanged(figure, plain, with_g, g_ns) && well;
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: logp_judge PLAIN.json WITH_O.json WITH_G.json O_NS G_NS\n", stderr);
    return 2;
  }
  try {
    const bool well =
        recovered(Run(argv[1]), Run(argv[2]), Run(argv[3]), std::stod(argv[4]), std::stod(argv[5]));
    return well ? 0 : 1;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "logp_judge: %s\n", problem.what());
    return 2;
  }
}
