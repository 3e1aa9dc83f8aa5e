#include "benchmarks/common/figures.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "benchmarks/common/expected.hpp"

namespace viaduct::bench {
namespace {

// Four significant digits, without an exponent for the values of benchmarks.
std::string number(double value) {
  const double size = std::abs(value);
  if (size >= 1000) return fmt::format("{:.0f}", value);
  if (size >= 100) return fmt::format("{:.1f}", value);
  if (size >= 10) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

}  // namespace

Figures::Figure& Figures::insert(const std::string& name, const std::string& unit,
                                 const Summary& summary) {
  const bool known = std::any_of(figures_.begin(), figures_.end(),
                                 [&](const Figure& figure) { return figure.name == name; });
  if (known) throw std::invalid_argument(fmt::format("figure {} is there already", name));
  if (summary.n == 0) throw std::invalid_argument(fmt::format("figure {} has no samples", name));
  Figure figure;
  figure.name = name;
  figure.unit = unit;
  figure.summary = summary;
  figures_.push_back(std::move(figure));
  return figures_.back();
}

void Figures::add(const std::string& name, const std::string& unit,
                  const std::vector<double>& samples, const Against& against) {
  Summary ratio;
  if (!against.rounds.empty()) ratio = summarize(ratios(samples, against.rounds));
  Figure& figure = insert(name, unit, summarize(samples));
  figure.against = against.name;
  figure.against_value = against.rounds.empty() ? against.value : median(against.rounds);
  if (ratio.n != 0) {
    figure.ratio = ratio.median;
    insert(name + "_ratio", "x", ratio).is_ratio = true;  // `figure` may dangle from here on
  } else if (against.value != 0) {
    figure.ratio = figure.summary.median / against.value;
  }
}

void Figures::add_yardstick(const std::string& name, const std::string& unit,
                            const std::vector<double>& samples) {
  Figure& figure = insert(name, unit, summarize(samples));
  const auto expected = expected_yardstick(name);
  figure.against = expected ? "elsewhere: " + std::string(expected->source) : "is itself a limit";
  if (!expected) return;
  figure.against_value = expected->value;
  figure.ratio = figure.summary.median / expected->value;
  figure.suspect = is_suspect(*expected, figure.summary.median);
  if (figure.suspect) suspects_.push_back(name);
}

void Figures::add_note(const std::string& sentence) { notes_.push_back(sentence); }

void Figures::add_elsewhere(double hand_over_ns, Figures figures) {
  elsewhere_.push_back({hand_over_ns, std::move(figures)});
}

double Figures::median_of(const std::string& name) const {
  for (const Figure& figure : figures_) {
    if (figure.name == name) return figure.summary.median;
  }
  throw std::out_of_range(fmt::format("there is no figure {}", name));
}

void Figures::print(std::FILE* file) const {
  std::size_t width = 6;
  for (const Figure& figure : figures_) {
    if (!figure.is_ratio) width = std::max(width, figure.name.size());
  }
  fmt::print(file, "{:<{}} {:>10} {:>10} {:>10} {:<6} {:>7}  {}\n", "figure", width, "min",
             "median", "p95", "unit", "ratio", "to");
  for (const Figure& figure : figures_) {
    if (figure.is_ratio) continue;
    const Summary& s = figure.summary;
    fmt::print(file, "{:<{}} {:>10} {:>10} {:>10} {:<6} {:>7}  {}{}{}\n", figure.name, width,
               number(s.min), number(s.median), number(s.p95), figure.unit,
               figure.ratio != 0 ? fmt::format("{:.2f}", figure.ratio) : "-",
               figure.against_value != 0 ? number(figure.against_value) + " " : "", figure.against,
               figure.suspect ? "  SUSPECT" : "");
  }
  for (const std::string& name : suspects_) {
    fmt::print(file,
               "note: {} is suspect: over 10 % worse than on a quiet machine of the kind that the "
               "expected value comes from; ratios to it flatter.\n",
               name);
  }
  for (const std::string& note : notes_) fmt::print(file, "note: {}\n", note);
  for (const Elsewhere& other : elsewhere_) {
    fmt::print(file, "\nWith the cores at another distance (hand-over {:.0f} ns):\n",
               other.hand_over_ns);
    other.figures.print(file);
  }
}

program::Json Figures::figures_json() const {
  program::Json figures;
  for (const Figure& figure : figures_) {
    const Summary& s = figure.summary;
    program::Json one;
    one.set("min", s.min).set("median", s.median).set("p95", s.p95);
    figures.set(figure.name, one.set("unit", figure.unit).set("n", s.n));
  }
  return figures;
}

program::Json Figures::to_json(const program::Json& machine) const {
  program::Json where = machine;
  where.set("notes", notes_).set("suspect_yardsticks", suspects_);
  program::Json document;
  document.set("figures", figures_json()).set("machine", where);
  program::Json others;
  for (const Elsewhere& other : elsewhere_)
    others.set(fmt::format("{:.0f}_ns", other.hand_over_ns), other.figures.figures_json());
  if (!elsewhere_.empty()) document.set("elsewhere", others);
  return document;
}

void Figures::write_json(const std::string& path, const program::Json& machine) const {
  to_json(machine).write(path);
}

}  // namespace viaduct::bench
