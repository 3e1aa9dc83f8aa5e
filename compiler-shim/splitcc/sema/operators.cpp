// Operators with one operand, casts, sizes.

#include <fmt/format.h>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {

Expr* Sema::prefix(Tok op, Expr* operand, int at) {
  Expr* const e = make(Node::prefix, at, operand->last, at);
  check_pending(operand);
  Expr* const target = lvalue(operand, "++ or -- of");
  e->op = op;
  e->a = operand;
  e->has_effect = true;
  if (target == nullptr) return bad(e);
  e->type = target->type;
  join(e);
  e->has_effect = true;
  e->is_constant = false;
  if (!is_scalar(e->type)) {
    error(e, fmt::format("++ or -- of '{}'", describe(e->type)));
    return bad(e);
  }
  if (operand->mode == Mode::remote || is_word(e->type) || is_converting_target(operand)) {
    e->special = true;
    e->number = next_number();
    spell(e->type);
    if (operand->mode == Mode::remote) note_access(operand);
  }
  return e;
}

Expr* Sema::postfix(Tok op, Expr* operand, int at) {
  Expr* const e = prefix(op, operand, at);
  e->node = Node::postfix;
  e->first = operand->first;
  e->last = at;
  return e;
}

Expr* Sema::unary(Tok op, Expr* operand, int at) {
  Expr* const e = make(Node::unary, at, operand->last, at);
  e->op = op;
  const bool part = op == Tok::kw_real || op == Tok::kw_imag;
  if (part && operand->mode == Mode::remote && operand->type->kind == Kind::complex) {
    // A part of another process' object, as a member is.
    e->a = operand;
    join(e);
    e->special = true;
    e->mode = Mode::remote;
    e->type = operand->type->base;
    return e;
  }
  e->a = op == Tok::exclaim ? condition(operand) : value(operand);
  join(e);
  Type* const type = value_type(e->a);
  if (is_error(type)) return bad(e);
  if (op == Tok::exclaim) return e;
  if (!is_arithmetic(type) && type->kind != Kind::opaque) {
    const char* const not_of = is_pointer(type)  ? ", and not pointers"
                               : is_record(type) ? ", and no structures"
                                                 : "";
    error(e, fmt::format("'{}' takes numbers{}: '{}'", unit_.text(at), not_of, describe(type)));
    return bad(e);
  }
  e->type = promoted(type);
  if (part) {
    e->type = type->kind == Kind::complex ? type->base : type;
    e->mode = strip(operand)->mode == Mode::local ? Mode::local : Mode::value;
  }
  if (op == Tok::minus || op == Tok::plus || op == Tok::tilde) e->is_zero = false;
  return e;
}

namespace {
// Whether e is A[i], p[i] or *p of a spread array or pointer: &A[i] is A + i, as in C. A member or
// an element of such an object lies in one process.
bool is_dealt(const Expr* e) {
  e = strip(e);
  if (e == nullptr) return false;
  if (e->node == Node::comma) return is_dealt(e->b);
  if (e->node == Node::conditional) return is_dealt(e->b) && is_dealt(e->c);
  if (e->node != Node::index && e->node != Node::deref) return false;
  const Kind through = e->a->type->kind;
  return through == Kind::spread_array || through == Kind::spread_pointer;
}
}  // namespace

Expr* Sema::address(Expr* operand, int at) {
  Expr* const e = make(Node::address, at, operand->last, at);
  e->a = operand;
  join(e);
  if (is_error(operand->type)) return bad(e);
  not_used(operand);
  Expr* const inner = strip(operand);
  if (inner->is_bit_field) {
    error(e, "a bit-field has no address");
    return bad(e);
  }
  if (operand->type->kind == Kind::spread_array) {
    // The address of the array's beginning. Arithmetic on it would be in whole arrays, so that its
    // type allows none.
    e->a = value(operand);
    join(e);
    e->special = true;
    e->type = unit_.types.make(Kind::spread_pointer, unit_.types.basic(Kind::void_type));
    return e;
  }
  if (operand->mode == Mode::value && operand->type->kind != Kind::function &&
      inner->node != Node::compound && object(operand, "the address of") == nullptr)
    return bad(e);
  if (operand->mode == Mode::remote) {
    e->special = true;
    e->element_of_spread = inner->element_of_spread;
    e->type = unit_.types.make(is_dealt(inner) ? Kind::spread_pointer : Kind::global_pointer,
                               operand->type);
    return e;
  }
  if (inner->is_register && inner->node == Node::name)
    warn(Warning::plain, inner->at,
         fmt::format("the address of '{}', which is declared register", inner->symbol->name));
  if (inner->node == Node::name && inner->symbol->register_token >= 0)
    unit_.replaced[inner->symbol->register_token] = "";
  e->special = e->special || operand->special;
  e->type = unit_.types.pointer_to(operand->type);
  return e;
}

