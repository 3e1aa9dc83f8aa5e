#include "benchmarks/common/bulk_report.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "benchmarks/common/curve.hpp"
#include "benchmarks/common/statistics.hpp"

namespace viaduct::bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

}  // namespace

std::string Curve::alone(std::size_t piece) const {
  return fmt::format("{}_{}{}_gbs", name, size_name(piece), is_yardstick() ? "" : "_alone");
}

std::string Curve::read(std::size_t piece) const {
  return fmt::format("{}_{}{}_gbs", name, size_name(piece), is_yardstick() ? "_sum" : "");
}

BulkReport::BulkReport(std::vector<Curve> curves, std::vector<std::size_t> sizes,
                       const Measurements& list, const Rounds& rounds)
    : curves_(std::move(curves)), sizes_(std::move(sizes)), list_(list), rounds_(rounds) {}

void BulkReport::add_note(const std::string& sentence) { notes_.push_back(sentence); }

Figures BulkReport::all() const {
  Figures figures;
  list_.add_to(figures, rounds_);
  add_summary(figures);
  return figures;
}

void BulkReport::print(std::FILE* file) const {
  for (const bool read : {false, true})
    for (const Curve& yardstick : curves_)
      if (yardstick.is_yardstick()) print_table(file, yardstick, read);
  Figures figures;
  for (const char* name :
       {"memcpy_1m_gbs", "memcpy_1m_sum_gbs", "memcpy_64m_gbs", "memcpy_64m_sum_gbs"})
    if (is_measured(name)) figures.add_yardstick(name, "GB/s", of(name));
  add_summary(figures);
  figures.print(file);
}

const Curve& BulkReport::find(const std::string& name) const {
  const auto found = std::find_if(curves_.begin(), curves_.end(),
                                  [&](const Curve& curve) { return curve.name == name; });
  if (found == curves_.end()) throw std::out_of_range(name);
  return *found;
}

bool BulkReport::is_measured(const std::string& name) const {
  return std::any_of(list_.begin(), list_.end(),
                     [&](const Measurement& m) { return m.name == name; });
}

// The sizes of pieces that fill blocks of one size, which the caches hold alike.
std::vector<std::size_t> BulkReport::shape_sizes() const {
  return {sizes_.begin(), std::upper_bound(sizes_.begin(), sizes_.end(), kMiB)};
}

/// One value a round from a way's curve of that round.
template <class F>
std::vector<double> BulkReport::by_round(const Curve& curve, F f) const {
  const std::vector<std::size_t> sizes = shape_sizes();
  std::vector<double> values;
  for (std::size_t round = 0; round < of(curve.alone(sizes.front())).size(); ++round) {
    std::vector<double> bandwidths;
    for (const std::size_t piece : sizes) bandwidths.push_back(of(curve.alone(piece))[round]);
    values.push_back(f(bandwidths));
  }
  return values;
}

void BulkReport::add_summary(Figures& figures) const {
  add_names_of_logp(figures);
  if (sizes_.size() > 1) {
    add_shapes(figures);
    add_kib_breakdown(figures);
  }
  for (const std::string& note : notes_) figures.add_note(note);
  list_.tell(rounds_, figures);
}

// Adds Split-C's put by names like logp's am_bulk_1m_gbs.
void BulkReport::add_names_of_logp(Figures& figures) const {
  const Curve& put = find("splitc_bulk_put");
  const Curve& copy = find(put.yardstick);  // memcpy_put; between hosts memcpy
  const auto add = [&](const char* name, const std::string& is, const std::string& limit) {
    figures.add(name, "GB/s", of(is), {limit, 0, of(limit)});
  };
  for (const std::size_t piece : sizes_) {
    if (piece == kMiB) add("splitc_bulk_1m_gbs", put.read(piece), copy.read(piece));
    if (piece != 64 * kMiB) continue;
    add("splitc_bulk_64m_gbs", put.read(piece), copy.read(piece));
    add("splitc_bulk_64m_alone_gbs", put.alone(piece), copy.alone(piece));
  }
}

