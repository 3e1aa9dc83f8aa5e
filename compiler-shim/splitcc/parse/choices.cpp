// Choices that C makes by types: _Generic and two of gcc's built-in functions. Global and spread
// pointers are one type in generated C, so that splitcc chooses where they take part.

#include <fmt/format.h>
#include <algorithm>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {

// Tokens that are not written.
void Parser::drop(int first, int last) {
  if (last < first) return;
  Edit edit;
  edit.what = Edit::What::drop;
  edit.last = last;
  unit_.edits[first] = edit;
}

Expr* Parser::generic() {
  const Brackets brackets(*this);
  const int first = at_++;
  expect(Tok::l_paren, "'('", " behind _Generic");
  Expr* const control = sema_.value(assignment());
  sema_.not_evaluated(control);
  std::vector<Choice> choices;
  do {
    if (choices.empty() || kind() != Tok::r_paren) expect(Tok::comma, "','", " in _Generic");
    choices.push_back(choice());
  } while (kind() == Tok::comma);
  const int last = expect(Tok::r_paren, "')'", " behind _Generic(...");
  bool any_word = control->special || mentions_word(sema_.value_type(control));
  bool any_error = is_error(control->type);
  for (const Choice& c : choices) {
    any_word = any_word || c.value->special || mentions_word(c.value->type) ||
               (c.type != nullptr && mentions_word(c.type));
    any_error = any_error || is_error(c.value->type);
  }
  const std::optional<std::size_t> found = chosen(control, choices);
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (found != i) sema_.not_evaluated(choices[i].value);
  if (any_error) return sema_.failed(first, last);
  if (!any_word) return plain_generic(first, last, found ? choices[*found].value : nullptr);
  if (!found || *found == choices.size()) {
    const std::string type = describe(sema_.value_type(control));
    if (found)
      sema_.error_at(first, fmt::format("_Generic has no choice for '{}'", type));
    else
      sema_.error_at(
          first, fmt::format("the type that _Generic chooses by is not known exactly: '{}'", type),
          "copy the operand to a variable of a type that _Generic lists, and choose by that");
    return sema_.failed(first, last);
  }
  // `_Generic(control, type: value, ...)` becomes `(value)`.
  Expr* const value = choices[*found].value;
  unit_.replaced[first] = "";
  drop(control->first, value->first - 1);
  drop(value->last + 1, last - 1);
  return sema_.paren(first, last, value);
}

// `type: value` or `default: value`
Parser::Choice Parser::choice() {
  Choice c;
  if (!accept(Tok::kw_default)) {
    int first = 0;
    int last = 0;
    c.type = type_name(&first, &last);
    note_type(c.type, first, last);
  }
  expect(Tok::colon, "':'", " behind a type in _Generic");
  c.value = assignment();
  return c;
}

// The choice that is taken, or the number of choices: none; nothing: not known.
std::optional<std::size_t> Parser::chosen(const Expr* control, const std::vector<Choice>& choices) {
  if (!sema_.is_sure(control)) return std::nullopt;
  // A value has no qualifiers.
  Type type = *sema_.value_type(control);
  type.is_const = type.is_volatile = false;
  std::size_t otherwise = choices.size();
  bool is_known = true;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i].type == nullptr) {
      otherwise = i;
      continue;
    }
    const std::optional<bool> same = sema_.same_type(&type, choices[i].type);
    if (same && *same) return i;
    is_known = is_known && same;
  }
  return is_known ? std::optional<std::size_t>(otherwise) : std::nullopt;
}

// In plain C gcc chooses. @p value: the choice, where it is known.
Expr* Parser::plain_generic(int first, int last, const Expr* value) {
  Expr* const e = sema_.make(Node::other, first, last, first);
  e->type = value == nullptr ? unit_.types.basic(Kind::opaque) : value->type;
  if (value != nullptr && value->mode == Mode::local) e->mode = Mode::local;
  e->has_effect = value == nullptr || value->has_effect;
  return e;
}

// __builtin_choose_expr(number, a, b)
void Parser::choose_expression(Expr* e) {
  const std::optional<Linear> number = sema_.known(e->args[0]);
  const bool is_known = number && number->procs == 0;
  Type* const left = sema_.value_type(e->args[1]);
  Type* const right = sema_.value_type(e->args[2]);
  e->type = is_known && number->fixed == 0 ? right : left;
  if (is_known || (!mentions_word(left) && !mentions_word(right)) ||
      sema_.same_unqualified(left, right).value_or(false))
    return;
  sema_.error(e,
              fmt::format("__builtin_choose_expr of '{}' and '{}' by a number that splitcc does "
                          "not know",
                          describe(left), describe(right)),
              "write a number, or values of one type");
  e->type = sema_.error_type();
}

// __builtin_types_compatible_p(a, b)
void Parser::compatible_types(Expr* e, const Type* a, const Type* b) {
  e->is_constant = true;
  if (!mentions_word(a) && !mentions_word(b)) return;
  const std::optional<bool> same = sema_.same_unqualified(a, b);
  if (!same) {
    sema_.error(e, fmt::format("whether '{}' and '{}' are compatible is not known", describe(a),
                               describe(b)));
    return;
  }
  e->special = false;
  unit_.replaced[e->first] = *same ? "1" : "0";
  drop(e->first + 1, e->last);
}

}  // namespace viaduct::splitcc
