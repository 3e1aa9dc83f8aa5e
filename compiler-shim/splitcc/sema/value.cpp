// Values, conversions, and the functions that all expressions share.

#include <fmt/format.h>
#include <algorithm>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {

Expr* Sema::make(Node node, int first, int last, int at) {
  unit_.exprs.emplace_back();
  Expr* const e = &unit_.exprs.back();
  e->node = node;
  e->first = first;
  e->last = last;
  e->at = at;
  e->type = int_type();
  return e;
}

Expr* Sema::failed(int first, int last) { return bad(make(Node::other, first, last, first)); }

// A node of the same tokens around another.
Expr* Sema::derived(Node node, Expr* of) {
  Expr* const e = make(node, of->first, of->last, of->at);
  e->a = of;
  e->special = true;
  e->is_constant = false;
  e->has_effect = of->has_effect;
  return e;
}

void Sema::error(const Expr* e, const std::string& text, const std::string& rule) {
  error_at(e->at, text, rule);
}

// The word in the source; the macros of split-c.h are undone.
std::string_view Sema::source_word(int token) const {
  const std::string_view word = unit_.text(token);
  return word == "__splitc_procs" ? "PROCS" : word == "__splitc_myproc" ? "MYPROC" : word;
}

void Sema::error_at(int token, const std::string& text, const std::string& rule) {
  diagnostics_.error(unit_.place(token), source_word(token), text, rule);
}
void Sema::warn(Warning which, int token, const std::string& text, const std::string& rule) {
  if (unit_.tokens[static_cast<std::size_t>(token)].in_system_header) return;
  diagnostics_.warning(which, unit_.place(token), source_word(token), text, rule);
}

// The expression in the source; the macros of split-c.h are undone.
std::string Sema::source_of(const Expr* e) const {
  std::string text;
  for (int i = e->first; i <= e->last; ++i) {
    if (i > e->first && unit_.tokens[static_cast<std::size_t>(i)].space_before) text += ' ';
    text += source_word(i);
  }
  return text;
}

// Sets the properties of e that follow from its parts.
void Sema::join(Expr* e) {
  bool constant = e->node != Node::call && e->node != Node::assign;
  const auto part = [&](const Expr* p) {
    if (p == nullptr) return;
    e->special = e->special || p->special;
    e->has_effect = e->has_effect || p->has_effect;
    constant = constant && p->is_constant;
  };
  part(e->a);
  part(e->b);
  part(e->c);
  for (const Expr* arg : e->args) part(arg);
  e->is_constant = constant && (e->a != nullptr || e->b != nullptr);
}

void Sema::spell(const Type* type) {
  for (; type != nullptr; type = type->base) {
    if (type->tag != nullptr && type->tag->name.empty()) type->tag->needs_name = true;
    for (const Parameter& p : type->parameters) spell(p.type);
  }
}

Type* Sema::value_type(const Expr* e) {
  Type* const type = e->type;
  if (type->kind == Kind::function) return unit_.types.pointer_to(type);
  if (type->kind == Kind::spread_array) return unit_.types.make(Kind::spread_pointer, type->base);
  if (type->kind != Kind::array) return type;
  return unit_.types.make(e->mode == Mode::remote ? Kind::global_pointer : Kind::pointer,
                          type->base);
}

Type* Sema::unqualified(const Type* type) {
  Type* const copy = unit_.types.qualified(type, false, false);
  copy->is_const = copy->is_volatile = false;
  return copy;
}

Type* Sema::promoted(Type* type) {
  switch (type->kind) {
    case Kind::boolean:
    case Kind::character:
    case Kind::schar:
    case Kind::uchar:
    case Kind::short_int:
    case Kind::ushort:
      return int_type();
    case Kind::enumeration:
      return word_bytes(type) == 8 ? unit_.types.basic(Kind::long_int) : int_type();
    default:
      return type;
  }
}

