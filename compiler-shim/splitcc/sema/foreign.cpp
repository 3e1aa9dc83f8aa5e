// Local pointers that were read from another process: their addresses mean nothing here.

#include <fmt/format.h>
#include <algorithm>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {
namespace {

// The variable that an expression begins with, or null.
const Symbol* root_of(const Expr* e) {
  for (e = strip(e); e != nullptr; e = strip(e->a))
    if (e->node == Node::name) return e->symbol;
  return nullptr;
}

// The global pointer through which an object of another process is reached. Null: a spread pointer
// or array, whose index may be this process' own number as well as another's.
const Expr* holder_of(const Expr* object) {
  for (object = strip(object); object != nullptr; object = strip(object->a)) {
    if (object->node == Node::member || object->node == Node::decay) continue;
    if (object->node != Node::arrow && object->node != Node::deref && object->node != Node::index)
      return nullptr;
    const Expr* const pointer = strip(object->a);
    if (pointer->node == Node::decay && object->node == Node::index) continue;  // of an array
    return object->element_of_spread || pointer->type->kind != Kind::global_pointer ? nullptr
                                                                                    : object->a;
  }
  return nullptr;
}

// Whether the condition compares MYPROC with another value, which may be the owner's number.
bool asks_owner(const Expr* e) {
  if (e == nullptr) return false;
  if (e->node == Node::binary && (e->op == Tok::equal_equal || e->op == Tok::exclaim_equal)) {
    const auto is_own = [](const Expr* x) {
      x = strip(x);
      return x->node == Node::name && x->symbol->name == "__splitc_myproc";
    };
    if ((is_own(e->a) && !strip(e->b)->is_constant) || (is_own(e->b) && !strip(e->a)->is_constant))
      return true;
  }
  return asks_owner(e->a) || asks_owner(e->b) || asks_owner(e->c);
}

bool is_data_pointer(const Type* type) {
  return is_local_pointer(type) && type->base->kind != Kind::function;
}

}  // namespace

// The object of another process that e's value was read from, or null. Null for a cast, which says
// that the use is intended.
Sema::Foreign Sema::foreign(const Expr* e) const {
  e = strip(e);
  for (;;) {
    if (e->node == Node::binary && (e->op == Tok::plus || e->op == Tok::minus))
      e = strip(is_local_pointer(e->a->type) || e->a->type->kind == Kind::array ? e->a : e->b);
    else if (e->node == Node::prefix || e->node == Node::postfix)
      e = strip(e->a);
    else
      break;
  }
  if (e->node == Node::name) {
    for (const Kept& k : kept_)
      if (k.variable == e->symbol && foreign_object(k.object) != nullptr)
        return {k.object, e->symbol};
    return {};
  }
  if (e->node != Node::load || !is_data_pointer(e->type)) return {};
  return {foreign_object(e->a), nullptr};
}

// The object, when it holds a local pointer and is reached through a global one.
const Expr* Sema::foreign_object(const Expr* object) const {
  object = strip(object);
  if (!is_data_pointer(object->type)) return nullptr;
  const Expr* const holder = holder_of(object);
  if (holder == nullptr) return nullptr;
  for (const bool own : branches_)
    if (own) return nullptr;
  const Symbol* const root = root_of(holder);
  const bool known =
      root != nullptr && std::find(owners_.begin(), owners_.end(), root) != owners_.end();
  return known ? nullptr : object;
}

// e's value is used as an address of this process: by `by`, or by a call.
void Sema::note_own(const Expr* e, const Expr* by) {
  if (!is_data_pointer(e->type)) return;
  const Foreign f = foreign(e);
  if (f.object != nullptr) uses_.push_back({by, e, f, false});
}

// e's value becomes a global pointer: to this process.
void Sema::note_globalized(const Expr* e) {
  if (!is_data_pointer(e->type)) return;
  const Foreign f = foreign(e);
  if (f.object != nullptr) uses_.push_back({nullptr, e, f, true});
}

// The address or size of e's object is taken: the object itself is not used.
void Sema::not_used(const Expr* e) {
  for (e = strip(e); e != nullptr; e = strip(e->a)) {
    const auto mine = [e](const ForeignUse& u) { return u.by == e; };
    if (e->node != Node::member && e->node != Node::index && e->node != Node::arrow &&
        e->node != Node::deref)
      return;
    uses_.erase(std::remove_if(uses_.begin(), uses_.end(), mine), uses_.end());
    const bool inside = e->node == Node::member ||
                        (e->node == Node::index && strip(e->a)->type->kind == Kind::array);
    if (!inside) return;
  }
}

