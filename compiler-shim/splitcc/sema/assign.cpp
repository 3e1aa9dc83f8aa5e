// Assignments, split-phase ones too, and Split-C's own functions.

#include <fmt/format.h>
#include <utility>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {

namespace {

Tok operator_of(Tok assignment) {
  switch (assignment) {
    case Tok::plus_equal:
      return Tok::plus;
    case Tok::minus_equal:
      return Tok::minus;
    case Tok::star_equal:
      return Tok::star;
    case Tok::slash_equal:
      return Tok::slash;
    case Tok::percent_equal:
      return Tok::percent;
    case Tok::amp_equal:
      return Tok::amp;
    case Tok::pipe_equal:
      return Tok::pipe;
    case Tok::caret_equal:
      return Tok::caret;
    case Tok::less_less_equal:
      return Tok::less_less;
    default:
      return Tok::greater_greater;
  }
}

}  // namespace

Expr* Sema::assign(Tok op, Expr* a, Expr* b, int at) {
  Expr* const e = make(Node::assign, a->first, b->last, at);
  e->op = op;
  Expr* const target = lvalue(a, "an assignment to");
  e->a = a;
  if (target == nullptr) {
    e->b = value(b);
    return bad(e);
  }
  e->type = target->type;
  if (op == Tok::equal) {
    e->b = convert(b, e->type, Use::assignment);
    note_pointer(target, e->b);
    if (e->type->kind == Kind::void_type) {
      error(e, "an assignment to an object of type 'void'");
      return bad(e);
    }
  } else {
    check_pending(a);
    e->b = value(b);
    Type* const right = value_type(e->b);
    const Tok plain = operator_of(op);
    if (is_error(right)) return bad(e);
    const bool moves = (plain == Tok::plus || plain == Tok::minus) && is_integer(right);
    const bool whole = plain == Tok::percent || plain == Tok::amp || plain == Tok::pipe ||
                       plain == Tok::caret || plain == Tok::less_less ||
                       plain == Tok::greater_greater;
    const bool counts = is_arithmetic(e->type) && is_arithmetic(right) &&
                        !(whole && (is_floating(e->type) || is_floating(right)));
    if (!(is_pointer(e->type) ? moves : counts) && e->type->kind != Kind::opaque &&
        right->kind != Kind::opaque) {
      wrong_operands(e, e->type, right);
      return bad(e);
    }
  }
  join(e);
  e->has_effect = true;
  e->is_constant = false;
  if (a->mode == Mode::remote || (is_word(e->type) && op != Tok::equal) ||
      is_converting_target(a)) {
    e->special = true;
    e->number = next_number();
    spell(e->type);
    if (a->mode == Mode::remote) note_access(a);
  }
  return e;
}

namespace {

// Whether the bytes of an object of type a are a value of type b.
bool has_form_of(const Type* a, const Type* b) {
  if (is_word(a) && is_word(b)) return true;
  if (a->kind == Kind::complex && b->kind == Kind::complex) return has_form_of(a->base, b->base);
  const bool counts = is_integer(a) && is_integer(b) && b->kind != Kind::boolean;
  if (counts && word_bytes(a) != 0 && word_bytes(a) == word_bytes(b)) return true;
  const auto is_wide = [](Kind kind) { return kind == Kind::int128 || kind == Kind::uint128; };
  if (is_wide(a->kind) && is_wide(b->kind)) return true;
  return a->kind == b->kind && a->spelling == b->spelling && a->tag == b->tag;
}

}  // namespace

// A get moves bytes when they come. A value that has to be converted is read instead, which is
// complete at once.
Expr* Sema::get_by_read(Expr* a, Expr* b, int at) {
  const bool bits = strip(a)->is_bit_field || strip(b)->is_bit_field;
  warn(Warning::plain, at,
       bits ? std::string("this get of a bit-field waits for the value")
            : fmt::format("this get of '{}' into '{}' waits for the value", describe(b->type),
                          describe(a->type)),
       bits ? "a get moves whole bytes"
            : "the value has to be converted when it comes; objects of one type do not wait");
  Expr* const e = assign(Tok::equal, a, b, at);
  unit_.replaced[at] = "=";
  if (!is_error(e->type)) e->type = unit_.types.basic(Kind::void_type);
  return e;
}

