// Heat flows through a plate whose rim is kept at its temperature. Each process has a strip of
// rows, and in every step tells its neighbours the rows next to theirs.
//
// Shows   bulk_store of the border rows, on their way while the rows inside are computed
//         store_counter: a process waits for its two neighbours' rows, and for no other
//         all_reduce_max to decide together when to stop
//         toglobal: my neighbour's copy of an array that all have at the same address
//
// Why not store_sync(two rows)? store_sync() counts bytes and does not tell senders apart: a fast
// neighbour's row of the next step could be taken for the slow one's row of this step. So each
// neighbour has a counter of its own here. A neighbour can be one step ahead, not two, since it
// waits for our row of every step: its row of the next step goes into the other grid, and does no
// harm.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "examples/splitc/common/image.hpp"
#include "examples/splitc/common/program.hpp"
#include "examples/splitc/common/random.hpp"
#include "examples/splitc/common/shared.hpp"
#include "examples/splitc/common/text_reader.hpp"

namespace {

using namespace splitc;
using examples::Blocks;

// On which a process counts the rows of the neighbour above it, and of that below it.
constexpr store_counter kFromAbove{0};
constexpr store_counter kFromBelow{1};

struct Options {
  std::string start;  // a PGM image; else spots at random places
  std::size_t size = 256;
  std::size_t steps = 1000;
  double tolerance = 0;
  std::uint64_t seed = 1;
  std::string output;
};

// Temperatures, 0 to 1, row by row.
struct Plate {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<double> cells;
};

// The processes and the check use this one formula.
double relaxed(const double* above, const double* row, const double* below, std::size_t x) {
  return 0.25 * (above[x] + below[x] + (row[x - 1] + row[x + 1]));
}

Plate plate_of_image(const examples::GreyImage& image) {
  if (image.width < 3 || image.height < 3)
    throw examples::BadInput("the image must be at least 3 x 3 pixels: its rim does not change");
  Plate plate{image.width, image.height, {}};
  for (const std::uint16_t pixel : image.pixels)
    plate.cells.push_back(static_cast<double>(pixel) / image.white);
  return plate;
}

// A cold plate with a warm left rim and hot spots.
Plate plate_with_spots(std::size_t size, std::uint64_t seed) {
  Plate plate{size, size, std::vector<double>(size * size)};
  for (std::size_t y = 0; y < size; ++y) plate.cells[y * size] = 0.5;
  constexpr std::uint64_t kSpots = 12;
  const auto side = static_cast<double>(size);
  for (std::uint64_t s = 0; s < kSpots; ++s) {
    const double x0 = side * examples::random_real_at(seed, 3 * s);
    const double y0 = side * examples::random_real_at(seed, 3 * s + 1);
    const double radius = side * (0.02 + 0.08 * examples::random_real_at(seed, 3 * s + 2));
    for (std::size_t y = 1; y + 1 < size; ++y)
      for (std::size_t x = 1; x + 1 < size; ++x)
        if (std::hypot(static_cast<double>(x) - x0, static_cast<double>(y) - y0) < radius)
          plate.cells[y * size + x] = 1;
  }
  return plate;
}

// This process' rows of the plate, with one more above and below for the neighbours' rows. There
// are two grids, since each step reads one and writes the other.
class Strip {
 public:
  Strip(std::size_t width, const Blocks& rows) : width_(width), rows_(rows) {
    for (double*& grid : grids_) grid = all_malloc<double>((rows.most() + 2) * width);
  }
  /// Collective. Not a destructor, which an exception could call in one process alone.
  void free() {
    for (double* grid : grids_) all_free(grid);
  }

  /// Row y of the plate in the grid that is read, or is written; y may be one outside the strip.
  [[nodiscard]] double* now(std::size_t y) const { return row(grids_[0], y); }
  [[nodiscard]] double* next(std::size_t y) const { return row(grids_[1], y); }
  void turn() { std::swap(grids_[0], grids_[1]); }

