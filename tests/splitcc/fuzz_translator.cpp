/// Feeds the front end what is no program: files with bytes changed, files with tokens changed, and
/// noise. It may refuse or accept; it must not crash, hang, or accept what it has called an error.
///
///   fuzz_translator ROUNDS SEED FILE...

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "compiler-shim/splitcc/driver/translate.hpp"
#include "compiler-shim/splitcc/lex/prelex.hpp"

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

// Words and gaps: joined they are the text.
std::vector<std::string> pieces(const std::string& text) {
  std::vector<std::string> out;
  const auto word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (word(text[i]))
      while (end < text.size() && word(text[end])) ++end;
    out.push_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

std::string change_bytes(std::string text, Random& random) {
  for (std::size_t n = 1 + below(random, 8); n > 0 && !text.empty(); --n) {
    const std::size_t at = below(random, text.size());
    switch (below(random, 4)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + below(random, 20));
        break;
      case 2:
        text.insert(at, 1 + below(random, 3), static_cast<char>(random()));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

std::string change_words(const std::string& text, const std::vector<std::string>& other,
                         Random& random) {
  static const std::vector<std::string> kWords = {"global", "spread",   "*",
                                                  "::",     ":=",       ":-",
                                                  "[",      "]",        "(",
                                                  ")",      "{",        "}",
                                                  ";",      ",",        "int",
                                                  "&",      "sizeof",   "=",
                                                  "struct", "typedef",  "static",
                                                  "extern", "->",       ".",
                                                  "return", "0",        "tolocal",
                                                  "atomic", "toglobal", "__typeof__",
                                                  "({",     "})",       "++",
                                                  "?",      ":",        "for",
                                                  "case",   "register", "__attribute__",
                                                  "asm",    "\"s\""};
  std::vector<std::string> all = pieces(text);
  for (std::size_t n = 1 + below(random, 6); n > 0 && !all.empty(); --n) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(below(random, all.size()));
    switch (below(random, 5)) {
      case 0:
        all.erase(at);
        break;
      case 1:
        *at = kWords[below(random, kWords.size())];
        break;
      case 2:
        all.insert(at, " " + kWords[below(random, kWords.size())] + " ");
        break;
      case 3:
        std::swap(*at, all[below(random, all.size())]);
        break;
      default:
        if (!other.empty()) {
          const std::size_t from = below(random, other.size());
          const std::size_t to = std::min(other.size(), from + 1 + below(random, 30));
          all.insert(at, other.begin() + static_cast<std::ptrdiff_t>(from),
                     other.begin() + static_cast<std::ptrdiff_t>(to));
        }
    }
  }
  std::string out;
  for (const std::string& piece : all) out += piece;
  return out;
}

std::string noise(Random& random) {
  std::string text;
  if (below(random, 2) == 0) {
    // Deep nesting of something.
    static const char* const kOpen[] = {"(",       "[",    "{",       "*",  "-",   "f(",
                                        "if (1) ", "a ? ", "int (*",  "!",  "({",  "struct {",
                                        "& ",      "1 + ", "sizeof ", "x[", "= {", "int f("};
    text = below(random, 2) == 0 ? "int f() { return " : "int x = ";
    const char* const open = kOpen[below(random, std::size(kOpen))];
    for (std::size_t n = below(random, 20000); n > 0; --n) text += open;
  } else {
    for (std::size_t n = below(random, 2000); n > 0; --n) text += static_cast<char>(random());
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const unsigned long rounds = std::strtoul(argv[1], nullptr, 10);
  const unsigned long seed = std::strtoul(argv[2], nullptr, 10);
  std::vector<std::string> corpus;
  for (int i = 3; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (!in.good() && corpus.back().empty()) {
      std::fprintf(stderr, "fuzz_translator: cannot read %s\n", argv[i]);
      return 2;
    }
  }
  unsigned long accepted = 0;
  for (unsigned long round = 0; round < rounds; ++round) {
    Random random(seed * 1000003 + round);
    const std::string& base = corpus[below(random, corpus.size())];
    const std::vector<std::string> other = pieces(corpus[below(random, corpus.size())]);
    const std::size_t kind = below(random, 10);
    const std::string text = kind == 0  ? noise(random)
                             : kind < 4 ? change_bytes(base, random)
                                        : change_words(base, other, random);
    // Where it crashed shows on the next run.
    if (std::getenv("FUZZ_SHOW") != nullptr) {
      std::fprintf(stderr, "round %lu\n", round);
      std::ofstream("fuzz-input.sc", std::ios::binary) << text;
    }
    const std::string joined = viaduct::splitcc::join_strings(text).value_or(text);
    viaduct::splitcc::Diagnostics diagnostics;
    const auto standard =
        round % 2 == 0 ? viaduct::splitcc::Standard::gnu89 : viaduct::splitcc::Standard::gnu11;
    const auto result = viaduct::splitcc::translate(joined, diagnostics, false, standard);
    const std::string said = diagnostics.take();
    if (result.ok == (diagnostics.errors() > 0) || (!result.ok && said.empty()) ||
        (result.ok && result.c.empty())) {
      std::fprintf(stderr,
                   "round %lu of seed %lu: refused without a word, or accepted with errors\n",
                   round, seed);
      return 1;
    }
    accepted += result.ok ? 1U : 0U;
  }
  std::printf("%lu inputs, %lu accepted\n", rounds, accepted);
  return accepted == 0 || accepted == rounds ? 1 : 0;
}
