// Declaration specifiers: storage, types, structures, enumerations.

#include <fmt/format.h>
#include <array>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {

bool Parser::starts_type(int ahead) const {
  const Tok k = kind(ahead);
  if (k == Tok::identifier) {
    const Symbol* const s = scopes_.find(text(ahead));
    return s != nullptr && s->what == Symbol::What::type_name;
  }
  if (k == Tok::kw_extension) return starts_type(ahead + 1);
  return (k >= Tok::kw_const && k <= Tok::kw_typeof) || k == Tok::kw_attribute ||
         k == Tok::kw_alignas;
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
      case Tok::kw_noreturn:
      case Tok::kw_extension:
      case Tok::kw_const:
      case Tok::kw_restrict:
        break;
      case Tok::kw_volatile:
        s.is_volatile = true;
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
        ++at_;
        if (kind() != Tok::l_paren) fail_expected("'('", " after _Alignas");
        skip_balanced();
        --at_;
        break;
      case Tok::kw_attribute:
        at_ = skip_attributes(&s);
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
        if (s.type != nullptr || basic || symbol == nullptr ||
            symbol->what != Symbol::What::type_name) {
          more = false;
          break;
        }
        s.type = symbol->type;
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
  if (s.type == nullptr) s.type = basic_type(s, counts.data(), floatn);
  if (s.mode != Kind::error && is_integer(s.type)) {
    const bool is_unsigned = counts[kUnsigned] > 0;
    s.type =
        unit_.types.basic(is_unsigned ? static_cast<Kind>(static_cast<int>(s.mode) + 1) : s.mode);
  }
  return s;
}

