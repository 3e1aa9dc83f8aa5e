// C = A B with matrices cut into square blocks, which are dealt to the processes like cards. Each
// process computes its blocks of C and fetches the blocks of A and B that it needs.
//
// Shows   a spread array of blocks: element i is a whole block, in process i mod PROCS
//         bulk_get of the next two blocks while these two are multiplied
//         wait(handle): for one transfer, where sync() would wait for all
//
// The first example of Culler et al., Introduction to Split-C.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "examples/splitc/common/blocks.hpp"
#include "examples/splitc/common/program.hpp"
#include "examples/splitc/common/random.hpp"

namespace {

using namespace splitc;
using examples::my_number;
using examples::process_count;

template <std::size_t N>
struct Block {
  std::array<std::array<double, N>, N> at;
};

// A square matrix of blocks, filled up with zeros beyond its size.
template <std::size_t N>
class Matrix {
 public:
  explicit Matrix(std::size_t size)
      : size_(size),
        side_((size + N - 1) / N),
        blocks_(all_spread_malloc<Block<N>>(side_ * side_)) {}
  /// Collective.
  void free() { all_spread_free(blocks_); }

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Blocks along one side, and all together.
  [[nodiscard]] std::size_t side() const { return side_; }
  [[nodiscard]] std::size_t block_count() const { return side_ * side_; }

  [[nodiscard]] global_ptr<Block<N>> block(std::size_t row, std::size_t column) const {
    return blocks_ + static_cast<std::ptrdiff_t>(row * side_ + column);
  }
  /// Calls f(block row, block column, block) for the blocks that lie here.
  template <class F>
  void for_my_blocks(F f) const {
    std::size_t number = my_number();
    for (Block<N>& mine :
         spread_range(blocks_, static_cast<std::ptrdiff_t>(block_count())).mine()) {
      f(number / side_, number % side_, mine);
      number += process_count();
    }
  }
  /// Every element by its row and column.
  template <class F>
  void fill(F element) const {
    for_my_blocks([&](std::size_t block_row, std::size_t block_column, Block<N>& block) {
      for (std::size_t r = 0; r < N; ++r)
        for (std::size_t c = 0; c < N; ++c) {
          const std::size_t row = block_row * N + r;
          const std::size_t column = block_column * N + c;
          block.at[r][c] = row < size_ && column < size_ ? element(row, column) : 0;
        }
    });
  }

 private:
  std::size_t size_;
  std::size_t side_;
  spread_ptr<Block<N>> blocks_;
};

template <std::size_t N>
void multiply_add(Block<N>& c, const Block<N>& a, const Block<N>& b) {
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t k = 0; k < N; ++k)
      for (std::size_t j = 0; j < N; ++j) c.at[i][j] += a.at[i][k] * b.at[k][j];
}

// One block of A and one of B, on their way or here.
template <std::size_t N>
struct Pair {
  Block<N> a;
  Block<N> b;
  Handle a_comes;
  Handle b_comes;

  void fetch(global_ptr<Block<N>> from_a, global_ptr<Block<N>> from_b) {
    a_comes = bulk_get(&a, from_a, 1);
    b_comes = bulk_get(&b, from_b, 1);
  }
  void wait_for_it() const {
    wait(a_comes);
    wait(b_comes);
  }
};

template <std::size_t N>
void multiply(const Matrix<N>& a, const Matrix<N>& b, const Matrix<N>& c) {
  const std::size_t side = c.side();
  examples::Progress progress("matrix_multiply: block", c.block_count());
  std::vector<Pair<N>> pairs(2);
  Pair<N>* now = &pairs[0];
  Pair<N>* next = &pairs[1];
  c.for_my_blocks([&](std::size_t i, std::size_t j, Block<N>& mine) {
    // Processes begin with different k, so that they do not all ask the same process first.
    const auto turned = [&](std::size_t k) { return (k + i + j) % side; };
    mine = {};
    next->fetch(a.block(i, turned(0)), b.block(turned(0), j));
    for (std::size_t k = 0; k < side; ++k) {
      std::swap(now, next);
      now->wait_for_it();
      if (k + 1 < side) next->fetch(a.block(i, turned(k + 1)), b.block(turned(k + 1), j));
      multiply_add(mine, now->a, now->b);
    }
    progress.at(i * side + j);
  });
}