Expr* Sema::get_put(Expr* a, Expr* b, int at) {
  Expr* const e = make(Node::get_put, a->first, b->last, at);
  Expr* const target = object(a, ":= to");
  e->a = a;
  e->b = b;
  e->type = unit_.types.basic(Kind::void_type);
  e->number = next_number();
  if (target == nullptr || is_error(b->type)) return bad(e);
  if (a->mode == Mode::remote) {  // a put
    e->b = convert(b, a->type, Use::assignment);
    check_bounds(a);
    spell(a->type);
  } else {
    Type* const from = b->type;
    if (b->mode != Mode::remote) {
      error(e, ":= between two objects of this process",
            "one side of := is an object of another process: get reads it, put writes it; = "
            "assigns");
      return bad(e);
    }
    if (from->kind == Kind::array) {
      error(e, fmt::format(":= of a whole '{}'", describe(from)),
            "bulk_get(to, from, bytes) gets a block");
      return bad(e);
    }
    const bool same_form = has_form_of(from, a->type);
    const bool converts = (is_arithmetic(from) && is_arithmetic(a->type)) ||
                          (is_local_pointer(from) && a->type->kind == Kind::global_pointer);
    if ((!same_form && converts) || strip(a)->is_bit_field || strip(b)->is_bit_field)
      return get_by_read(a, b, at);
    if (!same_form) {
      error(e, fmt::format("a get of '{}' into '{}'", describe(from), describe(a->type)),
            "a get moves the bytes when they come; nothing is converted. Get into an object of the "
            "same type, or read with =");
      return bad(e);
    }
    Expr* const object = strip(a);
    if (object->node == Node::name && object->symbol->register_token >= 0)
      unit_.replaced[object->symbol->register_token] = "";
    check_qualifiers(b, a->type, Use::assignment, {});
    spell(from);
    note_get(a);
    check_bounds(b);
    note_got_pointer(a, b);
  }
  join(e);
  e->special = true;
  e->has_effect = true;
  e->is_constant = false;
  return e;
}

Expr* Sema::store(Expr* a, Expr* b, int at) {
  Expr* const e = make(Node::store, a->first, b->last, at);
  e->type = unit_.types.basic(Kind::void_type);
  e->a = a;
  e->b = b;
  e->number = next_number();
  Expr* const target = object(a, ":- to");
  if (target == nullptr || is_error(b->type)) return bad(e);
  if (strip(a)->is_bit_field && a->mode == Mode::remote) {
    error(e, ":- to a bit-field of another process' structure",
          "a store is counted in bytes, and a bit-field has none of its own: = writes it");
    return bad(e);
  }
  if (a->mode != Mode::remote) {
    error(e, ":- to an object of this process",
          "the left side of :- is an object of another process, reached through a global or spread "
          "pointer; = assigns to this process' own");
    return bad(e);
  }
  e->b = convert(b, a->type, Use::assignment);
  check_bounds(a);
  spell(a->type);
  join(e);
  e->special = true;
  e->has_effect = true;
  e->is_constant = false;
  return e;
}

Expr* Sema::to_local(Expr* operand, int first, int last) {
  Expr* const e = make(Node::to_local, first, last, first);
  e->special = true;
  if (is_error(operand->type)) return bad(e);
  const bool object = operand->mode == Mode::remote && operand->type->kind != Kind::array &&
                      !is_word(operand->type);
  if (object) {
    e->a = operand;
    e->type = unit_.types.pointer_to(operand->type);
  } else {
    e->a = value(operand);
    Type* const type = value_type(e->a);
    if (!is_pointer(type)) {
      error(operand, fmt::format("tolocal of '{}'", describe(type)),
            "tolocal takes a global or spread pointer, or an object of another process");
      return bad(e);
    }
    if (is_local_pointer(type)) {
      error(operand, fmt::format("tolocal of '{}'", describe(type)),
            "this pointer is local already");
      return bad(e);
    }
    e->type = unit_.types.pointer_to(type->base);
  }
  e->has_effect = operand->has_effect;
  spell(e->type);
  return e;
}

Expr* Sema::to_proc(Expr* operand, int first, int last) {
  Expr* const e = make(Node::to_proc, first, last, first);
  e->special = true;
  if (is_error(operand->type)) return bad(e);
  const bool object = operand->mode == Mode::remote && operand->type->kind != Kind::array &&
                      !is_word(operand->type);
  e->a = object ? operand : value(operand);
  note_owner(operand);
  if (!object && !is_word(value_type(e->a))) {
    error(operand, fmt::format("toproc of '{}'", describe(operand->type)),
          "toproc takes a global or spread pointer, or an object of another process");
    return bad(e);
  }
  e->has_effect = operand->has_effect;
  return e;
}