  void tell_neighbours() const {
    if (rows_.my_size() == 0) return;
    const std::size_t first = rows_.my_begin();
    const std::size_t last = rows_.my_end() - 1;
    if (first > 0) tell(first, first - 1, kFromBelow);
    if (last + 1 < rows_.count()) tell(last, last + 1, kFromAbove);
  }
  void wait_for_neighbours() const {
    if (rows_.my_size() == 0) return;
    if (rows_.my_begin() > 0) kFromAbove.wait(width_ * sizeof(double));
    if (rows_.my_end() < rows_.count()) kFromBelow.wait(width_ * sizeof(double));
  }
  /// Computes rows [begin, end) of the next grid.
  void relax(std::size_t begin, std::size_t end) const {
    begin = std::max<std::size_t>(begin, 1);
    end = std::min(end, rows_.count() - 1);
    for (std::size_t y = begin; y < end; ++y) {
      const double* above = now(y - 1);
      const double* here = now(y);
      const double* below = now(y + 1);
      double* to = next(y);
      for (std::size_t x = 1; x + 1 < width_; ++x) to[x] = relaxed(above, here, below, x);
    }
  }
  /// The greatest difference between the two grids, in this process' rows.
  [[nodiscard]] double change() const {
    double greatest = 0;
    const double* a = now(rows_.my_begin());
    const double* b = next(rows_.my_begin());
    for (std::size_t i = 0; i < rows_.my_size() * width_; ++i)
      greatest = std::max(greatest, std::abs(a[i] - b[i]));
    return greatest;
  }

 private:
  // Row y is the (y + 1 - begin)-th here: the 0-th is the neighbour's.
  [[nodiscard]] double* row(double* grid, std::size_t y) const {
    return grid + (y + 1 - rows_.my_begin()) * width_;
  }
  // Sends our row y to the process that has row `next_to`, into its row outside.
  void tell(std::size_t y, std::size_t next_to, store_counter counter) const {
    const int neighbour = rows_.owner(next_to);
    const std::size_t there = y + 1 - rows_.begin(static_cast<std::size_t>(neighbour));
    bulk_store(toglobal(neighbour, grids_[0] + there * width_), now(y), width_, counter);
  }

