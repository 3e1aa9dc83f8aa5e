// Expressions: copies their tokens, with holes for the parts that are rewritten, and rewrites
// these.

#include <fmt/format.h>
#include <algorithm>

#include "compiler-shim/splitcc/emit/emitter.hpp"
#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {

void Emitter::expr(Expr* e) {
  if (!e->special) {
    gap(e->first, e->last);
    return;
  }
  move_to(e->first);  // text before the first token belongs to that token's line
  if (!rewrite(e)) holes(e);
}

// Copies the expression's tokens; its parts are written by calls of their own.
void Emitter::holes(Expr* e) {
  std::vector<Expr*> parts;
  for (Expr* part : {e->a, e->b, e->c})
    if (part != nullptr) parts.push_back(part);
  parts.insert(parts.end(), e->args.begin(), e->args.end());
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Expr* x, const Expr* y) { return x->first < y->first; });
  int at = e->first;
  for (Expr* part : parts) {
    if (part->first < at) continue;
    gap(at, part->first - 1);
    expr(part);
    at = part->last + 1;
  }
  gap(at, e->last);
}

void Emitter::statement(Expr* e) {
  token(e->first);
  token(e->first + 1);
  range(e->first + 2, e->last - 2);
  token(e->last - 1);
  token(e->last);
}

bool Emitter::rewrite(Expr* e) {
  switch (e->node) {
    case Node::statement:
      statement(e);
      return true;
    case Node::load:
      load(e);
      return true;
    case Node::decay:
      word(e->a);
      return true;
    case Node::globalize:
      if (e->is_zero) {
        raw(" 0UL");
      } else if (e->is_static_word) {
        raw(" (vsc_word)(");
        expr(e->a);
        raw(")");
      } else {
        raw(" vsc_global(");
        expr(e->a);
        raw(")");
      }
      return true;
    case Node::test:
      raw(" vsc_is(");
      expr(e->a);
      raw(")");
      return true;
    case Node::address:
      if (e->a->node == Node::decay) {
        expr(e->a);
        return true;
      }
      if (e->a->mode != Mode::remote) return false;
      address(e->a);
      return true;
    case Node::cast:
      cast(e);
      return true;
    case Node::size_of:
    case Node::size_of_type: {
      const Type* const type = e->node == Node::size_of ? e->a->type : e->type_name;
      token(e->first);
      raw("(" + name_of(type) + ")");
      return true;
    }
    case Node::binary:
      return binary(e);
    case Node::prefix:
    case Node::postfix:
      return step(e);
    case Node::assign:
      return assign(e);
    case Node::get_put:
      get_put(e);
      return true;
    case Node::store:
      store(e);
      return true;
    case Node::conditional:
    case Node::comma:
      return choice(e);
    case Node::to_local:
      raw(" ((" + name_of(e->type) + ")vsc_local(");
      if (e->a->mode == Mode::remote)
        address(e->a);
      else
        expr(e->a);
      raw("))");
      return true;
    case Node::to_proc:
      raw(" vsc_process(");
      if (e->a->mode == Mode::remote)
        address(e->a);
      else
        expr(e->a);
      raw(")");
      return true;
    case Node::to_global:
      raw(" vsc_toglobal(");
      expr(e->a);
      raw(", ");
      expr(e->b);
      raw(")");
      return true;
    case Node::atomic:
      atomic(e);
      return true;
    case Node::call:
      if (!e->is_collective) return false;
      raw(fmt::format(" (vsc_at({}), ", place_of(e->first)));
      holes(e);
      raw(")");
      return true;
    default:
      return false;
  }
}

