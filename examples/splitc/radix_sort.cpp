// Radix sort: one pass for every digit of the keys, the lowest first. In a pass each process counts
// its keys by digit, all counts together say where in the whole array each key goes, and the keys
// go there, each by one store.
//
// Shows   store: the one-way word, for traffic without any pattern and without replies
//         store_sync(bytes): each process knows how much a full block is
//         bulk_get of all processes' tables, and one sync() for all of them
//         the same data sent word by word, or gathered into runs first: --send
//
// The program of Culler et al.'s LogP studies (Dusseau, 1994).

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "examples/splitc/common/shared.hpp"
#include "examples/splitc/common/sorting.hpp"

namespace {

using namespace splitc;
using examples::Blocks;
using examples::Key;
using examples::my_number;
using examples::process_count;

struct Digit {
  unsigned shift;
  unsigned bits;
  [[nodiscard]] std::size_t values() const { return std::size_t{1} << bits; }
  [[nodiscard]] std::size_t of(Key key) const { return (key >> shift) & (values() - 1); }
};

// The place of this process' first key with each digit: behind all keys with smaller digits, and
// behind those of the processes before it with the same digit. `counts` is this process' row, at
// the same address in every process.
std::vector<std::size_t> first_places(const std::vector<Key>& keys, Digit digit,
                                      std::size_t* counts) {
  const std::size_t values = digit.values();
  std::fill(counts, counts + values, 0);
  for (const Key key : keys) ++counts[digit.of(key)];
  barrier();

  std::vector<std::size_t> rows(process_count() * values);
  for (int q = 0; q < PROCS; ++q)
    bulk_get(rows.data() + static_cast<std::size_t>(q) * values, toglobal(q, counts), values);
  splitc::sync();

  std::vector<std::size_t> places(values);
  std::size_t next = 0;
  for (std::size_t value = 0; value < values; ++value) {
    for (std::size_t q = 0; q < process_count(); ++q) {
      if (q == my_number()) places[value] = next;
      next += rows[q * values + value];
    }
  }
  // No process overwrites its row before all have read it, and no store of this pass arrives before
  // its target has finished the pass before.
  barrier();
  return places;
}

// Every key by a message of its own: as many stores as keys, and no buffer.
void send_words(const std::vector<Key>& keys, Digit digit, std::vector<std::size_t> places,
                const Blocks& blocks, Key* target, examples::Progress& progress) {
  constexpr std::size_t kBetweenLooks = 1 << 16;  // at the clock
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t to = places[digit.of(keys[i])]++;
    store(toglobal(blocks.owner(to), target + blocks.place(to)), keys[i]);
    if (i % kBetweenLooks == 0) progress.at(digit.shift + digit.bits * i / keys.size());
  }
}

// Keys with the same digit go to consecutive places: brought together first, they go as one block
// to each process.
void send_runs(const std::vector<Key>& keys, Digit digit, const std::vector<std::size_t>& places,
               const Blocks& blocks, Key* target) {
  std::vector<std::vector<Key>> runs(digit.values());
  for (const Key key : keys) runs[digit.of(key)].push_back(key);
  for (std::size_t value = 0; value < runs.size(); ++value) {
    const std::vector<Key>& run = runs[value];
    for (std::size_t sent = 0; sent < run.size();) {
      const std::size_t to = places[value] + sent;
      const int owner = blocks.owner(to);
      const std::size_t here =
          std::min(run.size() - sent, blocks.end(static_cast<std::size_t>(owner)) - to);
      bulk_store(toglobal(owner, target + blocks.place(to)), run.data() + sent, here);
      sent += here;
    }
  }
}

// The bits that are not the same in all keys of all processes.
Key bits_that_differ(const std::vector<Key>& mine) {
  Key all_ones = ~Key{0};
  Key any_one = 0;
  for (const Key key : mine) {
    all_ones &= key;
    any_one |= key;
  }
  return all_reduce_or(any_one) & ~all_reduce_and(all_ones);
}

std::vector<Key> radix_sort(std::vector<Key> keys, const Blocks& blocks, unsigned bits,
                            bool in_runs) {
  auto* target = all_malloc<Key>(blocks.most());
  auto* counts = all_malloc<std::size_t>(std::size_t{1} << bits);
  const Key differing = bits_that_differ(keys);
  examples::Progress progress("radix_sort: bit", 64);
  for (unsigned shift = static_cast<unsigned>(std::countr_zero(differing)); shift < 64;
       shift += bits) {
    const Digit digit{shift, std::min(bits, 64 - shift)};
    if (differing >> shift == 0) break;  // equal from here on
    const std::vector<std::size_t> places = first_places(keys, digit, counts);
    if (in_runs) {
      send_runs(keys, digit, places, blocks, target);
    } else {
      send_words(keys, digit, places, blocks, target, progress);
    }
    // A block is full when its bytes have come. The owner need not ask other processes.
    store_sync(keys.size() * sizeof(Key));
    keys.assign(target, target + keys.size());
    progress.at(shift + digit.bits);
  }
  all_free(counts);
  all_free(target);
  return keys;
}

}  // namespace

int splitc_main(int argc, char** argv) {
  examples::SortOptions options;
  unsigned bits = 8;
  std::string send = "words";
  examples::Program program("radix_sort", "Sorts numbers digit by digit.");
  add_sort_options(program.options(), options);
  program.options()
      .option("--bits", bits, "Of a digit: more take fewer passes and longer tables")
      .within(1, 16);
  program.options()
      .option("--send", send, "Keys one by one (words) or gathered by digit (runs)")
      .one_of({"words", "runs"});
  return program.run(argc, argv, [&] {
    std::vector<Key> keys = examples::load_keys(options);
    const examples::Fingerprint before = examples::fingerprint_of(keys);
    examples::Stopwatch watch;
    keys = radix_sort(std::move(keys), Blocks(before.count), bits, send == "runs");
    watch.stop(static_cast<double>(before.count), "keys");
    return examples::finish_sort(options, keys, before);
  });
}