Type* Sema::arithmetic(Type* a, Type* b) {
  const auto part = [](Type* type) { return type->kind == Kind::complex ? type->base : type; };
  if (a->kind == Kind::complex || b->kind == Kind::complex)
    return unit_.types.make(Kind::complex, arithmetic(part(a), part(b)));
  a = promoted(a);
  b = promoted(b);
  if ((a->kind == Kind::ulong && b->kind == Kind::llong) ||
      (a->kind == Kind::llong && b->kind == Kind::ulong))
    return unit_.types.basic(Kind::ullong);
  return a->kind >= b->kind ? a : b;  // the kinds are in order of rank
}

Expr* Sema::value(Expr* e) {
  if (is_error(e->type)) return e;
  check_pending(e);
  if (e->type->kind == Kind::spread_array ||
      (e->mode == Mode::remote && e->type->kind == Kind::array)) {
    Expr* const pointer = derived(Node::decay, e);
    pointer->type = value_type(e);
    pointer->element_of_spread = true;
    spell(pointer->type);
    return pointer;
  }
  if (e->mode != Mode::remote) return e;
  if (e->type->kind == Kind::void_type || e->type->kind == Kind::function) {
    error(e,
          fmt::format("an object of type '{}' in another process has no value", describe(e->type)));
    return bad(e);
  }
  if (is_record(e->type) && !e->type->tag->is_complete) {
    error(e, fmt::format("'{}' is not defined, its value cannot be read", describe(e->type)));
    return bad(e);
  }
  if (e->type->kind == Kind::opaque && !e->type->is_vector) {
    error(
        e,
        fmt::format("an object of type '{}' in another process cannot be read", describe(e->type)),
        e->type->spelling == "__builtin_va_list"
            ? ""
            : "give the type of a vector a name: typedef int v4 __attribute__((vector_size(16)))");
    return bad(e);
  }
  Expr* const read = derived(Node::load, e);
  read->type = e->type;
  read->number = next_number();
  spell(e->type);
  note_access(e);
  return read;
}

Expr* Sema::condition(Expr* e) {
  e = value(e);
  Type* const type = value_type(e);
  if (is_error(type)) return e;
  if (!is_scalar(type) && type->kind != Kind::opaque) {
    error(e,
          fmt::format("a condition must be a number or a pointer, this is '{}'", describe(type)));
    return e;
  }
  if (!is_word(type)) return e;
  Expr* const truth = derived(Node::test, e);
  truth->type = int_type();
  return truth;
}

Expr* Sema::unused(Expr* e) {
  Expr* const inner = strip(e);
  if (inner->mode == Mode::remote) e = value(e);
  for (Expr* part = strip(e); part != nullptr;) {
    part->is_unused = true;
    part = part->node == Node::comma ? strip(part->b) : nullptr;
  }
  return e;
}

bool Sema::check_record(Expr* e, Type* from, Type* to, const std::string& what) {
  if (!is_record(from) && !is_record(to)) return true;
  if (from->kind == Kind::opaque || to->kind == Kind::opaque) return true;
  if (is_record(from) && is_record(to) && from->tag == to->tag) return true;
  if (to->kind == Kind::union_type && !is_record(from)) return true;  // transparent unions
  error(e, fmt::format("{}'{}' cannot become '{}'", what, describe(from), describe(to)));
  return false;
}

// `p = f()`, where nothing declares f: on old machines an int held a pointer. f's whole result is
// taken.
void Sema::note_pointer_result(const Expr* e) {
  const Expr* const call = strip(e);
  const Expr* const name = call->node == Node::call ? strip(call->a) : call;
  if (name->node != Node::name || !name->symbol->is_implicit || name == call) return;
  if (name->symbol->type->base->kind == Kind::integer)
    unit_.pointer_calls.emplace_back(name->symbol, name->at);
}

