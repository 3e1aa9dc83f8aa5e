// Declaration specifiers: storage and types.

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {

bool Parser::starts_type(int ahead) const {
  const Tok k = kind(ahead);
  if (k == Tok::identifier) {
    const Symbol* const s = scopes_.find(text(ahead));
    if (s == nullptr) return names_space(ahead) && starts_type(ahead + 1);
    return s->what == Symbol::What::type_name;
  }
  if (k == Tok::kw_extension) return starts_type(ahead + 1);
  return (k >= Tok::kw_const && k <= Tok::kw_typeof) || k == Tok::kw_attribute ||
         k == Tok::kw_alignas;
}

// `global` or `spread` where no such name is declared.
bool Parser::names_space(int ahead) const {
  return kind(ahead) == Tok::identifier && !token(ahead).in_system_header &&
         (text(ahead) == "global" || text(ahead) == "spread") &&
         scopes_.find(text(ahead)) == nullptr;
}

// `global int *p` and `int global *p`: the words of the type have been read.
void Parser::misplaced_word(const Specifiers& s, int word) {
  std::string type;
  for (int i = s.first; i <= s.last; ++i)
    if (i != word) type += std::string(unit_.text(i)) + " ";
  if (s.defines_tag || type.size() > 40) type = "T ";
  const std::string name(kind() == Tok::star && kind(1) == Tok::identifier ? text(1) : "p");
  const std::string_view space = unit_.text(word);
  sema_.error_at(word, fmt::format("'{}' stands before the '*'", space),
                 fmt::format("'global' and 'spread' stand behind the '*' of the pointer that they "
                             "describe: {}*{} {}",
                             type, space, name));
  misplaced_ = space == "global" ? Kind::global_pointer : Kind::spread_pointer;
}

bool Parser::starts_declaration() const {
  const Tok k = kind();
  if (k >= Tok::kw_auto && k <= Tok::kw_noreturn) return true;
  if (k == Tok::kw_static_assert) return true;
  if (k == Tok::kw_extension) {
    // An expression may begin with it too.
    const Tok next = kind(1);
    return (next >= Tok::kw_auto && next <= Tok::kw_noreturn) || starts_type(1);
  }
  if (k == Tok::identifier && kind(1) == Tok::colon) return false;  // a label
  return starts_type();
}

namespace {
enum Count {
  kVoid,
  kChar,
  kShort,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kSigned,
  kUnsigned,
  kBool,
  kComplex,
  kInt128,
  kCounts
};
}

Specifiers Parser::specifiers(bool only_types) {
  Specifiers s;
  s.first = at_;
  std::array<int, kCounts> counts{};
  std::string_view floatn;
  bool basic = false;
  int word = -1;  // `global` or `spread` where it has no place
  misplaced_ = Kind::pointer;
  const auto storage = [&](Storage what) {
    if (s.storage != Storage::none && s.storage != what)
      sema_.error_at(at_, "two storage classes in one declaration");
    if (only_types) sema_.error_at(at_, "a storage class has no place here");
    s.storage = what;
    s.storage_token = at_;
  };
  const auto count = [&](Count what) {
    if (s.type != nullptr) sema_.error_at(at_, "two types in one declaration");
    ++counts[what];
    basic = true;
  };
  for (bool more = true; more;) {
    switch (kind()) {
      case Tok::kw_typedef:
        storage(Storage::typedef_);
        break;
      case Tok::kw_extern:
        storage(Storage::extern_);
        break;
      case Tok::kw_static:
        storage(Storage::static_);
        break;
      case Tok::kw_auto:
        storage(Storage::automatic);
        break;
      case Tok::kw_register:
        if (!only_types) storage(Storage::reg);
        break;
      case Tok::kw_thread:
        s.thread_token = at_;
        break;
      case Tok::kw_noreturn:
      case Tok::kw_extension:
      case Tok::kw_restrict:
        break;
      case Tok::kw_const:
        s.is_const = true;
        break;
      case Tok::kw_volatile:
        s.is_volatile = true;
        if (text() == "_Atomic" && kind(1) == Tok::l_paren) {
          if (s.type != nullptr || basic) sema_.error_at(at_, "two types in one declaration");
          s.type = atomic_specifier();
        }
        break;
      case Tok::kw_inline:
        s.is_inline = true;
        break;
      case Tok::kw_void:
        count(kVoid);
        break;
      case Tok::kw_char:
        count(kChar);
        break;
      case Tok::kw_short:
        count(kShort);
        break;
      case Tok::kw_int:
        count(kInt);
        break;
      case Tok::kw_long:
        count(kLong);
        break;
      case Tok::kw_float:
        count(kFloat);
        break;
      case Tok::kw_double:
        count(kDouble);
        break;
      case Tok::kw_signed:
        count(kSigned);
        break;
      case Tok::kw_unsigned:
        count(kUnsigned);
        break;
      case Tok::kw_bool:
        count(kBool);
        break;
      case Tok::kw_complex:
        count(kComplex);
        break;
      case Tok::kw_int128:
        count(kInt128);
        if (text() == "__uint128_t") count(kUnsigned);
        break;
      case Tok::kw_floatn:
        basic = true;
        floatn = text();
        break;
      case Tok::kw_va_list:
        s.type = unit_.types.spelled(Kind::opaque, text());
        break;
      case Tok::kw_auto_type:
        s.type = unit_.types.spelled(Kind::opaque, text());
        break;
      case Tok::kw_alignas:
        s.alignas_token = at_++;
        alignment();
        break;
      case Tok::kw_attribute:
        at_ = attributes(s);
        break;
      case Tok::kw_struct:
      case Tok::kw_union:
      case Tok::kw_enum:
        if (s.type != nullptr || basic) sema_.error_at(at_, "two types in one declaration");
        s.type = tag_specifier(s);
        --at_;
        break;
      case Tok::kw_typeof:
        s.type = typeof_specifier();
        --at_;
        break;
      case Tok::identifier: {
        const Symbol* const symbol = scopes_.find(text());
        if (names_space() && word < 0 &&
            (s.type != nullptr || basic ? kind(1) == Tok::star : starts_type(1))) {
          word = at_;
          break;
        }
        if (s.type != nullptr || basic || symbol == nullptr ||
            symbol->what != Symbol::What::type_name) {
          more = false;
          break;
        }
        s.type = symbol->type;
        if (!symbol->emitted.empty()) unit_.replaced[at_] = symbol->emitted;
        break;
      }
      default:
        more = false;
        break;
    }
    if (more) {
      s.last = at_;
      ++at_;
    }
  }
  s.any_type = s.type != nullptr || basic;
  misplaced_ = Kind::pointer;
  if (word >= 0) misplaced_word(s, word);
  if (s.type == nullptr) s.type = basic_type(s, counts.data(), floatn);
  if (s.mode != Kind::error && is_integer(s.type)) {
    const bool is_unsigned = counts[kUnsigned] > 0;
    s.type =
        unit_.types.basic(is_unsigned ? static_cast<Kind>(static_cast<int>(s.mode) + 1) : s.mode);
  }
  if (s.is_const || s.is_volatile)
    s.type = unit_.types.qualified(s.type, s.is_const, s.is_volatile);
  return s;
}

// Attributes of the declared names: answers the last token.
int Parser::attributes(Specifiers& s) {
  const int first = at_;
  const int last = skip_attributes(&s);
  if (s.memory_attribute < 0) s.memory_attribute = memory_attribute(first, last);
  return last;
}

Type* Parser::basic_type(const Specifiers& s, const int* counts, std::string_view floatn) {
  Types& types = unit_.types;
  const int end = s.last < s.first ? at_ : s.last;
  const auto check = [&](bool fine) {
    if (!fine) sema_.error_at(end, "these words do not go together in a type");
  };
  const bool is_unsigned = counts[kUnsigned] > 0;
  check(!(is_unsigned && counts[kSigned] > 0) && counts[kLong] <= 2);
  if (counts[kComplex] > 0) {
    std::array<int, kCounts> part{};
    std::copy(counts, counts + kCounts, part.begin());
    part[kComplex] = 0;
    const bool any = std::any_of(part.begin(), part.end(), [](int n) { return n > 0; });
    if (!any) part[kDouble] = 1;
    return types.make(Kind::complex, basic_type(s, part.data(), floatn));
  }
  if (!floatn.empty()) return types.spelled(Kind::floatn, floatn);
  if (counts[kVoid] > 0) return types.basic(Kind::void_type);
  if (counts[kBool] > 0) return types.basic(Kind::boolean);
  if (counts[kFloat] > 0) return types.basic(Kind::float_type);
  if (counts[kDouble] > 0)
    return types.basic(counts[kLong] > 0 ? Kind::ldouble : Kind::double_type);
  if (counts[kInt128] > 0) return types.basic(is_unsigned ? Kind::uint128 : Kind::int128);
  if (counts[kChar] > 0) {
    check(counts[kShort] + counts[kLong] + counts[kInt] == 0);
    return types.basic(is_unsigned           ? Kind::uchar
                       : counts[kSigned] > 0 ? Kind::schar
                                             : Kind::character);
  }
  if (counts[kShort] > 0) {
    check(counts[kLong] == 0);
    return types.basic(is_unsigned ? Kind::ushort : Kind::short_int);
  }
  if (counts[kLong] >= 2) return types.basic(is_unsigned ? Kind::ullong : Kind::llong);
  if (counts[kLong] == 1) return types.basic(is_unsigned ? Kind::ulong : Kind::long_int);
  return types.basic(is_unsigned ? Kind::uint : Kind::integer);
}

// Behind _Alignas: `(type)` or `(number)`, up to the last token.
void Parser::alignment() {
  const Depth depth(*this);
  expect(Tok::l_paren, "'('", " after _Alignas");
  if (starts_type()) {
    int first = 0;
    int last = 0;
    Type* const type = type_name(&first, &last);
    note_type(type, first, last);
  } else {
    root(sema_.value(conditional()));
  }
  expect(Tok::r_paren, "')'", " after _Alignas(...");
  --at_;
}

// `_Atomic(type)`, up to the last token.
Type* Parser::atomic_specifier() {
  const Depth depth(*this);
  at_ += 2;
  int first = 0;
  int last = 0;
  Type* const type = type_name(&first, &last);
  note_type(type, first, last);
  expect(Tok::r_paren, "')'", " after _Atomic(...");
  --at_;
  return type;
}

Type* Parser::typeof_specifier() {
  const Depth depth(*this);
  ++at_;
  expect(Tok::l_paren, "'('", " after typeof");
  Type* type = nullptr;
  if (starts_type()) {
    int first = 0;
    int last = 0;
    type = type_name(&first, &last);
    note_type(type, first, last);
  } else {
    Expr* const e = expression();
    sema_.not_evaluated(e);
    type = e->type;
    if (type->kind == Kind::spread_array) {
      sema_.error(e, "typeof of a spread array");
      type = sema_.error_type();
    }
    if (e->special) {
      sema_.spell(type);
      Edit edit;
      edit.what = Edit::What::type_name;
      edit.last = e->last;
      edit.type = type;
      unit_.edits[e->first] = edit;
    }
  }
  expect(Tok::r_paren, "')'", " after typeof(...");
  return type;
}

}  // namespace viaduct::splitcc
