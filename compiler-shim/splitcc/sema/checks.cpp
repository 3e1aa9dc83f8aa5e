// Warnings about uses that are allowed and seldom meant.

#include <fmt/format.h>
#include <algorithm>

#include "compiler-shim/splitcc/sema/sema.hpp"
#include "compiler-shim/splitcc/sema/walks.hpp"

namespace viaduct::splitcc {

void Sema::note_get(Expr* target) {
  const Symbol* const symbol = variable_of(target);
  if (symbol != nullptr && symbol->depth > 0 && !is_record(symbol->type))
    pending_.push_back(symbol);
}

void Sema::check_pending(Expr* e) {
  if (pending_.empty()) return;
  const Symbol* const symbol = variable_of(e);
  const auto found = std::find(pending_.begin(), pending_.end(), symbol);
  if (symbol == nullptr || found == pending_.end()) return;
  pending_.erase(found);
  warn(Warning::get_before_sync, e->at,
       fmt::format("'{}' is used before the get into it is complete", symbol->name),
       "the target of := has its value after sync(): call sync() before this use");
}

void Sema::called(const Expr* callee) {
  const Symbol* const symbol = variable_of(callee);
  // A function of the user's may call sync(); those of the C library do not.
  if (symbol == nullptr || symbol->name == "sync" || symbol->name == "all_store_sync" ||
      symbol->name == "is_sync" || (!symbol->from_system && !symbol->is_library))
    pending_.clear();
}

void Sema::loop_step(Expr* step) {
  if (loops_.empty() || step == nullptr) return;
  step = strip(step);
  if (step->node == Node::comma) {
    loop_step(step->a);
    loop_step(step->b);
    return;
  }
  const bool by_one = (step->node == Node::prefix || step->node == Node::postfix) ||
                      (step->node == Node::assign && step->op != Tok::equal && step->b != nullptr &&
                       unit_.text(step->b->first) == "1" && step->b->first == step->b->last);
  if (!by_one) return;
  if (const Symbol* const s = variable_of(step->a)) loops_.back().counters.push_back(s);
}

// e: the object of another process that is read or written.
void Sema::note_access(Expr* e) {
  check_bounds(e);
  if (loops_.empty() || loops_.back().told) return;
  Expr* const object = strip(e);
  const Expr* pointer = nullptr;
  const Expr* subscript = nullptr;
  if (object->node == Node::index) {
    pointer = object->a;
    subscript = object->b;
  } else if (object->node == Node::deref) {
    const Expr* const sum = strip(object->a);
    if (sum->node != Node::binary || sum->op != Tok::plus) return;
    pointer = sum->a;
    subscript = sum->b;
  }
  if (pointer == nullptr || subscript == nullptr) return;
  if (value_type(pointer)->kind != Kind::global_pointer || !is_integer(value_type(subscript)))
    return;
  const Symbol* const counter = moving_part(subscript, loops_.back().counters);
  if (counter == nullptr || mentions(pointer, counter)) return;
  loops_.back().told = true;
  warn(Warning::remote_loop, object->first,
       fmt::format("each turn of the loop over '{}' waits for one element of another process",
                   counter->name),
       "bulk_read(to, from, bytes) and bulk_write(to, from, bytes) move the whole block at once; "
       ":= and sync() overlap the accesses");
}

void Sema::leave_loop() {
  if (loops_.empty()) return;
  find_walks(loops_.back().first_expr);
  loops_.pop_back();
}

// Ordering two global pointers means something in one process only.
void Sema::check_order(Expr* e) {
  const auto root = [](const Expr* x) {
    x = strip(x);
    while (x->node == Node::globalize || x->node == Node::decay || x->node == Node::load ||
           (x->node == Node::cast && x->a != nullptr) ||
           (x->node == Node::binary && x->a != nullptr))
      x = strip(x->a);
    return x;
  };
  const Kind left = value_type(e->a)->kind;
  const Kind right = value_type(e->b)->kind;
  if (left != right) {
    warn(Warning::pointer_order, e->at, "a global and a spread pointer are compared by order",
         "the process counts before the address, as for two global pointers: cast one of them to "
         "the other's type");
    return;
  }
  if (left != Kind::global_pointer) return;
  const auto is_own = [this](const Expr* x) {
    x = strip(x);
    return x->node == Node::globalize ||
           (x->node == Node::cast && is_local_pointer(value_type(x->a)));
  };
  const bool made_here = is_own(e->a) != is_own(e->b);
  const Expr* const a = root(e->a);
  const Expr* const b = root(e->b);
  const auto same_text = [this](const Expr* x, const Expr* y) {
    if (x->last - x->first != y->last - y->first) return false;
    for (int i = 0; i <= x->last - x->first; ++i)
      if (unit_.text(x->first + i) != unit_.text(y->first + i)) return false;
    return true;
  };
  const bool apart =
      a->node == Node::to_global && b->node == Node::to_global && !same_text(a->a, b->a);
  if (!made_here && !apart) return;
  warn(Warning::pointer_order, e->at,
       "global pointers, which may be of different processes, are compared by order",
       "the process counts before the address; order has a meaning in one process only: compare "
       "subscripts, or spread pointers, which are ordered as their elements are");
}

}  // namespace viaduct::splitcc