// Generated C does not tell gcc the qualifiers of what this pointer points to.
void Sema::check_qualifiers(const Expr* e, const Type* to, Use use, const std::string& what) {
  const Type* const from = value_type(e);
  if (!is_pointer(from) || to->base == nullptr) return;
  const auto lost = [&](bool (*has)(const Type*)) { return has(from->base) && !has(to->base); };
  const std::string_view qualifiers = lost(is_const)
                                          ? lost(is_volatile) ? "const volatile" : "const"
                                      : lost(is_volatile) ? "volatile"
                                                          : "";
  const bool any = from->base->kind == Kind::void_type || to->base->kind == Kind::void_type;
  if (qualifiers.empty() || !(any || is_compatible(from->base, to->base, 1))) return;
  const std::string by = use == Use::initializer ? "initialization"
                         : use == Use::result    ? "return"
                         : use == Use::argument ? "passing " + (what.empty() ? "an argument" : what)
                                                : "assignment";
  warn(Warning::discarded_qualifiers, e->at,
       fmt::format("{} discards '{}' qualifier from pointer target type", by, qualifiers),
       fmt::format("declare a pointer to {} objects, or write a cast", qualifiers));
}

Expr* Sema::convert(Expr* e, Type* to, Use use, const std::string& what) {
  e = value(e);
  Type* const from = value_type(e);
  if (is_error(from) || is_error(to)) return e;
  const std::string where = what.empty() ? std::string() : what + ": ";
  if (from->kind == Kind::void_type && to->kind != Kind::void_type) {
    error(e, where + "this expression has no value");
    return e;
  }
  const Node node = strip(e)->node;
  if (is_word(to) || to->kind == Kind::spread_array ||
      (is_local_pointer(to) && (node == Node::load || node == Node::to_local)))
    check_qualifiers(e, to, use, what);
  // A spread array as a parameter is a spread pointer.
  if (to->kind == Kind::spread_array)
    return to_word(e, unit_.types.make(Kind::spread_pointer, to->base), where);
  if (is_word(to)) {
    note_globalized(e);
    return to_word(e, to, where);
  }
  if (!is_word(from)) {
    if (!check_record(e, from, to, where)) return e;
    if ((is_local_pointer(to) && is_floating(from)) || (is_floating(to) && is_local_pointer(from)))
      error(e, fmt::format("{}'{}' cannot become '{}'", where, describe(from), describe(to)));
    if (is_local_pointer(to)) note_pointer_result(e);
    return e;
  }
  if (to->kind == Kind::boolean) return condition(e);
  if (to->kind == Kind::opaque || to->kind == Kind::void_type) return e;
  if (is_local_pointer(to)) {
    error(e,
          fmt::format("{}'{}' does not become '{}' by itself", where, describe(from), describe(to)),
          fmt::format("a global or spread pointer loses its process when it becomes a local one: {}"
                      "write the cast, or tolocal(...), where the object is this process' own; "
                      "bulk_read(...) and bulk_write(...) copy from and to another process' object",
                      use == Use::argument
                          ? std::string()
                          : fmt::format("declare '{}' to keep it; ",
                                        describe(unit_.types.make(from->kind, to->base)))));
  } else {
    error(e, fmt::format("{}'{}' cannot become '{}'", where, describe(from), describe(to)));
  }
  return e;
}

// A pointer to a block, where one to its first element stands, or the reverse: programs have
// `int *spread` for `int (*spread)[n]`.
bool Sema::is_block_idiom(const Type* from, const Type* to) {
  const auto element = [](const Type* pointer) {
    const Type* t = pointer->base;
    while (t->kind == Kind::array) t = t->base;
    return t;
  };
  if (from->base->kind != Kind::array && to->base->kind != Kind::array) return false;
  return is_compatible(element(from), element(to), 1) &&
         diagnostics_.leaves_out(Idiom::block_pointer);
}

// Whether a pointer may become the other one, by what they point to.
bool Sema::check_target(const Expr* e, const Type* from, const Type* to, const std::string& what) {
  const bool any = from->base->kind == Kind::void_type || to->base->kind == Kind::void_type;
  if (any || is_compatible(from->base, to->base, 1)) return true;
  if (!is_block_idiom(from, to))
    warn(Warning::plain, e->at,
         fmt::format("{}'{}' becomes '{}' without a cast", what, describe(from), describe(to)));
  return false;
}

