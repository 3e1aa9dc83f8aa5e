// Connected components of a grey image: neighbouring pixels of (nearly) the same brightness belong
// together. Every pixel points to one that is before it in its component, or to itself; so each
// component is a tree, and joining two of them changes one word, wherever it lies.
//
// Shows   a tree over all processes' memory, climbed by reads through global pointers
//         compare_swap: two processes may want to hang the same root somewhere; one succeeds, the
//         other sees what is there now and goes on from it
//         all_scan_before: numbering things that lie in many processes
//
// Krishnamurthy, Lumetta, Culler and Yelick (1995) study the problem in Split-C, with other means.

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "examples/splitc/common/image.hpp"
#include "examples/splitc/common/program.hpp"
#include "examples/splitc/common/random.hpp"
#include "examples/splitc/common/shared.hpp"

namespace {

using namespace splitc;
using examples::Blocks;

struct Options {
  std::string image;
  int tolerance = 0;
  int background = 1;
  bool diagonal = false;
  std::string output;
};

using Pixel = std::uint32_t;  // by its number, row by row
constexpr Pixel kNothing = ~Pixel{0};

// The rule for pixels of one component, for the processes and for the check.
class Rule {
 public:
  explicit Rule(const Options& options)
      : tolerance_(options.tolerance), background_(options.background) {}
  [[nodiscard]] bool is_something(std::uint16_t grey) const { return grey >= background_; }
  [[nodiscard]] bool belong_together(std::uint16_t a, std::uint16_t b) const {
    return is_something(a) && is_something(b) && std::abs(int{a} - int{b}) <= tolerance_;
  }

 private:
  int tolerance_;
  int background_;
};

// Calls f(x) for the neighbours of column x in the row above.
template <class F>
void for_each_above(std::size_t x, std::size_t width, bool diagonal, F f) {
  if (diagonal && x > 0) f(x - 1);
  f(x);
  if (diagonal && x + 1 < width) f(x + 1);
}

// The trees: one word for each pixel, in blocks of whole rows.
class Forest {
 public:
  Forest(std::size_t width, std::size_t height)
      : rows_(height), width_(width), above_(all_malloc<Pixel>(rows_.most() * width)) {}
  /// Collective.
  void free() const { all_free(above_); }
  /// Collective. Another one of the same shape, all zero.
  [[nodiscard]] Forest another() const { return {width_, rows_.count()}; }

  [[nodiscard]] Pixel begin() const { return static_cast<Pixel>(rows_.my_begin() * width_); }
  [[nodiscard]] Pixel end() const { return static_cast<Pixel>(rows_.my_end() * width_); }
  [[nodiscard]] bool is_mine(Pixel i) const { return begin() <= i && i < end(); }
  /// The pixel that one of this process' pixels points to.
  [[nodiscard]] Pixel& mine(Pixel i) const { return above_[i - begin()]; }
  /// The pixel that any pixel points to.
  [[nodiscard]] global_ptr<Pixel> place(Pixel i) const {
    const int owner = rows_.owner(i / width_);
    const std::size_t first = rows_.begin(static_cast<std::size_t>(owner)) * width_;
    return toglobal(owner, above_ + (i - first));
  }