// The elements are small whole numbers, so that all sums are exact and the check needs no
// tolerance.
double small_number(std::uint64_t seed, std::size_t row, std::size_t column) {
  return static_cast<double>(examples::random_at(seed, row << 32 | column) % 17) - 8;
}

// Freivalds' check: C x = A (B x) for random vectors x of 0 and 1. A wrong C passes one of them
// with probability 1/2 at most. A and B are made anew from the formula; each process checks its
// rows.
template <std::size_t N>
std::string find_mistake(const Matrix<N>& c, std::uint64_t seed_a, std::uint64_t seed_b) {
  constexpr std::uint64_t kVectors = 32;
  const std::size_t size = c.size();
  const auto product = all_spread_malloc<double>(size);  // B x
  std::vector<double> bx(size);
  std::vector<Block<N>> row_of_c(c.side());
  examples::Progress progress("matrix_multiply: checking vector", kVectors);
  std::string wrong;
  for (std::uint64_t v = 0; v < kVectors; ++v) {
    progress.at(v);
    const auto x = [&](std::size_t i) {
      return static_cast<double>(examples::random_at(seed_a + v, i ^ seed_b) & 1);
    };
    for (std::size_t i = my_number(); i < size; i += process_count()) {
      double sum = 0;
      for (std::size_t j = 0; j < size; ++j) sum += small_number(seed_b, i, j) * x(j);
      product[static_cast<std::ptrdiff_t>(i)] = sum;
    }
    barrier();
    for (std::size_t i = 0; i < size; ++i) get(&bx[i], product + static_cast<std::ptrdiff_t>(i));
    splitc::sync();
    for (std::size_t block_row = my_number(); block_row < c.side(); block_row += process_count()) {
      for (std::size_t k = 0; k < c.side(); ++k) bulk_get(&row_of_c[k], c.block(block_row, k), 1);
      splitc::sync();
      for (std::size_t r = 0; r < N && block_row * N + r < size; ++r) {
        const std::size_t i = block_row * N + r;
        double expected = 0;
        double found = 0;
        for (std::size_t j = 0; j < size; ++j) {
          expected += small_number(seed_a, i, j) * bx[j];
          found += row_of_c[j / N].at[r][j % N] * x(j);
        }
        if (found != expected && wrong.empty())
          wrong = fmt::format("row {} of C times a vector is {}, not {}", i, found, expected);
      }
    }
    barrier();  // product is about to change
  }
  all_spread_free(product);
  return wrong;
}

template <std::size_t N>
int run(std::size_t size, std::uint64_t seed) {
  examples::say("{0} x {0} elements in blocks of {1} x {1}, seed {2}\n", size, N, seed);
  Matrix<N> a(size);
  Matrix<N> b(size);
  Matrix<N> c(size);
  const std::uint64_t seed_b = ~seed;
  a.fill([=](std::size_t row, std::size_t column) { return small_number(seed, row, column); });
  b.fill([=](std::size_t row, std::size_t column) { return small_number(seed_b, row, column); });

  examples::Stopwatch watch;
  multiply(a, b, c);
  const auto n = static_cast<double>(size);
  watch.stop(2 * n * n * n, "floating-point operations");

  const std::string wrong = find_mistake(c, seed, seed_b);
  c.free();
  b.free();
  a.free();
  return examples::verdict(wrong, "C x = A (B x), exactly, for 32 random vectors x");
}

}  // namespace

int splitc_main(int argc, char** argv) {
  std::size_t size = 512;
  std::size_t block = 64;
  std::uint64_t seed = 1;
  examples::Program program("matrix_multiply", "Multiplies two matrices in blocks.");
  program.options().option("-n,--size", size, "Rows and columns").within(1, 1 << 15);
  program.options()
      .option("--block", block, "Rows and columns of a block")
      .one_of({"8", "16", "32", "64", "128"});
  program.options().option("--seed", seed, "Of the elements");
  return program.run(argc, argv, [&] {
    switch (block) {
      case 8:
        return run<8>(size, seed);
      case 16:
        return run<16>(size, seed);
      case 32:
        return run<32>(size, seed);
      case 64:
        return run<64>(size, seed);
      default:
        return run<128>(size, seed);
    }
  });
}
