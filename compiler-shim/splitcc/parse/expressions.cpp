// Operators, by precedence.

#include <fmt/format.h>
#include <array>
#include <utility>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {
namespace {

int level_of(Tok op) {
  switch (op) {
    case Tok::star:
    case Tok::slash:
    case Tok::percent:
      return 10;
    case Tok::plus:
    case Tok::minus:
      return 9;
    case Tok::less_less:
    case Tok::greater_greater:
      return 8;
    case Tok::less:
    case Tok::greater:
    case Tok::less_equal:
    case Tok::greater_equal:
      return 7;
    case Tok::equal_equal:
    case Tok::exclaim_equal:
      return 6;
    case Tok::amp:
      return 5;
    case Tok::caret:
      return 4;
    case Tok::pipe:
      return 3;
    case Tok::amp_amp:
      return 2;
    case Tok::pipe_pipe:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

Expr* Parser::root(Expr* e) {
  sema_.finish_expression();
  if (!e->special) return e;
  Edit edit;
  edit.what = Edit::What::expression;
  edit.last = e->last;
  edit.expr = e;
  unit_.edits[e->first] = edit;
  return e;
}

Expr* Parser::expression() {
  Expr* e = assignment();
  while (kind() == Tok::comma) {
    const int at = at_++;
    Expr* const right = assignment();
    e = sema_.comma(e, right, at);
  }
  return e;
}

Expr* Parser::assignment() {
  Expr* const left = conditional();
  const int at = at_;
  if (kind() >= Tok::equal && kind() <= Tok::greater_greater_equal) {
    const Depth depth(*this);
    const Tok op = kind();
    ++at_;
    Expr* const right = assignment();
    return sema_.assign(op, left, right, at);
  }
  if (accept(Tok::get_put)) {
    const Depth depth(*this);
    Expr* const right = assignment();
    return sema_.get_put(left, right, at);
  }
  if (kind() == Tok::store && open_conditionals_ > 0 && strip(left)->mode != Mode::remote) {
    split_store();
    return left;
  }
  if (accept(Tok::store)) {
    const Depth depth(*this);
    Expr* const right = assignment();
    return sema_.store(left, right, at);
  }
  return left;
}

// In `c ? a :-b`, where no store is possible, `:-` is two operators. A token is inserted: no other
// code has seen the tokens behind this one yet.
void Parser::split_store() {
  Token minus = token();
  unit_.tokens[static_cast<std::size_t>(at_)].kind = Tok::colon;
  unit_.tokens[static_cast<std::size_t>(at_)].text = minus.text.substr(0, 1);
  minus.kind = Tok::minus;
  minus.text = minus.text.substr(1);
  ++minus.column;
  minus.space_before = false;
  minus.line_start = false;
  unit_.tokens.insert(unit_.tokens.begin() + at_ + 1, minus);
}

Expr* Parser::conditional() {
  Expr* const test = binary(1);
  if (kind() != Tok::question) return test;
  const Depth depth(*this);
  const int at = at_++;
  ++open_conditionals_;
  Expr* middle = nullptr;
  try {
    if (kind() != Tok::colon) middle = expression();
  } catch (const SyntaxError&) {
    open_conditionals_ = 0;
    throw;
  }
  --open_conditionals_;
  if (kind() != Tok::colon && middle != nullptr && strip(middle)->node == Node::store)
    fail("':' is expected of ?:, behind the store ':-'",
         "Split-C reads ':-' as one operator: put a space in between if two are meant");
  expect(Tok::colon, "':'", " of ?:");
  Expr* const last = conditional();
  return sema_.conditional(test, middle, last, at);
}

Expr* Parser::binary(int level) {
  Expr* left = cast();
  for (int own = level_of(kind()); own >= level && own > 0; own = level_of(kind())) {
    const Tok op = kind();
    const int at = at_++;
    Expr* right = cast();
    while (level_of(kind()) > own) {
      // An operator that binds more tightly takes the right operand.
      const int inner = level_of(kind());
      const Tok inner_op = kind();
      const int inner_at = at_++;
      Expr* more = binary(inner + 1);
      right = sema_.binary(inner_op, right, more, inner_at);
    }
    left = sema_.binary(op, left, right, at);
  }
  return left;
}

Expr* Parser::cast() {
  if (kind() != Tok::l_paren || !starts_type(1)) return unary();
  const Depth depth(*this);
  const int first = at_++;
  int type_first = 0;
  int type_last = 0;
  Type* const type = type_name(&type_first, &type_last);
  expect(Tok::r_paren, "')'", " behind a type");
  if (kind() == Tok::l_brace) {
    const Part outer = std::exchange(part_, {{}, false, false});  // the literal has no name
    Expr* const list = initializer_list(type, scopes_.depth() == 0);
    part_ = outer;
    Expr* const e = sema_.make(Node::compound, first, list->last, first);
    e->a = list;
    e->type = type;
    e->mode = Mode::local;
    e->type_name = type;
    e->type_first = type_first;
    e->type_last = type_last;
    e->special = list->special;
    note_type(type, type_first, type_last);
    if (mentions_word(type)) e->special = true;
    return postfix_of(e);
  }
  Expr* const operand = cast();
  return sema_.cast(type, type_first, type_last, operand, first);
}

namespace {
bool is_prefix(Tok what) {
  switch (what) {
    case Tok::plus_plus:
    case Tok::minus_minus:
    case Tok::amp:
    case Tok::star:
    case Tok::plus:
    case Tok::minus:
    case Tok::tilde:
    case Tok::exclaim:
    case Tok::kw_real:
    case Tok::kw_imag:
    case Tok::amp_amp:
    case Tok::kw_sizeof:
    case Tok::kw_alignof:
    case Tok::kw_extension:
      return true;
    default:
      return false;
  }
}
}  // namespace

Expr* Parser::unary() {
  if (!is_prefix(kind())) return postfix();
  const Depth depth(*this);
  const int at = at_;
  const Tok op = kind();
  switch (op) {
    case Tok::plus_plus:
    case Tok::minus_minus:
      ++at_;
      return sema_.prefix(op, unary(), at);
    case Tok::amp:
      ++at_;
      return sema_.address(cast(), at);
    case Tok::star:
      ++at_;
      return sema_.deref(cast(), at);
    case Tok::plus:
    case Tok::minus:
    case Tok::tilde:
    case Tok::exclaim:
    case Tok::kw_real:
    case Tok::kw_imag:
      ++at_;
      return sema_.unary(op, cast(), at);
    case Tok::amp_amp: {
      ++at_;
      jumps_.label_address(expect(Tok::identifier, "a label", " behind &&"));
      Expr* const e = sema_.make(Node::label, at, at_ - 1, at);
      e->type = unit_.types.pointer_to(unit_.types.basic(Kind::void_type));
      return e;
    }
    case Tok::kw_extension: {
      ++at_;
      Expr* const inner = cast();
      Expr* const e = sema_.paren(at, inner->last, inner);
      return e;
    }
    default:
      return size_of();
  }
}

Expr* Parser::size_of() {
  const int first = at_++;
  if (kind() == Tok::l_paren && starts_type(1)) {
    ++at_;
    int type_first = 0;
    int type_last = 0;
    Type* const type = type_name(&type_first, &type_last);
    expect(Tok::r_paren, "')'", " behind a type");
    if (kind() == Tok::l_brace) {
      at_ = first + 1;
      return sema_.size_of(cast(), first);
    }
    Expr* const e = sema_.make(Node::size_of_type, first, at_ - 1, first);
    e->type = unit_.types.basic(Kind::ulong);
    e->type_name = type;
    e->type_first = type_first;
    e->type_last = type_last;
    e->is_constant = true;
    if (type->kind == Kind::spread_array) sema_.error(e, "the size of a whole spread array");
    if (mentions_word(type)) {
      e->special = true;
      sema_.spell(type);
    }
    return e;
  }
  return sema_.size_of(unary(), first);
}

}  // namespace viaduct::splitcc