Expr* Sema::to_global(Expr* process, Expr* pointer, int first, int last) {
  Expr* const e = make(Node::to_global, first, last, first);
  e->special = true;
  e->a = value(process);
  e->b = value(pointer);
  forget_owner(process);
  Type* const number = value_type(e->a);
  Type* const type = value_type(e->b);
  e->has_effect = process->has_effect || pointer->has_effect;
  if (is_error(number) || is_error(type)) return bad(e);
  if (!is_integer(number) || !is_local_pointer(type)) {
    error(e, fmt::format("toglobal of '{}' and '{}'", describe(number), describe(type)),
          fmt::format("toglobal(process, pointer) takes a process number and a local pointer{}",
                      is_local_pointer(number) && is_integer(type) ? ": exchange the two" : ""));
    return bad(e);
  }
  e->type = unit_.types.make(Kind::global_pointer, type->base);
  return e;
}

namespace {
const char* const kAtomicRule =
    "atomic(f, pointer, arguments...) runs f in the process that the global pointer names; f gets "
    "the local pointer and the other arguments";
}

// f's first parameter is the local pointer.
bool Sema::check_atomic_pointer(const Expr* callee, Expr* pointer, const Type* to) {
  Type* const from = value_type(pointer);
  if (to->kind == Kind::array || is_local_pointer(to)) {
    (void)check_target(pointer, from, unit_.types.pointer_to(to->base), {});
    return true;
  }
  const bool fits = is_error(to) || to->kind == Kind::opaque;
  if (!fits)
    error(callee,
          fmt::format("the first parameter of {} is '{}', which is no local pointer",
                      callee->symbol->name, describe(to)),
          kAtomicRule);
  return fits;
}

Expr* Sema::atomic(std::vector<Expr*> args, int first, int last) {
  Expr* const e = make(Node::atomic, first, last, first);
  e->special = true;
  e->has_effect = true;
  e->number = next_number();
  e->args = std::move(args);
  forget_gets();
  if (e->args.size() < 2) {
    error(e, "atomic with fewer than two arguments", kAtomicRule);
    return bad(e);
  }
  Expr* const callee = strip(e->args[0]);
  if (is_error(callee->type)) return bad(e);
  if (callee->node != Node::name || callee->type->kind != Kind::function ||
      callee->symbol->depth != 0) {
    error(callee, "the first argument of atomic is not the name of a function of the file",
          kAtomicRule);
    return bad(e);
  }
  Type* const function = callee->type;
  if (e->args[1]->mode == Mode::remote && e->args[1]->type->kind != Kind::array &&
      !is_word(e->args[1]->type)) {
    e->args[1] = address(e->args[1], e->args[1]->first);
  } else {
    e->args[1] = value(e->args[1]);
  }
  if (is_error(e->args[1]->type)) return bad(e);
  if (!is_word(value_type(e->args[1]))) {
    error(e->args[1],
          fmt::format("the second argument of atomic is '{}'", describe(e->args[1]->type)),
          std::string(kAtomicRule) +
              (is_local_pointer(value_type(e->args[1]))
                   ? ". toglobal(MYPROC, pointer) points to this process' object"
                   : ""));
    return bad(e);
  }
  const std::size_t given = e->args.size() - 1;
  if (function->has_prototype && (function->is_variadic || function->parameters.size() != given)) {
    error(e,
          fmt::format("{} takes {} arguments, not {}", callee->symbol->name,
                      function->parameters.size(), given),
          kAtomicRule);
    return bad(e);
  }
  if (function->has_prototype &&
      !check_atomic_pointer(callee, e->args[1], function->parameters.front().type))
    return bad(e);
  int bytes = 8;
  for (std::size_t i = 2; i < e->args.size(); ++i) {
    e->args[i] = function->has_prototype
                     ? convert(e->args[i], function->parameters[i - 1].type, Use::argument)
                     : value(e->args[i]);
    Type* const type = promoted(value_type(e->args[i]));
    if (is_error(type)) return bad(e);
    if (!is_scalar(type) && !is_record(type)) {
      error(e->args[i], fmt::format("an argument of type '{}' cannot travel", describe(type)));
      return bad(e);
    }
    if (is_record(type) && type->tag->depth > 0) {
      error(e->args[i], "a structure that is declared in a function cannot travel with atomic");
      return bad(e);
    }
    bytes += 8;
    spell(type);
  }
  if (bytes > kAtomicBytes) {
    error(
        e, "more than 40 bytes of arguments for atomic",
        "they travel in one message: bulk_write the rest to the owner before, and pass its address "
        "there");
    return bad(e);
  }
  e->type = function->base;
  spell(e->type);
  spell(value_type(e->args[1]));
  return e;
}

}  // namespace viaduct::splitcc
