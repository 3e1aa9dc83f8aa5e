// Counts the words of text files. Each process counts the words in its part of every file, and adds
// them to one table: lists of words whose heads are spread over all processes, and whose links lead
// from process to process.
//
// Shows   a linked structure in global memory: a node lies in the heap of the process that made it
//         read of a whole struct, and field() for the pointer to one member
//         locks: one for each list, beside its head
//         reductions for the totals
//
// A word is a run of letters, digits and bytes beyond ASCII; capitals are as small letters.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "examples/splitc/common/blocks.hpp"
#include "examples/splitc/common/program.hpp"
#include "examples/splitc/common/random.hpp"
#include "examples/splitc/common/text_reader.hpp"

namespace {

using namespace splitc;
using Counts = std::unordered_map<std::string, std::uint64_t>;

// A word that some process was the first to add.
struct Node {
  global_ptr<Node> next;
  global_ptr<const char> letters;
  std::uint64_t length;
  std::uint64_t hash;
  std::uint64_t count;
};

struct Bucket {
  lock_t lock;
  global_ptr<Node> first;
};

bool is_in_word(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
         static_cast<unsigned char>(c) >= 128;
}

// Calls f(word, where it ends).
template <class F>
void for_each_word(std::string_view text, F f) {
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && is_in_word(text[i])) {
      const char c = text[i];
      word.push_back('A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    } else if (!word.empty()) {
      f(word, i);
      word.clear();
    }
  }
}