  std::size_t width_;
  Blocks rows_;
  std::array<double*, 2> grids_{};
};

// Answers the number of steps made.
std::size_t run(const Options& options, Strip& strip, const Blocks& rows) {
  constexpr std::size_t kBetweenLooks = 16;
  examples::Progress progress("heat: step", options.steps);
  const std::size_t begin = rows.my_begin();
  const std::size_t end = rows.my_end();
  for (std::size_t step = 1; step <= options.steps; ++step) {
    strip.tell_neighbours();
    // Without our first and last row, which need the neighbours' rows.
    if (begin + 2 < end) strip.relax(begin + 1, end - 1);
    strip.wait_for_neighbours();
    if (begin < end) strip.relax(begin, begin + 1);
    if (begin + 1 < end) strip.relax(end - 1, end);
    strip.turn();
    if (step % kBetweenLooks != 0) continue;
    progress.at(step);
    if (options.tolerance > 0 && all_reduce_max(strip.change()) < options.tolerance) return step;
  }
  return options.steps;
}

// The same steps by one process.
void run_alone(Plate& plate, std::size_t steps) {
  examples::Progress progress("heat: checking step", steps);
  std::vector<double> next = plate.cells;
  for (std::size_t step = 1; step <= steps; ++step) {
    for (std::size_t y = 1; y + 1 < plate.height; ++y) {
      const double* row = plate.cells.data() + y * plate.width;
      for (std::size_t x = 1; x + 1 < plate.width; ++x)
        next[y * plate.width + x] = relaxed(row - plate.width, row, row + plate.width, x);
    }
    plate.cells.swap(next);
    progress.at(step);
  }
}

// Black, red, yellow, white.
examples::Colour colour_of(double temperature) {
  const auto part = [temperature](double from) {
    return static_cast<std::uint8_t>(255 * std::clamp(temperature * 3 - from, 0.0, 1.0));
  };
  return {part(0), part(1), part(2)};
}

void write_picture(const std::string& path, const Plate& plate) {
  if (path.ends_with(".ppm")) {
    std::vector<examples::Colour> pixels;
    for (const double cell : plate.cells) pixels.push_back(colour_of(cell));
    write_ppm(path, plate.width, plate.height, pixels);
  } else {
    examples::GreyImage image{plate.width, plate.height, 255, {}};
    for (const double cell : plate.cells)
      image.pixels.push_back(static_cast<std::uint16_t>(std::lround(255 * cell)));
    write_pgm(path, image);
  }
}

int heat(const Options& options) {
  Plate plate;  // in process 0
  examples::on_process_0([&] {
    plate = options.start.empty() ? plate_with_spots(options.size, options.seed)
                                  : plate_of_image(examples::read_pgm(options.start));
  });
  const auto whole = examples::share_of_process_0(plate.cells);
  const std::size_t width = all_bcast(plate.width);
  const std::size_t height = all_bcast(plate.height);
  const Blocks rows(height);
  Strip strip(width, rows);
  const auto mine = copy_of(whole, rows.my_begin() * width, rows.my_end() * width);
  std::copy(mine.begin(), mine.end(), strip.now(rows.my_begin()));
  std::copy(mine.begin(), mine.end(), strip.next(rows.my_begin()));  // its rim does not change
  examples::say("{} x {} cells from {}, at most {} steps\n", width, height,
                options.start.empty() ? fmt::format("seed {}", options.seed) : options.start,
                options.steps);

  examples::Stopwatch watch;
  const std::size_t steps = run(options, strip, rows);
  watch.stop(static_cast<double>((width - 2) * (height - 2)) * static_cast<double>(steps), "cells");

  const double* first = strip.now(rows.my_begin());
  const std::vector<double> result(first, first + rows.my_size() * width);
  strip.free();
  const Plate reached{width, height, examples::collect_on_process_0(result)};
  std::string wrong;
  examples::on_process_0([&] {
    if (!options.output.empty()) write_picture(options.output, reached);
    run_alone(plate, steps);
    const auto differ =
        std::mismatch(plate.cells.begin(), plate.cells.end(), reached.cells.begin());
    if (differ.first == plate.cells.end()) return;
    const auto at = static_cast<std::size_t>(differ.first - plate.cells.begin());
    wrong = fmt::format("row {}, column {} is {}, not {}", at / width, at % width, *differ.second,
                        *differ.first);
  });
  if (!options.output.empty()) examples::say("picture written to {}\n", options.output);
  return examples::verdict(
      wrong, fmt::format("the plate after {} steps is bit for bit that of one process", steps));
}

}  // namespace

int splitc_main(int argc, char** argv) {
  Options options;
  examples::Program program("heat", "Heat flowing through a plate, as a picture.");
  const auto start = program.options().option(
      "IMAGE", options.start, "PGM image of the first temperatures; without it: spots");
  program.options()
      .option("--size", options.size, "Cells on each side of a plate with spots")
      .within(3, 32768)
      .excludes(start);
  program.options().option("--steps", options.steps, "To make at most").within(0, 1 << 30);
  program.options()
      .option("--tolerance", options.tolerance,
              "Stop when no cell changes more than this in a step; 0: make all steps")
      .within_reals(0, 1);
  program.options().option("--seed", options.seed, "Of the spots").excludes(start);
  program.options().option("-o,--output", options.output,
                           "Picture of the end: in colours (.ppm) or grey (.pgm)");
  return program.run(argc, argv, [&] {
    if (!options.output.empty() && !options.output.ends_with(".ppm") &&
        !options.output.ends_with(".pgm"))
      throw examples::BadInput(
          fmt::format("--output must end in .ppm or .pgm, not be '{}'", options.output));
    return heat(options);
  });
}
