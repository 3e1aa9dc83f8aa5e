// Sample sort: every process sorts its keys, a sample of all keys says where to cut, and each
// process gets all keys between two cuts in one transfer from every other one.
//
// Shows   put and sync: split-phase writes of counts and addresses into the others' memory
//         global pointers to the ordinary heap, handed round as values
//         bulk_store and store_sync(bytes): the target alone knows when all its keys have come
//
// Blelloch et al. 1991 describe the algorithm; Culler et al. use it to show Split-C's bulk stores.

#include <algorithm>
#include <numeric>
#include <vector>

#include "examples/splitc/common/shared.hpp"
#include "examples/splitc/common/sorting.hpp"

namespace {

using namespace splitc;
using examples::Key;
using examples::my_number;
using examples::process_count;

// A key and its place. The place tells equal keys apart, so that any number of them can be cut into
// even parts.
struct Mark {
  Key key;
  std::size_t process;
  std::size_t place;
  friend bool operator<(const Mark& a, const Mark& b) {
    if (a.key != b.key) return a.key < b.key;
    return a.process != b.process ? a.process < b.process : a.place < b.place;
  }
};

// Merges runs that begin at the places in `begins`, two neighbours at a time.
void merge_runs(std::vector<Key>& keys, std::vector<std::size_t> begins) {
  examples::Progress progress("sample_sort: runs merged:", begins.size());
  const std::size_t runs = begins.size();
  const auto at = [&keys](std::size_t i) { return keys.begin() + static_cast<std::ptrdiff_t>(i); };
  while (begins.size() > 1) {
    std::vector<std::size_t> merged;
    for (std::size_t r = 0; r < begins.size(); r += 2) {
      merged.push_back(begins[r]);
      if (r + 1 == begins.size()) break;
      const std::size_t end = r + 2 < begins.size() ? begins[r + 2] : keys.size();
      std::inplace_merge(at(begins[r]), at(begins[r + 1]), at(end));
    }
    begins = std::move(merged);
    progress.at(runs - begins.size());
  }
}

// This process' own keys: in pieces that fit the cache, so that progress can be shown.
void sort_here(std::vector<Key>& keys) {
  constexpr std::size_t kPiece = std::size_t{1} << 18;
  examples::Progress progress("sample_sort: key", keys.size());
  std::vector<std::size_t> begins;
  for (std::size_t begin = 0; begin < keys.size(); begin += kPiece) {
    const std::size_t end = std::min(begin + kPiece, keys.size());
    std::sort(keys.begin() + static_cast<std::ptrdiff_t>(begin),
              keys.begin() + static_cast<std::ptrdiff_t>(end));
    begins.push_back(begin);
    progress.at(end);
  }
  merge_runs(keys, std::move(begins));
}

// The marks between the processes' parts: PROCS - 1 of them, evenly spaced in a sample to which
// every process contributes `oversampling` of its keys, evenly spaced too.
std::vector<Mark> choose_cuts(const std::vector<Key>& sorted, std::size_t oversampling) {
  const std::size_t some = std::min(oversampling, sorted.size());
  std::vector<Mark> sample(some);
  for (std::size_t i = 0; i < some; ++i) {
    const std::size_t place = (2 * i + 1) * sorted.size() / (2 * some);
    sample[i] = {sorted[place], my_number(), place};
  }
  sample = examples::collect_on_process_0(sample);

  std::vector<Mark> cuts(process_count() - 1);
  if (MYPROC == 0 && !sample.empty()) {
    std::sort(sample.begin(), sample.end());
    for (std::size_t q = 0; q < cuts.size(); ++q)
      cuts[q] = sample[(q + 1) * sample.size() / process_count()];
  }
  if (!cuts.empty()) all_bcast(cuts.data(), cuts.size());
  return cuts;
}

// The cuts of this process' sorted keys: part q is [result[q], result[q + 1]).
std::vector<std::size_t> cut(const std::vector<Key>& sorted, const std::vector<Mark>& cuts) {
  std::vector<std::size_t> result{0};
  for (const Mark& mark : cuts) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), mark.key);
    auto at = first;  // equal keys: those of earlier processes are before the mark
    if (my_number() < mark.process) at = last;
    if (my_number() == mark.process) at = sorted.begin() + static_cast<std::ptrdiff_t>(mark.place);
    result.push_back(static_cast<std::size_t>(at - sorted.begin()));
  }
  result.push_back(sorted.size());
  return result;
}

// Sends part q of `sorted` to process q, and answers the parts that came here, merged.
std::vector<Key> exchange_parts(const std::vector<Key>& sorted,
                                const std::vector<std::size_t>& parts) {
  // One element for every process in every process, at the same address: process q writes to
  // process p into element q there.
  auto* coming = all_malloc<std::size_t>(process_count());
  auto* destination = all_malloc<global_ptr<Key>>(process_count());

  // The number of keys that will come from each process. The puts go to all processes at once;
  // after sync() all of them have arrived, and after the barrier those of all processes have.
  for (int q = 0; q < PROCS; ++q) {
    const auto part = static_cast<std::size_t>(q);
    put(toglobal(q, coming + MYPROC), parts[part + 1] - parts[part]);
  }
  splitc::sync();
  barrier();

  // Makes room for the keys, and tells every process where to put its keys: a global pointer is a
  // value like any other.
  std::vector<std::size_t> begins(process_count());
  std::exclusive_scan(coming, coming + PROCS, begins.begin(), std::size_t{0});
  std::vector<Key> mine(begins.back() + coming[PROCS - 1]);
  for (int q = 0; q < PROCS; ++q)
    put(toglobal(q, destination + MYPROC),
        global_ptr<Key>(mine.data() + begins[static_cast<std::size_t>(q)]));
  splitc::sync();
  barrier();

  // Each process begins with the process after it, so that not all send to process 0 first.
  for (std::size_t i = 1; i <= process_count(); ++i) {
    const std::size_t q = (my_number() + i) % process_count();
    const std::size_t count = parts[q + 1] - parts[q];
    if (count > 0) bulk_store(destination[q], sorted.data() + parts[q], count);
  }
  // No process waits for its own stores; each waits for the bytes that it is to get.
  store_sync(mine.size() * sizeof(Key));

  barrier();  // the tables may be freed when no process reads them any more
  all_free(destination);
  all_free(coming);
  merge_runs(mine, std::move(begins));
  return mine;
}

}  // namespace

int splitc_main(int argc, char** argv) {
  examples::SortOptions options;
  std::size_t oversampling = 256;
  examples::Program program("sample_sort", "Sorts numbers by sampling.");
  add_sort_options(program.options(), options);
  program.options()
      .option("--oversampling", oversampling, "Keys that each process gives to the sample")
      .within(1, 1 << 20);
  return program.run(argc, argv, [&] {
    std::vector<Key> keys = examples::load_keys(options);
    const examples::Fingerprint before = examples::fingerprint_of(keys);
    examples::Stopwatch watch;

    sort_here(keys);
    keys = exchange_parts(keys, cut(keys, choose_cuts(keys, oversampling)));

    watch.stop(static_cast<double>(before.count), "keys");
    const auto most = static_cast<double>(all_reduce_max(keys.size()));
    examples::say("the fullest process has {:.2f} times the average\n",
                  most * PROCS / static_cast<double>(before.count));
    return examples::finish_sort(options, keys, before);
  });
}
