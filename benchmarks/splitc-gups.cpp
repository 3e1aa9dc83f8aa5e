// splitc-gups: random updates of a table that two ranks share, by plain loads and stores of shared
// memory, by Split-C's direct path and by one message for each update of the other rank's words.
// Run as `viaduct-run -n 2 --bind splitc-gups`; see docs/benchmarks.md. After the random access
// test of the HPC Challenge (Luszczek et al. 2005), which accepts 1 % of lost updates, since two
// ranks may change one word at the same time.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/conclude.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/measurements.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/stopwatch.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc.hpp"

namespace viaduct::bench {
namespace {

using splitc::global_ptr;
using splitc::spread_ptr;
using Word = std::uint64_t;

constexpr std::size_t kUsualBytes = std::size_t{4} << 20;  // of each rank
constexpr std::uint64_t kUpdates = 2'000'000;              // by each rank

/// The HPC Challenge's generator: x^63 + x^2 + x + 1 over the bits of a word.
class Random {
 public:
  /// Far apart in the sequence for different seeds: a product of the two words would only shift it.
  explicit Random(Word seed) noexcept : word_((seed + 1) * 0x9e3779b97f4a7c15U) {
    for (int i = 0; i < 3; ++i) word_ = (word_ ^ (word_ >> 29)) * 0xa0761d6478bd642fU;
    word_ |= 1;
  }
  Word next() noexcept {
    word_ = (word_ << 1) ^ ((word_ >> 63) * Word{7});
    return word_;
  }

 private:
  Word word_;
};

Word change(Word* word, Word value) { return *word ^= value; }

class Gups {
 public:
  Gups(std::byte* block, Role role, const Options& options)
      : options_(options),
        log2_half_(log2_words(options.size_bytes != 0 ? options.size_bytes : kUsualBytes)),
        yardsticks_(block, role),
        spread_(splitc::all_spread_malloc<Word>(2 * half())),
        mine_(tolocal(spread_)) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      halves_[rank] = splitc::toglobal(static_cast<int>(rank), mine_);
      mapped_[rank] = splitc::mapped(halves_[rank], half());
      if (mapped_[rank] == nullptr)
        throw Error(std::errc::not_supported,
                    "the ranks' memory is not mapped here, so that there is no direct path to "
                    "measure: run both ranks on one host, without VIADUCT_SPLITC_PATH and with "
                    "provider shm");
    }
    for (std::size_t i = 0; i < half(); ++i) mine_[i] = i;
    splitc::barrier();
    add_yardsticks();
    add_updates();
  }

  Figures run() {
    divisor_ = yardsticks_.pair().busy_divisor();
    const Rounds rounds = list_.run(
        yardsticks_.pair(), divisor_ == 1 ? options_.rounds : std::min(options_.rounds, 3U));
    Figures figures;
    list_.add_to(figures, rounds);
    if (divisor_ != 1)
      figures.add_note(
          "other programs use these cores: fewer updates a round, and at most 3 rounds; the ratios "
          "say little");
    list_.tell(rounds, figures);
    return figures;
  }

 private:
  enum class Losses : std::uint8_t { none, few };

  [[nodiscard]] std::uint64_t iterations(std::uint64_t defined) const noexcept {
    return options_.iterations != 0 ? options_.iterations
                                    : std::max<std::uint64_t>(defined / divisor_, 100);
  }

  static unsigned log2_words(std::size_t bytes) noexcept {
    unsigned log2 = 0;
    while (sizeof(Word) << (log2 + 1) <= bytes) ++log2;
    return log2;
  }
  [[nodiscard]] std::size_t half() const noexcept { return std::size_t{1} << log2_half_; }