  [[nodiscard]] Pixel root_of(Pixel i) const {
    for (;;) {
      const Pixel up = read(place(i));
      if (up == i) return i;
      i = up;
    }
  }
  /// Joins the components of a and b. The later root is hung below the earlier one, if it still is
  /// a root. If not, another process was faster, and new roots must be found.
  void join(Pixel a, Pixel b) const {
    for (;;) {
      a = root_of(a);
      b = root_of(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      if (compare_swap(place(a), a, b) == a) return;
    }
  }
  /// The same for pixels of this process, while no other process reads them.
  void join_mine(Pixel a, Pixel b) const {
    a = my_root_of(a);
    b = my_root_of(b);
    mine(std::max(a, b)) = std::min(a, b);
  }
  [[nodiscard]] Pixel my_root_of(Pixel i) const {
    while (mine(i) != i) {
      mine(i) = mine(mine(i));  // halves the path for later searches
      i = mine(i);
    }
    return i;
  }

 private:
  Blocks rows_;
  std::size_t width_;
  Pixel* above_;
};

// Builds the trees of this process' strip alone.
void grow_trees(const Forest& forest, const std::vector<std::uint16_t>& grey, std::size_t width,
                const Rule& rule, bool diagonal) {
  const Pixel begin = forest.begin();
  examples::Progress progress("components: pixel", forest.end() - begin);
  for (Pixel i = begin; i < forest.end(); ++i) {
    const std::size_t x = i % width;
    if (x == 0) progress.at(i - begin);
    const std::uint16_t here = grey[i - begin];
    forest.mine(i) = rule.is_something(here) ? i : kNothing;
    const auto join_to = [&](Pixel other) {
      if (rule.belong_together(here, grey[other - begin])) forest.join_mine(i, other);
    };
    if (x > 0) join_to(i - 1);
    if (i - begin >= width)
      for_each_above(x, width, diagonal, [&](std::size_t above) {
        join_to(static_cast<Pixel>(i - width - x + above));
      });
  }
}

// Joins this strip's first row to the last one of the strip above. All processes do so at once.
void join_to_strip_above(const Forest& forest, const std::vector<std::uint16_t>& grey,
                         const std::vector<std::uint16_t>& row_above, std::size_t width,
                         const Rule& rule, bool diagonal) {
  if (forest.begin() == 0 || forest.begin() == forest.end()) return;
  for (std::size_t x = 0; x < width; ++x)
    for_each_above(x, width, diagonal, [&](std::size_t above) {
      if (rule.belong_together(grey[x], row_above[above]))
        forest.join(static_cast<Pixel>(forest.begin() + x),
                    static_cast<Pixel>(forest.begin() - width + above));
    });
}

// This process' pixels with the numbers of their components, from 1 in the order in which the
// components begin; 0 is background.
struct Labels {
  std::vector<std::uint32_t> mine;
  std::uint32_t count = 0;  // of components, of the whole image
};
Labels number_components(const Forest& forest) {
  std::uint32_t my_roots = 0;
  for (Pixel i = forest.begin(); i < forest.end(); ++i)
    if (forest.mine(i) == i) ++my_roots;
  // A root is its component's first pixel, so the roots of the processes before this one come
  // first.
  std::uint32_t next = all_scan_before(my_roots, Add{}, std::uint32_t{0});
  Labels labels{std::vector<std::uint32_t>(forest.end() - forest.begin()),
                all_reduce_add(my_roots)};

  // The numbers of roots, for all to read: as large as the forest, and laid out alike.
  const Forest numbers = forest.another();
  for (Pixel i = forest.begin(); i < forest.end(); ++i)
    if (forest.mine(i) == i) numbers.mine(i) = ++next;
  barrier();

  for (Pixel i = forest.begin(); i < forest.end(); ++i) {
    const Pixel up = forest.mine(i);
    std::uint32_t& label = labels.mine[i - forest.begin()];
    if (up == kNothing) {
      label = 0;
    } else if (up == i) {
      label = numbers.mine(i);
    } else if (forest.is_mine(up)) {
      label = labels.mine[up - forest.begin()];  // up is before i: it has its label
    } else {
      label = read(numbers.place(forest.root_of(up)));
    }
  }
  barrier();
  numbers.free();
  return labels;
}

// The same by one process, flooding one component after the other.
std::vector<std::uint32_t> flood(const examples::GreyImage& image, const Rule& rule,
                                 bool diagonal) {
  std::vector<std::uint32_t> labels(image.pixels.size());
  std::vector<std::size_t> to_do;
  std::uint32_t count = 0;
  const auto visit = [&](std::size_t from, std::size_t to) {
    if (labels[to] != 0 || !rule.belong_together(image.pixels[from], image.pixels[to])) return;
    labels[to] = labels[from];
    to_do.push_back(to);
  };
  examples::Progress progress("components: checking pixel", labels.size());
  for (std::size_t first = 0; first < labels.size(); ++first) {
    if (first % image.width == 0) progress.at(first);
    if (labels[first] != 0 || !rule.is_something(image.pixels[first])) continue;
    labels[first] = ++count;
    to_do.push_back(first);
    while (!to_do.empty()) {
      const std::size_t i = to_do.back();
      to_do.pop_back();
      const std::size_t x = i % image.width;
      const std::size_t row = i - x;
      if (x > 0) visit(i, i - 1);
      if (x + 1 < image.width) visit(i, i + 1);
      for_each_above(x, image.width, diagonal, [&](std::size_t neighbour) {
        if (row > 0) visit(i, row - image.width + neighbour);
        if (row + image.width < labels.size()) visit(i, row + image.width + neighbour);
      });
    }
  }
  return labels;
}

void write_labels(const std::string& path, const examples::GreyImage& image,
                  const std::vector<std::uint32_t>& labels, std::uint32_t count) {
  if (path.ends_with(".ppm")) {
    std::vector<examples::Colour> pixels;
    for (const std::uint32_t label : labels) {
      const std::uint64_t random = label == 0 ? 0 : examples::random_at(1, label) | 0x404040;
      pixels.push_back({static_cast<std::uint8_t>(random), static_cast<std::uint8_t>(random >> 8),
                        static_cast<std::uint8_t>(random >> 16)});
    }
    write_ppm(path, image.width, image.height, pixels);
    return;
  }
  if (count > 65535)
    throw examples::BadInput(
        fmt::format("{} components are more than a PGM image can number; write a .ppm", count));
  examples::GreyImage numbered{
      image.width, image.height, static_cast<std::uint16_t>(std::max<std::uint32_t>(count, 1)), {}};
  for (const std::uint32_t label : labels)
    numbered.pixels.push_back(static_cast<std::uint16_t>(label));
  write_pgm(path, numbered);
}

int components(const Options& options) {
  examples::GreyImage image;  // in process 0
  examples::on_process_0([&] { image = examples::read_pgm(options.image); });
  const auto whole = examples::share_of_process_0(image.pixels);
  const std::size_t width = all_bcast(image.width);
  const std::size_t height = all_bcast(image.height);
  examples::say("{}: {} x {} pixels\n", options.image, width, height);

  Forest forest(width, height);
  const Rule rule(options);
  const std::size_t begin = forest.begin();
  const auto grey = examples::copy_of(whole, begin, forest.end());
  const auto row_above = examples::copy_of(whole, std::max(begin, width) - width, begin);

  examples::Stopwatch watch;
  grow_trees(forest, grey, width, rule, options.diagonal);
  barrier();  // from here on all processes use all trees
  join_to_strip_above(forest, grey, row_above, width, rule, options.diagonal);
  barrier();  // from here on no process changes them
  const Labels labels = number_components(forest);
  watch.stop(static_cast<double>(width * height), "pixels");
  examples::say("{} components\n", labels.count);
  forest.free();

  const auto all = examples::collect_on_process_0(labels.mine);
  std::string wrong;
  examples::on_process_0([&] {
    if (!options.output.empty()) write_labels(options.output, image, all, labels.count);
    const auto expected = flood(image, rule, options.diagonal);
    const auto differ = std::mismatch(expected.begin(), expected.end(), all.begin());
    if (differ.first == expected.end()) return;
    const auto at = static_cast<std::size_t>(differ.first - expected.begin());
    wrong = fmt::format("row {}, column {} is in component {}, not {}", at / width, at % width,
                        *differ.second, *differ.first);
  });
  if (!options.output.empty()) examples::say("labelled image written to {}\n", options.output);
  return examples::verdict(wrong, "every pixel is in the component that flooding finds");
}

}  // namespace

int splitc_main(int argc, char** argv) {
  Options options;
  examples::Program program("components", "Finds the connected components of a grey image.");
  program.options().option("IMAGE", options.image, "PGM image").required();
  program.options()
      .option("--tolerance", options.tolerance,
              "Neighbours that differ by more do not belong together")
      .within(0, 65535);
  program.options()
      .option("--background", options.background, "Darker pixels belong to no component")
      .within(0, 65535);
  program.options().flag("--diagonal", options.diagonal,
                         "Pixels that touch at a corner are neighbours too");
  program.options().option(
      "-o,--output", options.output,
      "Labelled image: the components' numbers (.pgm) or a colour for each (.ppm)");
  return program.run(argc, argv, [&] {
    if (!options.output.empty() && !options.output.ends_with(".ppm") &&
        !options.output.ends_with(".pgm"))
      throw examples::BadInput(
          fmt::format("--output must end in .ppm or .pgm, not be '{}'", options.output));
    return components(options);
  });
}
