// The words around a declared word that its C needs, too: storage, alignment, attributes,
// qualifiers.

#include <algorithm>
#include <array>

#include "compiler-shim/splitcc/emit/emitter.hpp"

namespace viaduct::splitcc {
namespace {

const char* storage_name(Storage storage) {
  switch (storage) {
    case Storage::static_:
      return "static ";
    case Storage::extern_:
      return "extern ";
    case Storage::typedef_:
      return "typedef ";
    case Storage::automatic:
      return "auto ";
    case Storage::reg:
      return "register ";
    case Storage::none:
      break;
  }
  return "";
}

// Attributes of the pointee's type, which splitcc has read, and promises about pointers, which gcc
// refuses where a word is declared.
bool is_left_out(std::string_view attribute) {
  static constexpr std::array kNames = {"mode", "vector_size", "malloc", "returns_nonnull",
                                        "assume_aligned"};
  if (attribute.size() > 4 && attribute.substr(0, 2) == "__")
    attribute = attribute.substr(2, attribute.size() - 4);
  return std::find(kNames.begin(), kNames.end(), attribute) != kNames.end();
}

}  // namespace

std::string Emitter::storage_text(const Specifiers& s) {
  if (s.storage == Storage::none) return "";
  const auto found = unit_.replaced.find(s.storage_token);
  return found == unit_.replaced.end() ? storage_name(s.storage) : found->second + " ";
}

// The token of the bracket that closes the one at @p open.
int Emitter::closing(int open) const {
  int depth = 0;
  for (int i = open;; ++i) {
    const Tok token = unit_.tokens[static_cast<std::size_t>(i)].kind;
    depth += bracket_depth(token);
    if (depth == 0 || token == Tok::end) return i;
  }
}

// `__attribute__((a, b(c)))` at @p first, up to @p last, without the attributes that a word cannot
// have.
std::string Emitter::attribute(int first, int last) {
  std::string list;
  for (int i = first + 3; i < last - 1; ++i) {
    const int begin = i;
    while (i < last - 1 && unit_.tokens[static_cast<std::size_t>(i)].kind != Tok::comma)
      i = unit_.tokens[static_cast<std::size_t>(i)].kind == Tok::l_paren ? closing(i) + 1 : i + 1;
    if (is_left_out(unit_.text(begin))) continue;
    list += (list.empty() ? "" : ",") + flat([&] { range(begin, i - 1); });
  }
  return list.empty() ? "" : "__attribute__((" + list + ")) ";
}

// The attributes, alignments and names for the linker in a range of tokens, and the words that
// @p keeps.
template <class Keeps>
std::string Emitter::extras(int first, int last, Keeps&& keeps) {
  std::string text;
  for (int i = first; i <= last; ++i) {
    const Token& t = unit_.tokens[static_cast<std::size_t>(i)];
    const bool has_list =
        i < last && unit_.tokens[static_cast<std::size_t>(i) + 1].kind == Tok::l_paren;
    const int end = has_list ? closing(i + 1) : i;
    if (t.kind == Tok::kw_attribute) {
      text += attribute(i, end);
    } else if (t.kind == Tok::kw_alignas || t.kind == Tok::kw_asm) {
      text += flat([&] { range(i, end); }) + " ";
    } else if (keeps(t.kind)) {
      text += std::string(t.text) + " ";
      continue;
    }
    i = end;
  }
  return text;
}

// The specifiers of a word's declaration in C. The type is @p word, and the attributes stand behind
// it: behind `f(p)` of an old definition they would be the function's.
std::string Emitter::word_specifiers(const Specifiers& s, const Declarator& d,
                                     const std::string& word) {
  const auto none = [](Tok) { return false; };
  std::string words;
  std::string attributes;
  const auto add = [&](int first, int last) {
    for (int i = first; i <= last; ++i) {
      const Tok what = unit_.tokens[static_cast<std::size_t>(i)].kind;
      if (what == Tok::kw_thread || what == Tok::kw_noreturn)
        words += std::string(unit_.text(i)) + " ";
    }
    attributes += extras(first, last, none);
  };
  const bool has_tag = s.tag_last >= s.tag_first && s.tag_last >= 0;
  add(s.first, has_tag ? s.tag_first - 1 : s.last);
  if (has_tag) add(s.tag_last + 1, s.last);
  for (const auto& [first, last] : d.attributes) add(first, last);
  return words + (s.is_inline ? "__inline__ " : "") + word + (word.empty() ? "" : " ") + attributes;
}

// Attributes and a name for the linker behind a word's declarator.
std::string Emitter::word_tail(const Declarator& d) {
  const std::string text = extras(d.tail_first, d.tail_last, [](Tok) { return false; });
  return text.empty() ? text : " " + text;
}

// The qualifiers and attributes behind a '*'.
std::string Emitter::qualifiers(const Chunk& pointer) {
  return extras(pointer.first, pointer.last, [&](Tok word) {
    return word == Tok::kw_const || word == Tok::kw_volatile ||
           (word == Tok::kw_restrict && pointer.pointer == Kind::pointer);
  });
}

// A variable that the runtime completes: all but const.
std::string Emitter::completed(const Specifiers& s, const Declarator& d) {
  const auto keeps = [](Tok word) { return word == Tok::kw_volatile; };
  std::string qualifiers = s.is_volatile ? "volatile " : "";
  for (const Chunk& chunk : d.chunks)
    if (chunk.pointer != Kind::pointer) {
      qualifiers = extras(chunk.first, chunk.last, keeps);
      break;
    }
  const std::string& other = d.symbol->emitted;
  return storage_text(s) + word_specifiers(s, d, qualifiers) +
         name_of(d.type, other.empty() ? std::string(d.name) : other) + word_tail(d);
}

// The declarator from its name up to its first global or spread part; vsc_word stands for that part
// and the rest of the type.
std::string Emitter::word_declarator(const Specifiers& s, const Declarator& d) {
  const std::string word = std::exchange(word_type_, "vsc_word");
  std::string inner(d.name);
  if (d.symbol != nullptr && !d.symbol->emitted.empty()) inner = d.symbol->emitted;
  if (const auto found = unit_.replaced.find(d.name_token);
      d.name_token >= 0 && found != unit_.replaced.end())
    inner = found->second;
  std::string of_word;
  bool pointer = false;
  for (const Chunk& chunk : d.chunks) {
    if (chunk.spread) break;
    if (chunk.what == Chunk::What::pointer) {
      if (chunk.pointer != Kind::pointer) {
        of_word = qualifiers(chunk);
        break;
      }
      inner = "*" + qualifiers(chunk) + inner;
      pointer = true;
      continue;
    }
    if (pointer) inner = "(" + inner + ")";
    pointer = false;
    inner += flat([&] { range(chunk.first, chunk.last); });
  }
  return word_specifiers(s, d, of_word + word) + inner + word_tail(d);
}

void Emitter::parameter(const Specifiers& s, const Declarator& d) {
  raw(" " + storage_text(s) + word_declarator(s, d));
}

}  // namespace viaduct::splitcc
