// Casts, conditionals and commas as objects: gcc before version 4 let programs assign to them.

#include <fmt/format.h>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {
namespace {

// The object whose value e is, or e.
Expr* object_of(Expr* e) {
  const Expr* const inner = strip(e);
  return inner->node == Node::load ? inner->a : e;
}

bool is_one_type(const Type* a, const Type* b) {
  if (a->kind != b->kind) return false;
  return is_record(a) ? a->tag == b->tag : a->kind != Kind::opaque;
}

}  // namespace

// A conditional between two objects, or a comma with one on its right. Both objects of a
// conditional have one type, and belong to this process, or neither does. Answers one of the
// objects, or null.
const Expr* Sema::chosen(const Expr* e) const {
  const Expr* const inner = strip(e);
  const bool conditional = inner->node == Node::conditional && inner->b != nullptr;
  if (!conditional && inner->node != Node::comma) return nullptr;
  const auto part = [this](Expr* operand) -> const Expr* {
    const Expr* const object = strip(object_of(operand));
    if (object->mode == Mode::value) return chosen(object);
    const Kind kind = object->type->kind;
    const bool whole = kind == Kind::array || kind == Kind::spread_array ||
                       kind == Kind::function || kind == Kind::void_type;
    return whole || object->is_bit_field ? nullptr : object;
  };
  const Expr* const right = part(conditional ? inner->c : inner->b);
  if (right == nullptr || !conditional) return right;
  const Expr* const left = part(inner->b);
  const bool same =
      left != nullptr && left->mode == right->mode && is_one_type(left->type, right->type);
  return same ? left : nullptr;
}

// Makes an object of such a conditional or comma.
bool Sema::choose_object(Expr* e) {
  const Expr* const object = chosen(e);
  if (object == nullptr) return false;
  Expr* const inner = strip(e);
  const auto part = [this](Expr* operand) {
    Expr* const own = object_of(operand);
    if (strip(own)->mode == Mode::value) choose_object(own);
    if (strip(own)->node == Node::name && strip(own)->symbol->register_token >= 0)
      unit_.replaced[strip(own)->symbol->register_token] = "";  // its address is taken
    return own;
  };
  inner->b = part(inner->b);
  if (inner->node == Node::conditional) inner->c = part(inner->c);
  inner->as_lvalue = true;
  for (Expr* p = e;; p = p->a) {
    p->special = true;
    p->mode = object->mode;
    p->type = object->type;
    if (p == inner) break;
  }
  spell(inner->type);
  return true;
}

// (c ? a : b).v and (i++, a).v are objects where (c ? a : b) and (i++, a) are.
bool Sema::choose_member(Expr* e) {
  Expr* const inner = strip(e);
  if (inner->node != Node::member) return choose_object(e);
  if (inner->a->mode == Mode::value && !choose_member(inner->a)) return false;
  for (Expr* p = e;; p = p->a) {
    p->special = true;
    p->mode = inner->a->mode;
    if (p == inner) break;
  }
  if (inner->mode != Mode::remote) return true;
  inner->type_name = inner->a->type;
  spell(inner->type_name);
  spell(inner->type);
  return true;
}

// The sentence about a conditional or comma that is no object.
void Sema::no_object(Expr* e, const char* what) {
  Expr* const inner = strip(e);
  if (inner->node == Node::conditional && inner->b != nullptr) {
    const Expr* const left = object_of(inner->b);
    const Expr* const right = object_of(inner->c);
    const bool objects = left->mode != Mode::value && right->mode != Mode::value;
    if (objects && !is_one_type(left->type, right->type)) {
      error(e,
            fmt::format("{} a conditional of '{}' and '{}'", what, describe(left->type),
                        describe(right->type)),
            "the objects of a conditional that is assigned to have one type: write if and else");
      return;
    }
    if (objects && left->mode != right->mode) {
      error(e,
            fmt::format("{} a conditional of an object of this process and one of another", what),
            "write if and else, or choose between two global pointers: *(c ? g : h)");
      return;
    }
  }
  const bool of_vector = inner->node == Node::index && inner->a->node == Node::load;
  error(e, fmt::format("{} something that is not an object", what),
        of_vector ? "a vector of another process is written as a whole: read it into a variable, "
                    "change the element there, and write the variable"
                  : "");
}

// A cast to a type of the same size is its operand's memory, as for gcc 2. Any other cast converts:
// (char)x = v is (char)(x = (char)v). Assignments and steps alone do so.
bool Sema::cast_object(Expr* e, const char* what) {
  Expr* const inner = strip(e);
  Expr* const object = object_of(inner->a);
  Type* const to = inner->type;
  if (strip(object)->mode == Mode::value && !choose_member(object)) {
    error(e, fmt::format("{} something that is not an object", what));
    return false;
  }
  Type* const from = object->type;
  if (is_word(to) || mentions_word(from)) {
    error(e, fmt::format("{} a cast of a global pointer", what));
    return false;
  }
  const auto fits = [](const Type* t) {
    return word_bytes(t) != 0 || t->kind == Kind::float_type || t->kind == Kind::double_type;
  };
  if (!fits(to) || !fits(from) || strip(object)->is_bit_field) {
    error(e, fmt::format("{} a cast of {}", what,
                         strip(object)->is_bit_field ? std::string("a bit-field")
                                                     : fmt::format("'{}'", describe(from))));
    return false;
  }
  inner->a = object;
  inner->as_lvalue = true;
  const bool same =
      object->mode == Mode::local && word_bytes(to) != 0 && word_bytes(to) == word_bytes(from);
  for (Expr* p = e;; p = p->a) {
    p->special = true;
    if (same) p->mode = Mode::local;
    if (p == inner) break;
  }
  spell(to);
  spell(from);
  return true;
}

bool Sema::old_object(Expr* e, const char* what) {
  const Expr* const inner = strip(e);
  if (inner->node == Node::cast) return cast_object(e, what);
  if (choose_member(e)) return true;
  no_object(e, what);
  return false;
}

// An lvalue that is more than the target of an assignment.
Expr* Sema::object(Expr* e, const char* what) {
  Expr* const target = lvalue(e, what);
  if (target == nullptr || !is_converting_target(e)) return target;
  error(e, fmt::format("{} a cast to '{}'", what, describe(e->type)),
        "only =, op=, ++ and -- convert back to the type of the object: name the object itself");
  return nullptr;
}

// Whether the target of an assignment is a cast that converts.
bool is_converting_target(const Expr* target) {
  const Expr* const inner = strip(target);
  return inner->node == Node::cast && inner->as_lvalue && inner->mode == Mode::value;
}

}  // namespace viaduct::splitcc
