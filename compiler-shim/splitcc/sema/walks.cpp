// Accesses that go through memory step by step: where the memory is mapped, most of them need no
// look at the table of views (split-c/runtime.h 4, docs/splitcc.md).

#include "compiler-shim/splitcc/sema/walks.hpp"

#include <algorithm>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {

const Symbol* variable_of(const Expr* e) {
  e = strip(e);
  return e != nullptr && e->node == Node::name ? e->symbol : nullptr;
}

bool mentions(const Expr* e, const Symbol* symbol) {
  if (e == nullptr) return false;
  if (e->node == Node::name && e->symbol == symbol) return true;
  if (mentions(e->a, symbol) || mentions(e->b, symbol) || mentions(e->c, symbol)) return true;
  return std::any_of(e->args.begin(), e->args.end(),
                     [symbol](const Expr* arg) { return mentions(arg, symbol); });
}

const Symbol* moving_part(const Expr* e, const std::vector<const Symbol*>& counters) {
  e = strip(e);
  if (const Symbol* const s = variable_of(e))
    return std::find(counters.begin(), counters.end(), s) == counters.end() ? nullptr : s;
  if (e->node != Node::binary || (e->op != Tok::plus && e->op != Tok::minus)) return nullptr;
  const Symbol* const left = moving_part(e->a, counters);
  if (left != nullptr) return mentions(e->b, left) ? nullptr : left;
  if (e->op == Tok::minus) return nullptr;
  const Symbol* const right = moving_part(e->b, counters);
  return right != nullptr && !mentions(e->a, right) ? right : nullptr;
}

namespace {

bool is_step(const Expr* e) { return e->node == Node::prefix || e->node == Node::postfix; }

// The object of another process that e reads or writes, when it is one word long.
const Expr* word_object(const Expr* e) {
  const bool accesses =
      e->node == Node::load || e->node == Node::assign || e->node == Node::store || is_step(e);
  if (!accesses || e->a == nullptr || e->a->mode != Mode::remote) return nullptr;
  const Expr* const object = strip(e->a);
  const Kind kind = object->type->kind;
  const bool word =
      word_bytes(object->type) != 0 || kind == Kind::float_type || kind == Kind::double_type;
  return word && !object->is_bit_field ? object : nullptr;
}

}  // namespace

// In the loop whose expressions begin with number first_expr.
void Sema::find_walks(std::size_t first_expr) {
  if (bodies_.empty()) return;
  std::vector<const Symbol*> stepped;
  for (std::size_t i = first_expr; i < unit_.exprs.size(); ++i) {
    const Expr& e = unit_.exprs[i];
    const bool moves = is_step(&e) || (e.node == Node::assign &&
                                       (e.op == Tok::plus_equal || e.op == Tok::minus_equal));
    if (const Symbol* const s = moves ? variable_of(e.a) : nullptr) stepped.push_back(s);
  }
  const auto walk_of = [&](const Expr* object) {
    if (object->node == Node::deref) {
      const Expr* const pointer = strip(object->a);
      if (value_type(pointer)->kind != Kind::global_pointer) return Walk::none;
      const bool moves = is_step(pointer) ? variable_of(pointer->a) != nullptr
                                          : moving_part(pointer, stepped) != nullptr;
      return moves ? Walk::pointer : Walk::none;
    }
    if (object->node != Node::index || moving_part(object->b, stepped) == nullptr)
      return Walk::none;
    return value_type(object->a)->kind == Kind::global_pointer ? Walk::pointer : Walk::spread;
  };
  for (std::size_t i = first_expr; i < unit_.exprs.size(); ++i) {
    Expr& e = unit_.exprs[i];
    const Expr* const object = e.walk == Walk::none ? word_object(&e) : nullptr;
    if (object == nullptr) continue;
    e.walk = walk_of(object);
    if (e.walk == Walk::none) continue;
    if (e.node == Node::store) {
      // A store to another process is a message.
      if (e.walk == Walk::pointer) {
        e.walk = Walk::none;
        continue;
      }
    } else if (e.node != Node::load && e.op != Tok::equal) {
      e.walk = Walk::pointer;  // for a read and a write the address is computed once
    }
    if (e.number == 0) e.number = next_number();
    unit_.walks[bodies_.back()].push_back(&e);
  }
}

}  // namespace viaduct::splitcc