Expr* Sema::deref(Expr* operand, int at) {
  Expr* const e = make(Node::deref, at, operand->last, at);
  operand = value(operand);
  e->a = operand;
  join(e);
  e->is_constant = false;
  Type* const type = value_type(operand);
  if (is_error(type)) return bad(e);
  if (!is_pointer(type)) {
    error(e, fmt::format("* needs a pointer, this is '{}'", describe(type)));
    return bad(e);
  }
  e->type = type->base;
  note_own(operand, e);
  if (is_word(type)) {
    e->special = true;
    e->mode = Mode::remote;
    e->element_of_spread = type->kind == Kind::spread_pointer;
    spell(type->base);
  } else if (type->base->kind != Kind::function) {
    e->mode = Mode::local;
  }
  return e;
}

Expr* Sema::cast(Type* type, int type_first, int type_last, Expr* operand, int first) {
  Expr* const e = make(Node::cast, first, operand->last, first);
  operand = type->kind == Kind::void_type && strip(operand)->mode == Mode::remote ? value(operand)
                                                                                  : value(operand);
  e->a = operand;
  e->type_name = type;
  e->type_first = type_first;
  e->type_last = type_last;
  join(e);
  Type* const from = value_type(operand);
  e->type = type;
  if (is_error(from) || is_error(type)) return bad(e);
  e->is_zero =
      operand->is_zero && (is_integer(type) || is_word(type) ||
                           (type->kind == Kind::pointer && type->base->kind == Kind::void_type));
  if (is_word(type) || is_word(from)) {
    e->special = true;
    e->element_of_spread = operand->element_of_spread && type->kind == Kind::spread_pointer;
    spell(type);
    const Type* const other = is_word(type) ? from : type;
    if (!is_scalar(other) && other->kind != Kind::void_type) {
      error(e, fmt::format("'{}' cannot become '{}'", describe(from), describe(type)));
      return bad(e);
    }
    if (is_floating(other)) {
      error(e, fmt::format("'{}' cannot become '{}'", describe(from), describe(type)));
      return bad(e);
    }
    constexpr int kWordBytes = 8;
    if (is_word(from) && is_integer(type) && word_bytes(type) < kWordBytes &&
        type->kind != Kind::boolean)
      warn(Warning::plain, e->at,
           fmt::format("'{}' does not fit in '{}'", describe(from), describe(type)),
           "a global or spread pointer has 8 bytes, of which this keeps the last ones: keep it in "
           "a long, or ask toproc(...) for the process");
    return e;
  }
  if (mentions_word(type)) e->special = true;
  if (is_local_pointer(type)) note_pointer_result(operand);
  if (type->kind == Kind::array || type->kind == Kind::function ||
      type->kind == Kind::spread_array) {
    error(e, fmt::format("a cast to '{}'", describe(type)));
    return bad(e);
  }
  if ((is_record(from) && type->kind != Kind::void_type && type->kind != Kind::union_type &&
       !(is_record(type) && type->tag == from->tag)) ||
      (type->kind == Kind::structure && !is_record(from))) {
    error(e, fmt::format("'{}' cannot become '{}'", describe(from), describe(type)));
    return bad(e);
  }
  return e;
}

Expr* Sema::size_of(Expr* operand, int first) {
  Expr* const e = make(Node::size_of, first, operand->last, first);
  e->a = operand;
  not_evaluated(operand);
  e->is_constant = true;
  e->special = operand->special;
  e->type = unit_.types.basic(Kind::ulong);
  as_parameter(operand);
  if (operand->type->kind == Kind::spread_array) {
    error(e, fmt::format("the size of a whole '{}'", describe(operand->type)),
          "a spread array is in all processes: count elements by the bounds of its declaration; "
          "sizeof of an element is that of its block");
    return bad(e);
  }
  spell(operand->type);
  return e;
}

}  // namespace viaduct::splitcc