Type* Parser::basic_type(const Specifiers& s, const int* counts, std::string_view floatn) {
  Types& types = unit_.types;
  const int end = s.last < s.first ? at_ : s.last;
  const auto check = [&](bool fine) {
    if (!fine) sema_.error_at(end, "these words do not go together in a type");
  };
  const bool is_unsigned = counts[kUnsigned] > 0;
  check(!(is_unsigned && counts[kSigned] > 0) && counts[kLong] <= 2);
  if (!floatn.empty()) {
    if (counts[kComplex] == 0) return types.spelled(Kind::floatn, floatn);
    Type* const type = types.spelled(Kind::complex, "_Complex double");
    type->base = types.spelled(Kind::floatn, floatn);
    return type;
  }
  if (counts[kComplex] > 0) {
    const bool single = counts[kFloat] > 0;
    const bool wide = counts[kLong] > 0;
    const bool whole = counts[kInt] + counts[kChar] + counts[kShort] > 0;
    Type* const type = types.spelled(Kind::complex, whole    ? "_Complex int"
                                                    : single ? "_Complex float"
                                                    : wide   ? "_Complex long double"
                                                             : "_Complex double");
    type->base = types.basic(whole    ? Kind::integer
                             : single ? Kind::float_type
                             : wide   ? Kind::ldouble
                                      : Kind::double_type);
    return type;
  }
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

Type* Parser::typeof_specifier() {
  ++at_;
  expect(Tok::l_paren, "'('", " after typeof");
  Type* type = nullptr;
  if (starts_type()) {
    int first = 0;
    int last = 0;
    type = type_name(&first, &last);
  } else {
    Expr* const e = expression();
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

Type* Parser::tag_specifier(Specifiers& s) {
  const Depth depth(*this);
  s.tag_first = at_;
  const Kind what = kind() == Tok::kw_struct  ? Kind::structure
                    : kind() == Tok::kw_union ? Kind::union_type
                                              : Kind::enumeration;
  ++at_;
  skip_attributes(&s);
  const int name_at = at_;
  std::string_view name;
  if (kind() == Tok::identifier) name = text(), ++at_;
  skip_attributes(&s);
  const bool defines = kind() == Tok::l_brace;
  if (name.empty() && !defines) fail_expected("a name or '{'", "");
  Type* type = name.empty()                          ? nullptr
               : defines || kind() == Tok::semicolon ? scopes_.find_tag_here(name)
                                                     : scopes_.find_tag(name);
  if (type != nullptr && type->tag->kind != what) {
    sema_.error_at(name_at, fmt::format("'{}' is declared as something else", name));
    type = nullptr;
  }
  if (type != nullptr && defines && type->tag->is_complete) {
    sema_.error_at(name_at, fmt::format("'{}' is defined twice", name));
    type = nullptr;
  }
  if (type == nullptr) {
    type = unit_.types.of_tag(unit_.types.make_tag(what, std::string(name)));
    type->tag->depth = scopes_.depth();
    if (!name.empty()) scopes_.add_tag(name, type);
  }
  if (defines) {
    s.defines_tag = true;
    if (name.empty()) unit_.tag_names[at_] = type->tag;
    ++at_;
    if (what == Kind::enumeration)
      enumerators(type->tag);
    else
      members(type->tag);
    expect(Tok::r_brace, "'}'", "");
    type->tag->is_complete = true;
    skip_attributes(&s);
  }
  s.tag_last = at_ - 1;
  return type;
}

void Parser::enumerators(Tag* tag) {
  (void)tag;
  while (kind() != Tok::r_brace) {
    if (kind() != Tok::identifier) fail_expected("a name", " in an enumeration");
    unit_.symbols.emplace_back();
    Symbol* const symbol = &unit_.symbols.back();
    symbol->what = Symbol::What::enumerator;
    symbol->name = text();
    symbol->type = sema_.int_type();
    symbol->token = at_++;
    skip_attributes();
    if (accept(Tok::equal)) {
      Expr* const e = root(sema_.value(conditional()));
      if (!is_integer(sema_.value_type(e)) && !is_error(e->type))
        sema_.error(e, "an enumerator must be a whole number");
    }
    scopes_.add(symbol);
    if (!accept(Tok::comma)) break;
  }
}

void Parser::members(Tag* tag) {
  while (kind() != Tok::r_brace) {
    skip_pragmas();
    if (accept(Tok::semicolon)) continue;
    if (kind() == Tok::r_brace) break;
    if (kind() == Tok::kw_static_assert) {
      ++at_;
      skip_balanced();
      expect(Tok::semicolon, "';'", "");
      continue;
    }
    if (!starts_type()) fail_expected("a type", " in a structure");
    member_declaration(tag);
  }
}

void Parser::member_declaration(Tag* tag) {
  unit_.declarations.emplace_back();
  Declaration& declaration = unit_.declarations.back();
  declaration.is_field = true;
  declaration.first = at_;
  declaration.specifiers = specifiers(true);
  if (kind() == Tok::semicolon && is_record(declaration.specifiers.type)) {
    Member member;
    member.type = declaration.specifiers.type;
    tag->holds_word = tag->holds_word || holds_word(member.type);
    tag->members.push_back(member);
  }
  while (kind() != Tok::semicolon) {
    Declarator d;
    if (kind() != Tok::colon) {
      declarator(d, Context::field);
    } else {
      d.first = at_;
      d.last = at_ - 1;
    }
    d.type = build(d, declaration.specifiers.type);
    if (d.type->kind == Kind::spread_array) {
      sema_.error_at(d.first, "a spread array in a structure",
                     "a spread array is in all processes, a structure in one: declare a spread "
                     "pointer and allocate with all_spread_malloc(...)");
      d.type = sema_.error_type();
    }
    if (d.type->kind == Kind::function || d.type->kind == Kind::void_type)
      sema_.error_at(d.first, fmt::format("a member of type '{}'", describe(d.type)));
    if (is_record(d.type) && !d.type->tag->is_complete)
      sema_.error_at(d.first,
                     fmt::format("a member of type '{}', which is not defined", describe(d.type)));
    if (kind() == Tok::colon) {
      d.bits_first = at_++;
      root(conditional());
      d.bits_last = at_ - 1;
      d.is_bit_field = true;
    }
    d.tail_first = at_;
    skip_attributes(nullptr, &d);
    d.tail_last = at_ - 1;
    Member member;
    member.name = d.name;
    member.type = d.type;
    member.is_bit_field = d.is_bit_field;
    if (!d.name.empty()) tag->members.push_back(member);
    tag->holds_word = tag->holds_word || holds_word(d.type);
    declaration.declarators.push_back(std::move(d));
    if (!accept(Tok::comma)) break;
  }
  declaration.last = expect(Tok::semicolon, "';'", " behind a member");
  finish_declaration(declaration);
}

}  // namespace viaduct::splitcc
