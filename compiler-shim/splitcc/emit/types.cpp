// Types and sizes as text of C.

#include <fmt/format.h>
#include <utility>

#include "compiler-shim/splitcc/emit/emitter.hpp"

namespace viaduct::splitcc {

std::string Emitter::bound(const Bound& b) {
  if (!b.snapshot.empty()) return b.snapshot;
  if (b.size == nullptr) return "0";
  // Names may mean something else where the bound is written again.
  if (b.value >= 0) return fmt::format("{}UL", b.value);
  return fmt::format("(unsigned long)({})", text_of(b.size));
}

std::string Emitter::product(const std::vector<Bound>& bounds, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < bounds.size(); ++i) {
    if (!text.empty()) text += " * ";
    text += bound(bounds[i]);
  }
  return text.empty() ? "1UL" : text;
}

// Bytes of an element.
std::string Emitter::size_of(const Type* type) {
  if (type->kind == Kind::void_type || type->kind == Kind::function) return "1UL";
  if (type->kind != Kind::array) return fmt::format("sizeof({})", name_of(type));
  std::string text;
  const Type* t = type;
  for (; t->kind == Kind::array; t = t->base) text += bound(t->bounds.front()) + " * ";
  return "(" + text + size_of(t) + ")";
}

std::string Emitter::name_of(const Type* type, std::string inner) {
  switch (type->kind) {
    case Kind::global_pointer:
    case Kind::spread_pointer:
    case Kind::spread_array:
      return "vsc_word" + (inner.empty() ? std::string() : " " + inner);
    case Kind::pointer: {
      std::string outer = "*" + inner;
      if (type->base->kind == Kind::array || type->base->kind == Kind::function)
        outer = "(" + outer + ")";
      return name_of(type->base, std::move(outer));
    }
    case Kind::array: {
      const Bound& b = type->bounds.empty() ? Bound{} : type->bounds.front();
      return name_of(type->base, inner + "[" + (b.size == nullptr ? "" : bound(b)) + "]");
    }
    case Kind::function: {
      std::string list;
      for (const Parameter& p : type->parameters)
        list += (list.empty() ? "" : ", ") + name_of(p.type);
      if (type->is_variadic) list += ", ...";
      if (list.empty() && type->has_prototype) list = "void";
      return name_of(type->base, inner + "(" + list + ")");
    }
    default:
      break;
  }
  std::string name;
  if (type->tag != nullptr) {
    Tag& tag = *type->tag;
    if (tag.name.empty() || (tag.needs_name && tag.name.empty())) {
      tag.needs_name = true;
      tag.name = fmt::format("vsc_tag{}", ++tags_);
    }
    name = type->kind == Kind::enumeration ? "enum "
           : type->kind == Kind::structure ? "struct "
                                           : "union ";
    name += tag.name;
  } else if (!type->spelling.empty()) {
    name = type->spelling;
  } else {
    name = is_error(type) ? "int" : describe(type);
  }
  return inner.empty() ? name : name + " " + inner;
}

}  // namespace viaduct::splitcc
