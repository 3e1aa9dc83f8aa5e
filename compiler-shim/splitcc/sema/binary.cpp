// Operators with two or three operands.

#include <fmt/format.h>
#include <utility>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {

// p + i, p - i, p - q with words. A local pointer beside a word becomes a global one, as in
// comparisons.
Expr* Sema::pointer_arithmetic(Expr* e) {
  Expr*& other = is_word(value_type(e->a)) ? e->b : e->a;
  if (e->op == Tok::minus && is_local_pointer(value_type(other))) {
    Type* const word = is_word(value_type(e->a)) ? value_type(e->a) : value_type(e->b);
    other = to_word(other, unit_.types.make(Kind::global_pointer, word->base));
  }
  Type* const left = value_type(e->a);
  Type* const right = value_type(e->b);
  e->special = true;
  if (e->op == Tok::plus && is_integer(left) && is_word(right)) {
    e->type = right;
    e->element_of_spread = e->b->element_of_spread;
  } else if (is_word(left) && is_integer(right)) {
    e->type = left;
    e->element_of_spread = e->a->element_of_spread;
  } else if (e->op == Tok::minus && is_word(left) && is_word(right)) {
    e->type = unit_.types.basic(Kind::long_int);
    if (left->kind != right->kind)
      warn(Warning::plain, e->at, "the difference of a global and a spread pointer",
           "it counts elements in one process, as for two global pointers");
  } else {
    wrong_operands(e, left, right);
    return bad(e);
  }
  const Type* const pointer = is_word(left) ? left : right;
  const Expr* const whole = strip(is_word(left) ? e->a : e->b);
  if (whole->node == Node::address && whole->a->node == Node::decay) {
    error(e, "arithmetic on the address of a whole spread array",
          "the array's name is a spread pointer to its first element");
    return bad(e);
  }
  if (is_record(pointer->base) && !pointer->base->tag->is_complete) {
    error(e, fmt::format("'{}' is not defined, its size is not known", describe(pointer->base)));
    return bad(e);
  }
  spell(pointer->base);
  return e;
}

Expr* Sema::comparison(Expr* e) {
  e->type = int_type();
  const Type* left = value_type(e->a);
  const Type* right = value_type(e->b);
  if (!is_word(left) && !is_word(right)) {
    const auto comparable = [](const Type* t) { return is_scalar(t) || t->kind == Kind::opaque; };
    if (!comparable(left) || !comparable(right) || (is_pointer(left) && is_floating(right)) ||
        (is_floating(left) && is_pointer(right))) {
      wrong_operands(e, left, right);
      return bad(e);
    }
    return e;
  }
  e->special = true;
  Expr*& other = is_word(left) ? e->b : e->a;
  Type* const word = is_word(left) ? value_type(e->a) : value_type(e->b);
  if (!is_word(value_type(other))) {
    if (is_integer(value_type(other)) && !other->is_zero) {
      wrong_operands(e, left, right);
      return bad(e);
    }
    const int before = diagnostics_.errors();
    other = to_word(other, unit_.types.make(Kind::global_pointer, word->base));
    if (diagnostics_.errors() != before) return bad(e);
  } else if (value_type(e->a)->base->kind != Kind::void_type &&
             value_type(e->b)->base->kind != Kind::void_type &&
             !is_compatible(value_type(e->a)->base, value_type(e->b)->base, 1) &&
             !is_block_idiom(value_type(e->a), value_type(e->b))) {
    warn(Warning::plain, e->at,
         fmt::format("pointers of different types are compared: '{}' and '{}'", describe(left),
                     describe(right)));
  }
  if (e->op != Tok::equal_equal && e->op != Tok::exclaim_equal) check_order(e);
  return e;
}

