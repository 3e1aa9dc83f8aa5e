// Giga-updates per second: words of a great table, spread over all processes, are changed at random
// places. Accesses have no locality, so that the program measures how fast single words travel.
//
// Shows   a spread array indexed as if it were here: table[i]
//         three ways of changing a word that others change too:
//           fetch_xor      an atomic operation on global memory
//           atomic_put<f>  a function that runs at the owner, between its other work; the
//                          caller does not wait for it before sync()
//           table[i] ^= v  a read, then a write: fast, and loses updates now and then
//         prefetch(), by which the first and the third need not wait for memory
//
// The random access test of the HPC Challenge (Luszczek et al. 2005), which accepts 1 % of errors.

#include <vector>

#include "examples/splitc/common/blocks.hpp"
#include "examples/splitc/common/program.hpp"
#include "examples/splitc/common/random.hpp"

namespace {

using namespace splitc;
using examples::my_number;
using examples::process_count;
using Word = std::uint64_t;

struct Options {
  unsigned log2_words = 20;
  std::uint64_t updates = 0;  // 0: four for each word
  std::uint64_t seed = 1;
  std::string how = "fetch_xor";
};

Word initial(std::size_t i) { return i; }

// The i-th update: the same in whichever process makes it. Process p makes p, p + PROCS, ...
struct Update {
  std::ptrdiff_t place;
  Word value;
};
Update update_at(const Options& options, std::uint64_t i) {
  const Word random = examples::random_at(options.seed, i);
  const Word mask = (Word{1} << options.log2_words) - 1;
  return {static_cast<std::ptrdiff_t>(random & mask), random};
}

void change(Word* word, Word value) { *word ^= value; }

constexpr std::uint64_t kBetweenLooks = 1 << 16;  // at the clock

// Calls f with this process' share of the updates, and long before that `announce` with the place.
template <class F, class Announce>
void make_updates(const Options& options, F f, Announce announce) {
  constexpr std::uint64_t kAhead = 16;
  examples::Progress progress("gups: update", options.updates);
  for (std::uint64_t i = my_number(); i < options.updates; i += process_count()) {
    announce(update_at(options, i + kAhead * process_count()).place);
    f(update_at(options, i));
    if ((i / process_count()) % kBetweenLooks == 0) progress.at(i);
  }
}

void run_updates(const Options& options, spread_ptr<Word> table) {
  const auto fetch = [table](std::ptrdiff_t place) { prefetch(table + place); };
  if (options.how == "fetch_xor") {
    make_updates(
        options, [table](Update u) { fetch_xor(table + u.place, u.value); }, fetch);
  } else if (options.how == "atomic") {
    make_updates(
        options, [table](Update u) { atomic_put<change>(table + u.place, u.value); },
        [](std::ptrdiff_t) {});  // memory is touched by the owner
    splitc::sync();
  } else {
    make_updates(
        options, [table](Update u) { table[u.place] ^= u.value; }, fetch);
  }
}

// The right values of this process' words are found by making all updates again and keeping those
// of this process' words. Element i of a spread array is element i / PROCS of process i % PROCS.
std::size_t count_errors(const Options& options, spread_range<Word> words) {
  const auto mine = words.mine();
  std::vector<Word> expected(static_cast<std::size_t>(mine.size()));
  for (std::size_t k = 0; k < expected.size(); ++k)
    expected[k] = initial(k * process_count() + my_number());
  examples::Progress progress("gups: checking update", options.updates);
  for (std::uint64_t i = 0; i < options.updates; ++i) {
    if (i % kBetweenLooks == 0) progress.at(i);
    const Update u = update_at(options, i);
    const auto place = static_cast<std::size_t>(u.place);
    if (place % process_count() == my_number()) expected[place / process_count()] ^= u.value;
  }
  std::size_t errors = 0;
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (mine.data()[k] != expected[k]) ++errors;
  return errors;
}

int gups(const Options& options) {
  const std::size_t count = std::size_t{1} << options.log2_words;
  examples::say("{} words, {} updates by {}, seed {}\n", count, options.updates, options.how,
                options.seed);

  // A collective call: all get the same pointer, to element 0 in process 0.
  const auto table = all_spread_malloc<Word>(count);
  const spread_range<Word> words(table, static_cast<std::ptrdiff_t>(count));
  // The elements that lie here are consecutive in memory and reached as any array.
  std::size_t i = my_number();
  for (Word& word : words.mine()) {
    word = initial(i);
    i += process_count();
  }

  examples::Stopwatch watch;
  run_updates(options, table);
  watch.stop(static_cast<double>(options.updates), "updates");

  const std::size_t errors = all_reduce_add(count_errors(options, words));
  barrier();
  all_spread_free(table);

  const double share = static_cast<double>(errors) / static_cast<double>(count);
  const bool right = options.how == "race" ? share <= 0.01 : errors == 0;
  return examples::verdict(right ? "" : fmt::format("{} of {} words are wrong", errors, count),
                           fmt::format("{} of {} words as they should be", count - errors, count));
}

}  // namespace

int splitc_main(int argc, char** argv) {
  Options options;
  examples::Program program("gups", "Updates random words of a spread table.");
  program.options()
      .option("--log2-words", options.log2_words, "Logarithm of the table's size")
      .within(1, 34);
  program.options()
      .option("--updates", options.updates, "By all processes; 0: four for each word")
      .within(0, std::int64_t{1} << 40);
  program.options().option("--seed", options.seed, "Of the places and values");
  program.options()
      .option("--how", options.how,
              "fetch_xor; atomic: a function that runs at the owner; race: read and write, where "
              "up to 1 % of the words may be wrong")
      .one_of({"fetch_xor", "atomic", "race"});
  return program.run(argc, argv, [&] {
    if (options.updates == 0) options.updates = std::uint64_t{4} << options.log2_words;
    return gups(options);
  });
}
