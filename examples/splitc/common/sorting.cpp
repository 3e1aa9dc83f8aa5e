#include "examples/splitc/common/sorting.hpp"

#include <algorithm>
#include <functional>

#include "examples/splitc/common/random.hpp"
#include "examples/splitc/common/shared.hpp"
#include "examples/splitc/common/text_reader.hpp"

namespace examples {
namespace {

std::vector<Key> read_keys(const std::string& path) {
  TextReader reader(path);
  std::vector<Key> keys;
  while (reader.next_line())
    while (reader.more()) keys.push_back(key_of(reader.number<std::int64_t>("a key")));
  if (keys.empty()) throw BadInput(fmt::format("{} has no numbers in it", path));
  return keys;
}

// Facts about a process' keys that its neighbours need.
struct Ends {
  std::size_t count;
  Key first;
  Key last;
};

std::string disorder_in(const std::vector<Key>& mine) {
  const auto ends = splitc::all_gather(mine.empty() ? Ends{0, 0, 0}
                                                    : Ends{mine.size(), mine.front(), mine.back()});
  if (mine.empty()) return {};
  const auto bad = std::adjacent_find(mine.begin(), mine.end(), std::greater<>());
  if (bad != mine.end())
    return fmt::format("{} comes before {}", number_of(bad[0]), number_of(bad[1]));
  for (std::size_t q = 0; q < my_number(); ++q)
    if (ends[q].count > 0 && ends[q].last > mine.front())
      return fmt::format("{} is before {} of process {}", number_of(mine.front()),
                         number_of(ends[q].last), q);
  return {};
}

}  // namespace

void add_sort_options(viaduct::program::CommandLine& app, SortOptions& options) {
  const auto file = app.option("FILE", options.file,
                               "Whole numbers, one or more a line; without it they are generated");
  app.option("-n,--count", options.count, "Generate this many numbers")
      .within(1, std::int64_t{1} << 36)
      .excludes(file);
  app.option("--range", options.range,
             "Generate numbers below this; few different ones make many equal keys")
      .within(1, std::int64_t{1} << 62)
      .excludes(file);
  app.option("--seed", options.seed, "Of the generated numbers").excludes(file);
  app.option("-o,--output", options.output, "Write the sorted numbers here, one a line");
}

std::vector<Key> load_keys(const SortOptions& options) {
  if (!options.file.empty()) {
    std::vector<Key> all;  // in process 0
    on_process_0([&] { all = read_keys(options.file); });
    const auto keys = share_of_process_0(all);
    say("{} keys of {}\n", keys.count, options.file);
    const Blocks blocks(keys.count);
    const std::vector<Key> mine = copy_of(keys, blocks.my_begin(), blocks.my_end());
    splitc::barrier();  // process 0 keeps them until all have read theirs
    return mine;
  }
  say("{} random keys below {}, seed {}\n", options.count, options.range, options.seed);
  const Blocks blocks(options.count);
  std::vector<Key> mine(blocks.my_size());
  for (std::size_t i = 0; i < mine.size(); ++i)
    mine[i] = key_of(
        static_cast<std::int64_t>(random_at(options.seed, blocks.my_begin() + i) % options.range));
  return mine;
}

Fingerprint fingerprint_of(const std::vector<Key>& mine) {
  Fingerprint print;
  print.count = mine.size();
  for (const Key key : mine) {
    print.sum += key;
    print.mixed_sum += mixed(key);
  }
  return splitc::all_reduce(print, [](const Fingerprint& a, const Fingerprint& b) {
    return Fingerprint{a.count + b.count, a.sum + b.sum, a.mixed_sum + b.mixed_sum};
  });
}

int finish_sort(const SortOptions& options, const std::vector<Key>& mine,
                const Fingerprint& before) {
  if (!options.output.empty()) {
    const std::vector<Key> all = collect_on_process_0(mine);
    on_process_0([&] {
      std::string text;
      for (const Key key : all) text += fmt::format("{}\n", number_of(key));
      write_file(options.output, text);
    });
    say("sorted numbers written to {}\n", options.output);
  }
  const Fingerprint after = fingerprint_of(mine);
  std::string wrong = disorder_in(mine);
  if (wrong.empty() && after.count != before.count)
    wrong = fmt::format("{} keys came out of {}", after.count, before.count);
  if (wrong.empty() && (after.sum != before.sum || after.mixed_sum != before.mixed_sum))
    wrong = "the keys are not those that went in";
  return verdict(wrong, fmt::format("{} keys, in order, none lost or altered", after.count));
}

}  // namespace examples