// g ?: h, and a conditional or comma as an object of this process.
bool Emitter::choice(Expr* e) {
  if (e->node == Node::conditional && e->b == nullptr && is_word(e->type)) {
    raw(fmt::format(" ({{ vsc_word vsc_t{} = ", e->number));
    expr(e->a);
    raw(fmt::format("; vsc_is(vsc_t{0}) ? vsc_t{0} : (", e->number));
    expr(e->c);
    raw("); })");
    return true;
  }
  if (!e->as_lvalue) return false;
  // Pointers to different types may be chosen from.
  const std::string type =
      is_local_pointer(e->type) ? "(" + name_of(unit_.types.pointer_to(e->type)) + ")" : "";
  raw(" (*(");
  expr(e->a);
  raw((e->node == Node::comma ? ", " : " ? ") + type + "&(");
  expr(e->b);
  if (e->node == Node::conditional) {
    raw(") : " + type + "&(");
    expr(e->c);
  }
  raw(")))");
  return true;
}

void Emitter::cast(Expr* e) {
  const Type* const to = e->type_name;
  const Type* const from = e->a->type;
  if (e->as_lvalue) {
    raw(" (*(" + name_of(unit_.types.pointer_to(e->type)) + ")&(");
    expr(e->a);
    raw("))");
    return;
  }
  if (is_word(to)) {
    if (e->is_zero) {
      raw(" 0UL");
      return;
    }
    raw(is_word(from)       ? " ("
        : e->is_static_word ? " ((vsc_word)("
        : is_integer(from)  ? " ((vsc_word)(long)("
                            : " vsc_global((");
    expr(e->a);
    raw(is_word(from) ? ")" : "))");
    return;
  }
  if (is_word(from)) {
    if (to->kind == Kind::boolean) {
      raw(" vsc_is(");
    } else if (is_local_pointer(to)) {
      raw(" ((" + name_of(to) + ")vsc_local(");
      expr(e->a);
      raw("))");
      return;
    } else {
      raw(" ((" + name_of(to) + ")(");
      expr(e->a);
      raw("))");
      return;
    }
    expr(e->a);
    raw(")");
    return;
  }
  if (!mentions_word(to)) {
    holes(e);
    return;
  }
  raw(" (" + name_of(to) + ")(");
  expr(e->a);
  raw(")");
}

bool Emitter::binary(Expr* e) {
  const bool left = is_word(e->a->type);
  const bool right = is_word(e->b->type);
  if (!left && !right) return false;
  switch (e->op) {
    case Tok::plus:
    case Tok::minus: {
      if (left && right) {
        const bool spread =
            e->a->type->kind == Kind::spread_pointer && e->b->type->kind == Kind::spread_pointer;
        raw(spread ? " vsc_spread_difference(" : " vsc_difference(");
        expr(e->a);
        raw(", ");
        expr(e->b);
        raw(", " + size_of(e->a->type->base) + ")");
        return true;
      }
      Expr* const pointer = left ? e->a : e->b;
      Expr* const number = left ? e->b : e->a;
      const bool spread = pointer->type->kind == Kind::spread_pointer;
      raw(spread ? " vsc_spread_add(" : " vsc_add(");
      expr(pointer);
      raw(e->op == Tok::minus ? ", -(long)(" : ", (long)(");
      expr(number);
      const std::string size = size_of(pointer->type->base);
      raw(spread ? "), " + size + ")" : ") * (long)(" + size + "))");
      return true;
    }
    case Tok::equal_equal:
    case Tok::exclaim_equal: {
      const bool zero = e->a->is_zero || e->b->is_zero;
      const bool negate = (e->op == Tok::exclaim_equal) == !zero;
      raw(negate ? " (!" : " (");
      raw(zero ? "vsc_is(" : "vsc_equal(");
      expr(e->a->is_zero ? e->b : e->a);
      if (!zero) {
        raw(", ");
        expr(e->b);
      }
      raw("))");
      return true;
    }
    case Tok::less:
    case Tok::greater:
    case Tok::less_equal:
    case Tok::greater_equal: {
      const bool spread =
          e->a->type->kind == Kind::spread_pointer && e->b->type->kind == Kind::spread_pointer;
      raw(spread ? " (vsc_spread_rank(" : " ((");
      expr(e->a);
      raw(fmt::format(") {} ", unit_.text(e->at)));
      raw(spread ? "vsc_spread_rank(" : "(");
      expr(e->b);
      raw("))");
      return true;
    }
    default:
      return false;
  }
}

}  // namespace viaduct::splitcc
