// Whether two types are the same to C, for _Generic. Global and spread pointers are one type in
// generated C, so that gcc cannot choose among them.

#include <algorithm>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {
namespace {

using Answer = std::optional<bool>;

// false, if one is; else unknown, if one is.
Answer both(Answer a, Answer b) {
  if ((a && !*a) || (b && !*b)) return false;
  return a && b ? Answer(true) : std::nullopt;
}

bool is_by_name(const Type* type) {
  return type->kind == Kind::opaque || type->kind == Kind::complex || type->kind == Kind::floatn ||
         type->kind == Kind::error;
}

Answer same_by_name(const Type* a, const Type* b) {
  const auto either = [&](Kind kind) { return a->kind == kind || b->kind == kind; };
  if (either(Kind::opaque) || either(Kind::error)) return std::nullopt;
  if (a->kind == Kind::floatn && b->kind == Kind::floatn)
    return a->spelling == b->spelling ? Answer(true) : std::nullopt;
  if (either(Kind::floatn) && is_floating(a) && is_floating(b) && !either(Kind::complex))
    return a->spelling == "__float80" || b->spelling == "__float80" ? std::nullopt : Answer(false);
  if (a->kind != b->kind || a->base == nullptr || b->base == nullptr) return false;
  return is_by_name(a->base) || is_by_name(b->base) ? same_by_name(a->base, b->base)
                                                    : Answer(a->base->kind == b->base->kind);
}

// Of types that are no pointers, arrays or functions.
Answer same_plain(const Type* a, const Type* b) {
  if (is_by_name(a) || is_by_name(b)) return same_by_name(a, b);
  // An enumeration is some integer type, too.
  if (a->kind != b->kind && (a->kind == Kind::enumeration || b->kind == Kind::enumeration))
    return is_integer(a) && is_integer(b) ? std::nullopt : Answer(false);
  return a->kind == b->kind && a->tag == b->tag;
}

}  // namespace

// The bounds of two arrays.
Answer Sema::same_bounds(const Type* a, const Type* b) const {
  if (a->bounds.size() != b->bounds.size()) return false;
  Answer same = true;
  for (std::size_t i = 0; i < a->bounds.size(); ++i) {
    const auto left = known(a->bounds[i].size);
    const auto right = known(b->bounds[i].size);
    same = both(same, left && right && left->procs == 0 && right->procs == 0
                          ? Answer(left->fixed == right->fixed)
                          : std::nullopt);
  }
  return same;
}

Answer Sema::same_type(const Type* a, const Type* b) const {
  if (a == b && !is_by_name(a)) return true;
  if (a->is_const != b->is_const || a->is_volatile != b->is_volatile) return false;
  const bool derived = a->base != nullptr && !is_by_name(a) && b->base != nullptr && !is_by_name(b);
  if (!derived) return same_plain(a, b);
  if (a->kind != b->kind) return false;
  Answer same = same_type(a->base, b->base);
  if (a->kind == Kind::array || a->kind == Kind::spread_array) return both(same, same_bounds(a, b));
  if (a->kind != Kind::function) return same;
  if (!a->has_prototype || !b->has_prototype) return both(same, std::nullopt);
  if (a->parameters.size() != b->parameters.size() || a->is_variadic != b->is_variadic)
    return false;
  for (std::size_t i = 0; i < a->parameters.size(); ++i)
    same = both(same, same_unqualified(a->parameters[i].type, b->parameters[i].type));
  return same;
}

// Without the qualifiers of the types themselves.
Answer Sema::same_unqualified(const Type* a, const Type* b) const {
  Type left = *a;
  Type right = *b;
  left.is_const = left.is_volatile = right.is_const = right.is_volatile = false;
  return same_type(&left, &right);
}

namespace {

bool is_sure_number(std::string_view text, const Type* type) {
  if (text.back() == '\'') return true;
  if (!is_floating(type)) return text.find_first_of("iIjJ") == std::string_view::npos;
  if (text.find_first_of("xX") != std::string_view::npos) return false;
  return text.back() == '.' || (text.back() >= '0' && text.back() <= '9') ||
         text.find_first_of("fFlL") == text.size() - 1;
}

bool is_basic(const Type* type) { return is_arithmetic(type) && !is_by_name(type); }

}  // namespace

// Whether e's type is exactly the one that C gives it. Sema is content with less elsewhere: a
// bit-field has the type that it is declared with.
bool Sema::is_sure(const Expr* e) const {
  e = strip(e);
  if (e == nullptr || is_by_name(e->type) || e->is_bit_field) return false;
  switch (e->node) {
    case Node::literal:
      return is_sure_number(unit_.text(e->first), e->type);
    case Node::string:
      return true;
    case Node::name:
      return e->symbol->what != Symbol::What::function || !e->symbol->is_implicit;
    case Node::cast:
    case Node::compound:
    case Node::size_of:
    case Node::size_of_type:
    case Node::to_local:
    case Node::to_proc:
      return true;
    case Node::member:
    case Node::arrow:
      return true;
    case Node::index:
    case Node::deref:
    case Node::load:
    case Node::decay:
    case Node::call:
    case Node::prefix:
    case Node::postfix:
    case Node::assign:
    case Node::address:
      return is_sure(e->a);
    case Node::comma:
      return is_sure(e->b);
    case Node::test:
      return true;
    case Node::unary:
      return is_basic(e->type) && e->a->type->kind != Kind::enumeration && is_sure(e->a);
    case Node::binary:
      return is_sure_binary(e);
    case Node::conditional:
      return is_basic(e->type) && e->type->kind != Kind::enumeration && e->b != nullptr &&
             is_sure(e->b) && is_sure(e->c);
    default:
      return false;
  }
}

bool Sema::is_sure_binary(const Expr* e) const {
  const auto points = [](const Expr* x) {
    return is_pointer(x->type) || x->type->kind == Kind::array;
  };
  const bool compares = e->op >= Tok::amp_amp && e->op <= Tok::greater_equal;
  if (compares || (points(e->a) && points(e->b))) return true;
  if (!is_sure(e->a) || !is_sure(e->b)) return false;
  if (is_pointer(e->type)) return true;
  // Some enumerations become unsigned.
  return is_basic(e->type) && e->a->type->kind != Kind::enumeration &&
         e->b->type->kind != Kind::enumeration;
}

}  // namespace viaduct::splitcc