// The words of this process' part of a file: those that begin in its share of the bytes.
std::string read_my_part(const std::string& path) {
  std::error_code error;
  const auto bytes = static_cast<std::streamoff>(std::filesystem::file_size(path, error));
  if (error) throw examples::BadInput(fmt::format("cannot open {}: {}", path, error.message()));
  if (bytes == 0) throw examples::BadInput(fmt::format("{} is empty", path));
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw examples::BadInput(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  const std::streamoff begin = bytes * MYPROC / PROCS;
  const std::streamoff end = bytes * (MYPROC + 1) / PROCS;

  // Reads from the byte before, which shows whether a word begins at the border or goes on there.
  const std::streamoff from = std::max<std::streamoff>(begin - 1, 0);
  std::string part(static_cast<std::size_t>(end - from), ' ');
  file.seekg(from);
  if (!file.read(part.data(), end - from))
    throw examples::BadInput(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  std::size_t skip = 0;
  if (begin > 0)
    while (skip < part.size() && is_in_word(part[skip])) ++skip;
  // The last word may end in the next process' share.
  if (skip < part.size() && is_in_word(part.back()))
    for (char c; file.get(c) && is_in_word(c);) part.push_back(c);
  return part.substr(skip);
}

std::uint64_t hash_of(const std::string& word) {
  std::uint64_t hash = word.size();
  for (const char c : word) hash = examples::mixed(hash + static_cast<unsigned char>(c));
  return hash;
}

std::string letters_of(const Node& node) {
  std::string letters(node.length, ' ');
  bulk_read(letters.data(), node.letters, node.length);
  return letters;
}

class Table {
 public:
  explicit Table(std::size_t buckets)
      : count_(buckets), buckets_(all_spread_malloc<Bucket>(buckets)) {}
  /// Collective.
  void free() { all_spread_free(buckets_); }

  /// Adds the count of a word. If the table has it not yet, @p mine becomes its node.
  /// @return whether it did. Then the node and the letters must stay where they are.
  bool add(const std::string& word, std::uint64_t count, Node& mine) const {
    const std::uint64_t hash = hash_of(word);
    const global_ptr<Bucket> bucket = buckets_ + static_cast<std::ptrdiff_t>(hash % count_);
    const global_ptr<lock_t> guard = bucket.field(&Bucket::lock);
    lock(guard);
    const global_ptr<Node> first = read(bucket.field(&Bucket::first));
    const global_ptr<Node> found = find(first, word, hash);
    if (found) {
      // Two accesses and no atomic operation: the lock keeps all others out.
      *found.field(&Node::count) += count;
    } else {
      mine = {first, global_ptr<const char>(word.data()), word.size(), hash, count};
      write(bucket.field(&Bucket::first), global_ptr<Node>(&mine));
    }
    unlock(guard);
    return !found;
  }

  /// Calls f(word, count) for all words of all processes, when no process adds any more.
  template <class F>
  void for_each(F f) const {
    for (const auto bucket : spread_range(buckets_, static_cast<std::ptrdiff_t>(count_)))
      for (auto at = static_cast<Bucket>(bucket).first; at;) {
        const Node node = *at;
        f(letters_of(node), node.count);
        at = node.next;
      }
  }

 private:
  static global_ptr<Node> find(global_ptr<Node> at, const std::string& word, std::uint64_t hash) {
    while (at) {
      const Node node = *at;  // all of it by one read
      if (node.hash == hash && node.length == word.size() && letters_of(node) == word) break;
      at = node.next;
    }
    return at;
  }

  std::size_t count_;
  spread_ptr<Bucket> buckets_;
};

// All words and their counts, read from the table.
std::map<std::string, std::uint64_t> all_words(const Table& table) {
  std::map<std::string, std::uint64_t> words;
  table.for_each([&words](const std::string& word, std::uint64_t count) { words[word] += count; });
  return words;
}

// The same, by one process, file by file.
std::map<std::string, std::uint64_t> count_alone(const std::vector<std::string>& files) {
  std::map<std::string, std::uint64_t> words;
  for (const std::string& path : files)
    for_each_word(examples::read_file(path),
                  [&](const std::string& word, std::size_t) { ++words[word]; });
  return words;
}

std::string difference(const std::map<std::string, std::uint64_t>& found,
                       const std::map<std::string, std::uint64_t>& expected) {
  if (found.size() != expected.size())
    return fmt::format("{} different words, not {}", found.size(), expected.size());
  const auto differ = std::mismatch(found.begin(), found.end(), expected.begin());
  if (differ.first == found.end()) return {};
  return fmt::format("'{}' {} times, not '{}' {} times", differ.first->first, differ.first->second,
                     differ.second->first, differ.second->second);
}

// The most frequent first; of equally frequent ones in the order of their letters.
std::vector<std::pair<std::string, std::uint64_t>> by_frequency(
    const std::map<std::string, std::uint64_t>& words) {
  std::vector<std::pair<std::string, std::uint64_t>> list(words.begin(), words.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

// Process 0's part of the end: shows the result, and answers the mistake in it, if any.
std::string show_and_check(const Table& table, const std::vector<std::string>& files,
                           std::size_t top, const std::string& output) {
  const auto words = all_words(table);
  const auto list = by_frequency(words);
  for (std::size_t i = 0; i < std::min(top, list.size()); ++i)
    fmt::print("{:8} {}\n", list[i].second, list[i].first);
  if (!output.empty()) {
    std::string text;
    for (const auto& [word, count] : list) text += fmt::format("{} {}\n", count, word);
    examples::write_file(output, text);
  }
  return difference(words, count_alone(files));
}

int word_count(const std::vector<std::string>& files, std::size_t buckets, std::size_t top,
               const std::string& output) {
  Counts mine;
  std::uint64_t my_bytes = 0;
  std::uint64_t my_total = 0;
  examples::Stopwatch watch;
  examples::together([&] {
    for (const std::string& path : files) {
      const std::string part = read_my_part(path);
      examples::Progress progress("word_count: " + path + ": byte", part.size());
      for_each_word(part, [&](const std::string& word, std::size_t end) {
        ++mine[word];
        if (++my_total % (1 << 16) == 0) progress.at(end);
      });
      my_bytes += part.size();
    }
  });

  Table table(buckets);
  std::vector<Node> nodes(mine.size());  // never moved: others point into it
  examples::Progress progress("word_count: adding word", mine.size());
  std::size_t added = 0;
  std::size_t looked_at = 0;
  for (const auto& [word, count] : mine) {
    progress.at(looked_at++);
    if (table.add(word, count, nodes[added])) ++added;
  }
  watch.stop(static_cast<double>(all_reduce_add(my_bytes)), "bytes");
  const std::uint64_t total = all_reduce_add(my_total);
  const std::uint64_t different = all_reduce_add<std::uint64_t>(added);
  examples::say("{} words, {} different, in {} files\n", total, different, files.size());

  std::string wrong;
  examples::on_process_0([&] { wrong = show_and_check(table, files, top, output); });
  table.free();
  return examples::verdict(wrong, fmt::format("all {} words and their counts are those of one "
                                              "process",
                                              different));
}

}  // namespace

int splitc_main(int argc, char** argv) {
  std::vector<std::string> files;
  std::size_t buckets = 1 << 14;
  std::size_t top = 10;
  std::string output;
  examples::Program program("word_count", "Counts the words of text files.");
  auto& app = program.options();
  app.option("FILE", files, "Text files").required();
  app.option("--top", top, "Show this many of the most frequent words");
  app.option("--buckets", buckets, "Lists of words").within(1, 1 << 26);
  app.option("-o,--output", output, "Write all words and their counts here");
  return program.run(argc, argv, [&] { return word_count(files, buckets, top, output); });
}
