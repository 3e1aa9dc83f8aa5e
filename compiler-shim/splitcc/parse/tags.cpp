// Structures, unions, enumerations.

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {

Type* Parser::tag_specifier(Specifiers& s) {
  const Depth depth(*this);
  s.tag_first = at_;
  const Kind what = kind() == Tok::kw_struct  ? Kind::structure
                    : kind() == Tok::kw_union ? Kind::union_type
                                              : Kind::enumeration;
  ++at_;
  bool has_attributes = skip_attributes(&s) >= 0;
  const int name_at = at_;
  std::string_view name;
  if (kind() == Tok::identifier) name = text(), ++at_;
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
    has_attributes = skip_attributes(&s) >= 0 || has_attributes;
    if (has_attributes) type->tag->bytes = 0;  // packed
  }
  s.tag_last = at_ - 1;
  return type;
}

namespace {
bool is_int(long number) { return number == static_cast<int>(number); }
bool is_uint(long number) { return number == static_cast<unsigned>(number); }
}  // namespace

void Parser::enumerators(Tag* tag) {
  std::optional<Linear> value = Linear{};
  bool is_sure = !unit_.short_enums;
  long least = 0;
  long most = 0;
  while (kind() != Tok::r_brace) {
    if (kind() != Tok::identifier) fail_expected("a name", " in an enumeration");
    Symbol* const symbol =
        unit_.make_symbol(Symbol::What::enumerator, text(), sema_.int_type(), at_);
    ++at_;
    skip_attributes();
    if (accept(Tok::equal)) {
      Expr* const e = root(sema_.value(conditional()));
      value = sema_.known(e);
      if (!is_integer(sema_.value_type(e)) && !is_error(e->type))
        sema_.error(e, "an enumerator must be a whole number");
    }
    symbol->has_value = value && value->procs == 0;
    is_sure = is_sure && symbol->has_value;
    if (symbol->has_value) symbol->number = value->fixed++;
    least = std::min(least, symbol->number);
    most = std::max(most, symbol->number);
    if (!is_int(symbol->number))
      symbol->type = unit_.types.basic(is_uint(symbol->number) ? Kind::uint : Kind::long_int);
    add_enumerator(symbol);
    if (!accept(Tok::comma)) break;
  }
  const bool is_word = least < 0 ? is_int(least) && is_int(most) : is_uint(most);
  if (is_sure) tag->bytes = is_word ? 4 : 8;
}

void Parser::members(Tag* tag) {
  while (kind() != Tok::r_brace) {
    skip_pragmas();
    if (accept(Tok::semicolon)) continue;
    if (kind() == Tok::r_brace) break;
    if (kind() == Tok::kw_static_assert) {
      static_assertion();
      continue;
    }
    if (!starts_type()) fail_expected("a type", " in a structure");
    member_declaration(tag);
  }
}

namespace {
void add_member(Tag* tag, const Member& member) {
  const Type* const type = member.type;
  const bool array =
      type->kind == Kind::array && (type->base->kind == Kind::array || is_record(type->base));
  tag->holds_word = tag->holds_word || holds_word(type);
  tag->has_inner_array = tag->has_inner_array || array || has_inner_array(type);
  tag->members.push_back(member);
}
}  // namespace

// The type of a member, or the error type behind an error. A structure that holds itself would be
// walked without an end.
Type* Parser::member_type(const Declarator& d) {
  const Type* element = d.type;
  while (element->kind == Kind::array) element = element->base;
  const bool has_size = element->kind != Kind::function && element->kind != Kind::void_type;
  const bool is_defined = !is_record(element) || element->tag->is_complete;
  if (has_size && is_defined) return d.type;
  sema_.error_at(d.first, fmt::format("a member of type '{}'{}", describe(d.type),
                                      is_defined ? "" : ", which is not defined"));
  return sema_.error_type();
}

void Parser::member_declaration(Tag* tag) {
  unit_.declarations.emplace_back();
  Declaration& declaration = unit_.declarations.back();
  declaration.is_field = true;
  declaration.first = at_;
  declaration.specifiers = specifiers(true);
  if (kind() == Tok::semicolon && is_record(declaration.specifiers.type) &&
      declaration.specifiers.type->tag->name.empty()) {
    Member member;
    member.type = declaration.specifiers.type;
    add_member(tag, member);
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
    d.type = member_type(d);
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
    if (!d.name.empty()) add_member(tag, member);
    declaration.declarators.push_back(std::move(d));
    if (!accept(Tok::comma)) break;
  }
  declaration.last = expect(Tok::semicolon, "';'", " behind a member");
  finish_declaration(declaration);
}

}  // namespace viaduct::splitcc