void Sema::not_evaluated(const Expr* e) {
  const auto inside = [e](const ForeignUse& u) {
    return u.pointer->first >= e->first && u.pointer->first <= e->last;
  };
  uses_.erase(std::remove_if(uses_.begin(), uses_.end(), inside), uses_.end());
}

// A variable gets a value.
void Sema::note_pointer(const Symbol* variable, const Expr* value) {
  if (variable == nullptr || value == nullptr || variable->depth == 0) return;
  const Foreign f = foreign(value);
  forget_pointer(variable);
  if (is_local_pointer(variable->type) && f.object != nullptr)
    kept_.push_back({variable, f.object, branches_.size()});
  if (variable->type->kind != Kind::global_pointer) return;
  const Expr* const source = strip(value);
  const Expr* const process = source->node == Node::to_global ? strip(source->a) : nullptr;
  const bool own = (source->node == Node::globalize && !source->is_zero) ||
                   (process != nullptr && process->node == Node::name &&
                    process->symbol->name == "__splitc_myproc");
  if (own) owners_.push_back(variable);
}

void Sema::note_pointer(const Expr* target, const Expr* value) {
  target = strip(target);
  if (target->node == Node::name) note_pointer(target->symbol, value);
}

// p := n->next
void Sema::note_got_pointer(const Expr* target, const Expr* object) {
  target = strip(target);
  if (target->node != Node::name || target->symbol->depth == 0) return;
  forget_pointer(target->symbol);
  if (const Expr* const from = foreign_object(object))
    kept_.push_back({target->symbol, from, branches_.size()});
}

void Sema::forget_pointer(const Symbol* variable) {
  kept_.erase(std::remove_if(kept_.begin(), kept_.end(),
                             [variable](const Kept& k) { return k.variable == variable; }),
              kept_.end());
}

// toproc(g) asks for the owner, and the function may act upon it.
void Sema::note_owner(const Expr* pointer) { owners_.push_back(root_of(pointer)); }

// toglobal(toproc(g), p) does not.
void Sema::forget_owner(const Expr* process) {
  process = strip(process);
  if (process->node != Node::to_proc) return;
  const auto found = std::find(owners_.rbegin(), owners_.rend(), root_of(process->a));
  if (found != owners_.rend()) owners_.erase(std::next(found).base());
}

void Sema::enter_branch(const Expr* condition) { branches_.push_back(asks_owner(condition)); }

void Sema::leave_branch() {
  if (!branches_.empty()) branches_.pop_back();
  const auto inner = [this](const Kept& k) { return k.depth > branches_.size(); };
  kept_.erase(std::remove_if(kept_.begin(), kept_.end(), inner), kept_.end());
}

void Sema::forget_pointers() {
  uses_.clear();
  kept_.clear();
  owners_.clear();
  branches_.clear();
}

void Sema::finish_expression() {
  const std::vector<ForeignUse> uses = std::move(uses_);
  uses_.clear();
  std::vector<const Symbol*> told;
  for (const ForeignUse& u : uses) {
    const Symbol* const variable = u.foreign.variable;
    if (std::find(told.begin(), told.end(), variable) != told.end()) continue;
    warn_foreign(u);
    if (variable == nullptr) continue;
    told.push_back(variable);
    forget_pointer(variable);
  }
}

void Sema::warn_foreign(const ForeignUse& use) {
  const std::string object = source_of(use.foreign.object);
  const std::string holder = source_of(holder_of(use.foreign.object));
  const std::string what =
      use.foreign.variable != nullptr
          ? fmt::format("'{}' is '{}', a local pointer of the process that '{}' points into, and",
                        use.foreign.variable->name, object, holder)
          : fmt::format("'{}' is a local pointer of the process that '{}' points into, and", object,
                        holder);
  warn(Warning::remote_pointer, use.pointer->first,
       what + (use.becomes_global ? " becomes a global pointer to this process"
                                  : " is used as this process' own"),
       fmt::format(
           "toglobal(toproc({0}), {1}) points to the object where it is, and bulk_read(...) "
           "copies it; where '{0}' points into this process, use tolocal({0}), or a cast",
           holder,
           use.foreign.variable != nullptr ? std::string(use.foreign.variable->name) : object));
}

}  // namespace viaduct::splitcc