Expr* Sema::to_word(Expr* e, Type* to, const std::string& what) {
  Type* const from = value_type(e);
  if (e->is_zero || is_local_pointer(from)) {
    if (!e->is_zero && to->kind == Kind::spread_pointer) {
      error(
          e,
          fmt::format("{}'{}' does not become '{}' by itself", what, describe(from), describe(to)),
          "a spread pointer runs across the processes, a local one does not: declare the array "
          "spread, T A[n]::, or allocate it with all_spread_malloc(...); write the cast if this "
          "process' object is meant");
      return e;
    }
    if (!e->is_zero) (void)check_target(e, from, to, what);
    Expr* const word = derived(Node::globalize, e);
    word->type = to;
    word->is_zero = e->is_zero;
    return word;
  }
  if (is_word(from)) {
    const bool any = from->base->kind == Kind::void_type || to->base->kind == Kind::void_type;
    if (check_target(e, from, to, what) && from->kind == Kind::global_pointer &&
        to->kind == Kind::spread_pointer && !any && !strip(e)->element_of_spread)
      warn(Warning::plain, e->at,
           fmt::format("{}'{}' becomes '{}' without a cast", what, describe(from), describe(to)),
           "arithmetic on a spread pointer runs across the processes, on a global pointer it "
           "stays in one");
    return e;
  }
  error(e, fmt::format("{}'{}' cannot become '{}'", what, describe(from), describe(to)),
        is_integer(from) ? "a global pointer is made from a local one, by toglobal(process, "
                           "pointer), by & of an object in another process, or from 0"
                         : "");
  return e;
}

namespace {

// Whether e is a part of a const variable of this process with global pointers in it. The generated
// C declares some of these variables without const, so that gcc does not check them.
bool is_const_word_variable(const Expr* e) {
  if (!is_const(e->type)) return false;
  for (e = strip(e); e != nullptr && e->mode == Mode::local; e = strip(e->a)) {
    if (e->node == Node::name) return holds_word(e->type);
    const bool part = e->node == Node::member ||
                      (e->node == Node::index && strip(e->a)->type->kind == Kind::array);
    if (!part) return false;
  }
  return false;
}

}  // namespace

// A parameter that is declared as a spread array is a variable: a spread pointer.
void Sema::as_parameter(Expr* e) {
  const Expr* const inner = strip(e);
  if (inner->node != Node::name || !inner->symbol->is_parameter ||
      inner->type->kind != Kind::spread_array)
    return;
  for (Expr* part = e;; part = part->a) {
    part->type = value_type(part);
    if (part == inner) break;
  }
}

Expr* Sema::lvalue(Expr* e, const char* what) {
  Expr* const inner = strip(e);
  if (is_error(e->type)) return nullptr;
  if (inner->node == Node::index && inner->type->kind == Kind::spread_array) {
    error(e,
          fmt::format("{} '{}', a row of elements that are dealt to the processes", what,
                      source_of(inner)),
          fmt::format("give every subscript of the spread dimensions: {}[...]", source_of(inner)));
    return nullptr;
  }
  if (inner->mode == Mode::value && !old_object(e, what)) return nullptr;
  as_parameter(e);
  if (e->type->kind == Kind::spread_array || e->type->kind == Kind::array ||
      e->type->kind == Kind::function) {
    error(e, fmt::format("{} a whole '{}'", what, describe(e->type)));
    return nullptr;
  }
  if (e->mode == Mode::remote && is_const(e->type)) {  // gcc checks other objects
    error(e, fmt::format("{} an object that is const", what),
          "const behind a global or spread pointer, or of a spread array, says that the object is "
          "only read: leave it out of the declaration where the object is written");
    return nullptr;
  }
  if (const Member* const member = const_member(e->type)) {
    error(
        e,
        fmt::format("{} a '{}', whose member '{}' is const", what, describe(e->type), member->name),
        "assign to the other members one by one");
    return nullptr;
  }
  if (is_const_word_variable(e)) {
    error(e, fmt::format("{} an object that is const", what));
    return nullptr;
  }
  return e;
}

}  // namespace viaduct::splitcc