Expr* Sema::binary(Tok op, Expr* a, Expr* b, int at) {
  Expr* const e = make(Node::binary, a->first, b->last, at);
  const bool logical = op == Tok::amp_amp || op == Tok::pipe_pipe;
  e->op = op;
  e->a = logical ? condition(a) : value(a);
  e->b = logical ? condition(b) : value(b);
  join(e);
  if (logical) return e;
  Type* const left = value_type(e->a);
  Type* const right = value_type(e->b);
  if (is_error(left) || is_error(right)) return bad(e);
  switch (op) {
    case Tok::equal_equal:
    case Tok::exclaim_equal:
    case Tok::less:
    case Tok::greater:
    case Tok::less_equal:
    case Tok::greater_equal:
      return comparison(e);
    case Tok::plus:
    case Tok::minus:
      if (is_word(left) || is_word(right)) return pointer_arithmetic(e);
      if (is_local_pointer(left) && is_integer(right)) {
        e->type = left;
        return e;
      }
      if (op == Tok::plus && is_integer(left) && is_local_pointer(right)) {
        e->type = right;
        return e;
      }
      if (op == Tok::minus && is_local_pointer(left) && is_local_pointer(right)) {
        e->type = unit_.types.basic(Kind::long_int);
        return e;
      }
      break;
    default:
      break;
  }
  if (left->kind == Kind::opaque || right->kind == Kind::opaque) {
    e->type = left->kind == Kind::opaque ? left : right;
    return e;
  }
  const bool whole = op == Tok::percent || op == Tok::amp || op == Tok::pipe || op == Tok::caret ||
                     op == Tok::less_less || op == Tok::greater_greater;
  if (!is_arithmetic(left) || !is_arithmetic(right) ||
      (whole && (is_floating(left) || is_floating(right)))) {
    wrong_operands(e, left, right);
    return bad(e);
  }
  e->type =
      op == Tok::less_less || op == Tok::greater_greater ? promoted(left) : arithmetic(left, right);
  return e;
}

// The pointer, to what is const or volatile where the other's target is.
Type* Sema::pointing_to_both(Type* pointer, const Type* other) {
  if (!is_pointer(other)) return pointer;
  const bool more_const = is_const(other->base) && !is_const(pointer->base);
  const bool more_volatile = is_volatile(other->base) && !is_volatile(pointer->base);
  return more_const || more_volatile
             ? unit_.types.make(pointer->kind,
                                unit_.types.qualified(pointer->base, more_const, more_volatile))
             : pointer;
}

Expr* Sema::conditional(Expr* a, Expr* b, Expr* c, int at) {
  Expr* const e = make(Node::conditional, a->first, c->last, at);
  const bool twice = b == nullptr && (is_word(value_type(a)) || is_word(value_type(c)));
  e->a = twice ? value(a) : condition(a);
  e->b = twice ? e->a : b == nullptr ? nullptr : value(b);
  e->c = value(c);
  Type* const left = e->b == nullptr ? value_type(a) : value_type(e->b);
  Type* const right = value_type(e->c);
  e->type = left;
  if (is_error(left) || is_error(right)) {
    e->type = is_error(left) ? right : left;
  } else if (is_word(left) || is_word(right)) {
    Type* to = is_word(left) ? left : right;
    if (is_word(left) && is_word(right) &&
        (right->kind == Kind::global_pointer || left->base->kind == Kind::void_type))
      to = right;
    const auto side = [&](Expr* x) {
      if (is_word(value_type(x)) && value_type(x)->base->kind == Kind::void_type) return x;
      if (is_local_pointer(value_type(x)) && !x->is_zero)
        to = unit_.types.make(Kind::global_pointer, to->base);
      return to_word(x, to);
    };
    to = pointing_to_both(to, to == left ? right : left);
    e->b = side(e->b);
    e->c = side(e->c);
    e->type = to;
    e->element_of_spread = e->b->element_of_spread && e->c->element_of_spread;
    if (twice) {  // g ?: h: the word is evaluated once
      e->a = std::exchange(e->b, nullptr);
      e->number = next_number();
      e->special = true;
    }
  } else if (is_arithmetic(left) && is_arithmetic(right)) {
    e->type = arithmetic(left, right);
  } else if (is_pointer(left) && is_pointer(right)) {
    const bool by_right = e->b != nullptr && e->b->is_zero;
    e->type = pointing_to_both(by_right ? right : left, by_right ? left : right);
  } else if (is_pointer(right) && is_integer(left)) {
    e->type = right;
  } else if (left->kind == Kind::void_type || right->kind == Kind::void_type) {
    e->type = unit_.types.basic(Kind::void_type);
  } else if (!check_record(e->c, right, left, "")) {
    return bad(e);
  }
  join(e);
  return e;
}

Expr* Sema::comma(Expr* a, Expr* b, int at) {
  Expr* const e = make(Node::comma, a->first, b->last, at);
  e->a = unused(a);
  e->b = value(b);
  e->type = value_type(e->b);
  e->element_of_spread = e->b->element_of_spread;
  join(e);
  e->is_constant = false;
  return e;
}

}  // namespace viaduct::splitcc