// Plateaus as shares of the VI's, as in the paper, and n-half beside the yardstick's.
void BulkReport::add_shapes(Figures& figures) const {
  const auto height = [](const std::vector<double>& bandwidths) { return plateau(bandwidths); };
  const auto half = [sizes = shape_sizes()](const std::vector<double>& bandwidths) {
    return n_half(sizes, bandwidths);
  };
  const std::vector<double> peak = by_round(find("vi_write"), height);
  for (const Curve& curve : curves_) {
    const std::string height_name = curve.name + "_plateau_gbs";
    const std::string half_name = curve.name + "_n_half_bytes";
    if (curve.is_yardstick()) {
      figures.add_yardstick(height_name, "GB/s", by_round(curve, height));
      figures.add_yardstick(half_name, "B", by_round(curve, half));
      continue;
    }
    const Curve& yardstick = find(curve.yardstick);
    if (curve.name == "vi_write")
      figures.add(height_name, "GB/s", peak,
                  {yardstick.name + "_plateau_gbs", 0, by_round(yardstick, height)});
    else
      figures.add(height_name, "GB/s", by_round(curve, height), {"vi_write_plateau_gbs", 0, peak});
    figures.add(half_name, "B", by_round(curve, half),
                {yardstick.name + "_n_half_bytes", 0, by_round(yardstick, half)});
  }
}

// Explains why 1 KiB takes longer by Active Messages than by the VI, as the paper's Table 5 does: a
// copy, and the receipt of the acknowledgement, for which the paper takes a short write's time.
void BulkReport::add_kib_breakdown(Figures& figures) const {
  constexpr std::size_t kPiece = 1024;
  const auto ns = [&](const std::string& bandwidth, std::size_t piece) {
    std::vector<double> times = of(bandwidth);
    for (double& value : times) value = static_cast<double>(piece) / value;  // GB/s: bytes a ns
    return times;
  };
  const Curve &write = find("vi_write"), &bulk = find("am_bulk");
  const std::vector<double> by_vi = ns(write.alone(kPiece), kPiece);
  const std::vector<double> copy = ns(find(write.yardstick).alone(kPiece), kPiece);
  const std::vector<double> receive = ns(write.alone(kShortMessage), kShortMessage);
  std::vector<double> difference = ns(bulk.alone(kPiece), kPiece), total = copy;
  for (std::size_t round = 0; round < by_vi.size(); ++round) {
    difference[round] -= by_vi[round];
    total[round] += receive[round];
  }
  const Against by_the_vi{"1 KiB by vi_write", 0, by_vi};
  figures.add("bulk_1k_copy_ns", "ns", copy, by_the_vi);
  figures.add("bulk_1k_receive_ns", "ns", receive, by_the_vi);
  figures.add("bulk_1k_total_ns", "ns", total, by_the_vi);
  figures.add("bulk_1k_difference_ns", "ns", difference, {"bulk_1k_total_ns", 0, total});
}

void BulkReport::print_table(std::FILE* file, const Curve& yardstick, bool read) const {
  fmt::print(file, "{}, GB/s, median (and the median of the ratios to {})\n",
             read ? "to the receiver's having added up every word" : "the transfer alone",
             yardstick.name);
  const auto is_read_against = [&](const Curve& curve) {
    return (read ? curve.read_yardstick() : curve.yardstick) == yardstick.name;
  };
  fmt::print(file, "{:>6} {:>11}", "size", yardstick.name);
  for (const Curve& curve : curves_)
    if (is_read_against(curve)) fmt::print(file, " {:>25}", curve.name);
  for (const std::size_t piece : sizes_) {
    const auto value = [&](const Curve& curve) -> const std::vector<double>& {
      return of(read ? curve.read(piece) : curve.alone(piece));
    };
    fmt::print(file, "\n{:>6} {:>11.3f}", size_name(piece), median(value(yardstick)));
    for (const Curve& curve : curves_)
      if (is_read_against(curve))
        fmt::print(file, " {:>17.3f} ({:>5.2f})", median(value(curve)),
                   median(ratios(value(curve), value(yardstick))));
  }
  fmt::print(file, "\n\n");
}

}  // namespace viaduct::bench