  void add_yardsticks() {
    list_.add("hand_over_ns", "ns", "", [this] { return yardsticks_.hand_over_ns(20'000); });
    list_.add("ring_rate_mps", "M/s", "", [this] {
      double best = 0;
      for (const RingLayout layout : kRingLayouts)
        best = std::max(best, yardsticks_.ring_rate_mps(layout, iterations(1'000'000)));
      return best;
    });
    list_.add("gups_plain_mups", "M/s", "", [this] {
      return updates(kUpdates, Losses::few,
                     [mapped = mapped_](Place at, Word value) { mapped[at.rank][at.i] ^= value; });
    });
    list_.add("gups_plain_lock_mups", "M/s", "", [this] {
      return updates(kUpdates, Losses::none, [mapped = mapped_](Place at, Word value) {
        __atomic_fetch_xor(&mapped[at.rank][at.i], value, __ATOMIC_RELAXED);
      });
    });
  }

  void add_updates() {
    add_updates_ahead();
    list_.add("gups_direct_mups", "M/s", "gups_plain_mups", [this] {
      return updates(kUpdates, Losses::few, [halves = halves_](Place at, Word value) {
        halves[at.rank][static_cast<std::ptrdiff_t>(at.i)] ^= value;
      });
    });
    list_.add("gups_mapped_mups", "M/s", "gups_plain_mups", [this] {
      constexpr std::uint64_t kPollEvery = 1024;
      return updates(kUpdates, Losses::few,
                     [mapped = mapped_, done = std::uint64_t{0}](Place at, Word value) mutable {
                       mapped[at.rank][at.i] ^= value;
                       if (++done % kPollEvery == 0) splitc::poll();
                     });
    });
    list_.add("gups_spread_mups", "M/s", "gups_plain_mups", [this] {
      return updates(kUpdates, Losses::few, [table = spread_](Place at, Word value) {
        table[static_cast<std::ptrdiff_t>(2 * at.i + at.rank)] ^= value;
      });
    });
    list_.add("gups_fetch_xor_mups", "M/s", "gups_plain_lock_mups", [this] {
      return updates(kUpdates, Losses::none, [halves = halves_](Place at, Word value) {
        splitc::fetch_xor(halves[at.rank] + static_cast<std::ptrdiff_t>(at.i), value);
      });
    });
    list_.add("gups_atomic_mups", "M/s", "ring_rate_mps", [this] {
      return updates(kUpdates / 8, Losses::none, [halves = halves_](Place at, Word value) {
        splitc::atomic<change>(halves[at.rank] + static_cast<std::ptrdiff_t>(at.i), value);
      });
    });
    list_.add("gups_atomic_put_mups", "M/s", "ring_rate_mps", [this] {
      return updates(
          kUpdates / 2, Losses::none,
          [halves = halves_](Place at, Word value) {
            splitc::atomic_put<change>(halves[at.rank] + static_cast<std::ptrdiff_t>(at.i), value);
          },
          [mine = mine_, rank = static_cast<std::size_t>(MYPROC)](Place at) {
            if (at.rank == rank) splitc::prefetch(splitc::toglobal(&mine[at.i]));
          });
    });
  }

  /// The same where each update's place is known kAhead updates before it is made.
  void add_updates_ahead() {
    list_.add("gups_plain_ahead_mups", "M/s", "", [this] {
      return updates(
          kUpdates, Losses::few,
          [mapped = mapped_](Place at, Word value) { mapped[at.rank][at.i] ^= value; },
          [mapped = mapped_](Place at) { __builtin_prefetch(&mapped[at.rank][at.i]); });
    });
    list_.add("gups_ahead_mups", "M/s", "gups_plain_mups", [this] {
      return updates(
          kUpdates, Losses::few,
          [halves = halves_](Place at, Word value) {
            halves[at.rank][static_cast<std::ptrdiff_t>(at.i)] ^= value;
          },
          [halves = halves_](Place at) {
            splitc::prefetch(halves[at.rank] + static_cast<std::ptrdiff_t>(at.i));
          });
    });
  }

  /// Word i of a rank's part.
  struct Place {
    std::size_t rank;
    std::size_t i;
  };

  /// Million updates a second by both ranks together, from their common start to the last update.
  /// The updates are made twice, which undoes them; then this rank's part is checked.
  template <class Update, class... Prefetch>
  double updates(std::uint64_t defined, Losses losses, Update update, Prefetch... prefetch) {
    const std::uint64_t count = iterations(defined);
    double ns = 0;
    for (int time = 0; time < 2; ++time) {
      splitc::barrier();
      const Stopwatch watch;
      make(count, update, prefetch...);
      splitc::sync();
      splitc::barrier();
      ns += watch.elapsed_ns();
    }
    check(losses, count);
    return static_cast<double>(count) * PROCS * 2 / ns * 1e3;
  }

  template <class Update>
  void make(std::uint64_t count, Update update) const {
    Random random(static_cast<Word>(MYPROC));
    const unsigned log2_half = log2_half_;
    const std::size_t mask = half() - 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Word value = random.next();
      update({value >> log2_half & 1, value & mask}, value);
    }
  }

  template <class Update, class Prefetch>
  void make(std::uint64_t count, Update update, Prefetch prefetch) const {
    constexpr std::size_t kAhead = 16;
    Random random(static_cast<Word>(MYPROC));
    const unsigned log2_half = log2_half_;
    const std::size_t mask = half() - 1;
    std::array<Word, kAhead> values{};
    for (Word& value : values) value = random.next();
    std::uint64_t made = 0;
    while (made < count) {
      for (Word& value : values) {
        if (made++ < count) update({value >> log2_half & 1, value & mask}, value);
        value = random.next();
        prefetch(Place{value >> log2_half & 1, value & mask});
      }
    }
  }

  void check(Losses losses, std::uint64_t count) const {
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < half(); ++i) {
      wrong += mine_[i] != i ? 1 : 0;
      mine_[i] = i;
    }
    splitc::barrier();
    // In a small table the ranks change the same words so often that a count of losses means
    // nothing.
    constexpr std::size_t kSmall = std::size_t{1} << 16;
    const std::uint64_t few = half() < kSmall ? half() : 4 * count / 100;
    const std::uint64_t allowed = losses == Losses::none ? 0 : few;
    if (wrong > allowed)
      throw Error(
          std::errc::protocol_error,
          fmt::format("{} words of the table are wrong after {} updates, which is more than "
                      "the {} allowed",
                      wrong, count, allowed));
  }

  Options options_;
  std::uint64_t divisor_ = 1;
  unsigned log2_half_;
  Yardsticks yardsticks_;
  spread_ptr<Word> spread_;  // the whole table
  Word* mine_;               // this rank's part
  std::array<global_ptr<Word>, 2> halves_;
  std::array<Word*, 2> mapped_{};
  Measurements list_;
};

int measure(int argc, char** argv) {
  program::CommandLine app(
      "Measures random updates of a table in both ranks' memory, by each path.");
  Options options;
  add_common_options(app, options);
  add_size_option(app, options, "Bytes of the table in each rank, rounded down to a power of two");
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, MYPROC == 0)) return exit_code;
  require_provider(options);
  if (PROCS != 2)
    throw Error(std::errc::invalid_argument,
                "splitc-gups measures two ranks; run it as: viaduct-run -n 2 --bind splitc-gups");
  Job& job = splitc::job();
  const Role role = MYPROC == 0 ? Role::sender : Role::peer;
  std::byte* const block = share_block(job, Yardsticks::block_bytes(), Rank{1});
  require_own_core(job, block, role);
  Gups gups(block, role, options);
  const Figures figures = gups.run();
  if (role != Role::sender) return 0;
  conclude(figures, job, options.json_file);
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int splitc_main(int argc, char** argv) { return viaduct::bench::measure(argc, argv); }
