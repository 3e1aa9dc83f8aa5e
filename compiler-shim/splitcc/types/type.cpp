#include "compiler-shim/splitcc/types/type.hpp"

#include <algorithm>
#include <utility>

namespace viaduct::splitcc {

Types::Types() {
  for (int kind = 0; kind <= static_cast<int>(Kind::opaque); ++kind) {
    types_.emplace_back();
    types_.back().kind = static_cast<Kind>(kind);
    basic_.push_back(&types_.back());
  }
}

Type* Types::make(Kind kind, Type* base) {
  types_.emplace_back();
  types_.back().kind = kind;
  types_.back().base = base;
  return &types_.back();
}

Type* Types::spelled(Kind kind, std::string_view spelling) {
  Type* const type = make(kind);
  type->spelling = spelling;
  return type;
}

Type* Types::of_tag(Tag* tag) {
  Type* const type = make(tag->kind);
  type->tag = tag;
  return type;
}

Type* Types::qualified(const Type* type, bool is_const, bool is_volatile) {
  Type* const copy = make(type->kind);
  *copy = *type;
  if (type->kind == Kind::array || type->kind == Kind::spread_array) {
    copy->base = qualified(type->base, is_const, is_volatile);
  } else if (type->kind != Kind::function) {
    copy->is_const = copy->is_const || is_const;
    copy->is_volatile = copy->is_volatile || is_volatile;
  }
  return copy;
}

Tag* Types::make_tag(Kind kind, std::string name) {
  tags_.emplace_back();
  tags_.back().kind = kind;
  tags_.back().name = std::move(name);
  return &tags_.back();
}

bool is_integer(const Type* type) {
  return type->kind >= Kind::boolean && type->kind <= Kind::enumeration;
}
bool is_floating(const Type* type) {
  return type->kind >= Kind::float_type && type->kind <= Kind::complex;
}
bool is_arithmetic(const Type* type) {
  return type->kind >= Kind::boolean && type->kind <= Kind::complex;
}

bool holds_word(const Type* type) {
  if (type->kind == Kind::array) return holds_word(type->base);
  if (is_record(type)) return type->tag->holds_word;
  return is_word(type);
}

bool has_inner_array(const Type* type) {
  while (type->kind == Kind::array) type = type->base;
  return is_record(type) && type->tag->has_inner_array;
}

bool is_const(const Type* type) {
  while (type->kind == Kind::array) type = type->base;
  return type->is_const;
}

bool is_volatile(const Type* type) {
  while (type->kind == Kind::array) type = type->base;
  return type->is_volatile;
}

const Member* const_member(const Type* type) {
  while (type->kind == Kind::array) type = type->base;
  if (!is_record(type)) return nullptr;
  for (const Member& member : type->tag->members) {
    if (is_const(member.type)) return &member;
    if (const Member* const inner = const_member(member.type)) return inner;
  }
  return nullptr;
}

bool mentions_word(const Type* type) {
  for (; type != nullptr; type = type->base) {
    if (is_word(type) || type->kind == Kind::spread_array) return true;
    for (const Parameter& p : type->parameters)
      if (p.type != nullptr && mentions_word(p.type)) return true;
  }
  return false;
}

int word_bytes(const Type* type) {
  switch (type->kind) {
    case Kind::boolean:
    case Kind::character:
    case Kind::schar:
    case Kind::uchar:
      return 1;
    case Kind::short_int:
    case Kind::ushort:
      return 2;
    case Kind::integer:
    case Kind::uint:
      return 4;
    case Kind::enumeration:
      return type->tag->bytes;
    case Kind::long_int:
    case Kind::ulong:
    case Kind::llong:
    case Kind::ullong:
    case Kind::pointer:
    case Kind::global_pointer:
    case Kind::spread_pointer:
      return 8;
    default:
      return 0;
  }
}

bool has_promoted_parameter(const Type* function) {
  return function->has_prototype &&
         std::any_of(
             function->parameters.begin(), function->parameters.end(), [](const Parameter& p) {
               return p.type->kind == Kind::float_type ||
                      (is_integer(p.type) && word_bytes(p.type) < 4 && word_bytes(p.type) > 0);
             });
}

namespace {

const char* basic_name(Kind kind) {
  switch (kind) {
    case Kind::void_type:
      return "void";
    case Kind::boolean:
      return "_Bool";
    case Kind::character:
      return "char";
    case Kind::schar:
      return "signed char";
    case Kind::uchar:
      return "unsigned char";
    case Kind::short_int:
      return "short";
    case Kind::ushort:
      return "unsigned short";
    case Kind::integer:
      return "int";
    case Kind::uint:
      return "unsigned int";
    case Kind::long_int:
      return "long";
    case Kind::ulong:
      return "unsigned long";
    case Kind::llong:
      return "long long";
    case Kind::ullong:
      return "unsigned long long";
    case Kind::int128:
      return "__int128";
    case Kind::uint128:
      return "unsigned __int128";
    case Kind::float_type:
      return "float";
    case Kind::double_type:
      return "double";
    case Kind::ldouble:
      return "long double";
    default:
      return "";
  }
}

std::string describe_with(const Type* type, std::string inner) {
  switch (type->kind) {
    case Kind::pointer:
    case Kind::global_pointer:
    case Kind::spread_pointer: {
      const char* const word = type->kind == Kind::pointer          ? ""
                               : type->kind == Kind::global_pointer ? "global"
                                                                    : "spread";
      std::string outer = "*" + std::string(word);
      if (*word != '\0' && !inner.empty()) outer += ' ';
      outer += inner;
      const bool binds_tighter =
          type->base->kind == Kind::array || type->base->kind == Kind::function;
      if (binds_tighter) outer = "(" + outer + ")";
      return describe_with(type->base, std::move(outer));
    }
    case Kind::array:
      return describe_with(type->base, inner + "[]");
    case Kind::spread_array:
      for (std::size_t i = 0; i < type->bounds.size(); ++i) inner += "[]";
      return describe_with(type->base, inner + "::");
    case Kind::function: {
      std::string list;
      for (const Parameter& p : type->parameters) {
        if (!list.empty()) list += ", ";
        list += describe_with(p.type, "");
      }
      return describe_with(type->base, inner + "(" + list + ")");
    }
    default:
      break;
  }
  std::string name = type->kind == Kind::complex ? "_Complex " + describe_with(type->base, "")
                                                 : basic_name(type->kind);
  if (type->tag != nullptr) {
    name = type->kind == Kind::enumeration ? "enum "
           : type->kind == Kind::structure ? "struct "
                                           : "union ";
    name += type->tag->name.empty() ? "<unnamed>" : type->tag->name;
  }
  if (name.empty()) name = type->spelling.empty() ? "int" : std::string(type->spelling);
  if (!inner.empty()) name += ' ';
  return name + inner;
}

}  // namespace

std::string describe(const Type* type) { return describe_with(type, ""); }

bool is_compatible(const Type* a, const Type* b, int depth) {
  if (a == b || is_error(a) || is_error(b) || depth > 30) return true;
  if (is_arithmetic(a) && is_arithmetic(b)) {
    if (depth == 0) return true;
    const auto is_unsure = [](const Type* type) {
      return type->kind == Kind::enumeration && word_bytes(type) == 0;
    };
    if (is_unsure(a) || is_unsure(b)) return is_integer(a) && is_integer(b);
    // Behind a pointer the sign is often neglected in old programs, the size never.
    if (word_bytes(a) != 0 || word_bytes(b) != 0) return word_bytes(a) == word_bytes(b);
    return a->kind == b->kind;
  }
  if (a->kind == Kind::opaque || b->kind == Kind::opaque) return true;
  if (is_record(a) && is_record(b)) return a->tag == b->tag;
  if (a->kind != b->kind) return false;
  if (is_pointer(a)) {
    if (a->base->kind == Kind::void_type || b->base->kind == Kind::void_type) return true;
    return is_compatible(a->base, b->base, depth + 1);
  }
  if (a->kind == Kind::spread_array && a->bounds.size() != b->bounds.size()) return false;
  if (a->kind == Kind::array || a->kind == Kind::spread_array)
    return is_compatible(a->base, b->base, depth + 1);
  if (a->kind == Kind::function) {
    if (!is_compatible(a->base, b->base, depth + 1)) return false;
    if (!a->has_prototype || !b->has_prototype) return true;
    if (a->parameters.size() != b->parameters.size()) return false;
    for (std::size_t i = 0; i < a->parameters.size(); ++i)
      if (!is_compatible(a->parameters[i].type, b->parameters[i].type, depth + 1)) return false;
    return true;
  }
  return true;
}

const Member* find_member(const Tag* tag, std::string_view name) {
  for (const Member& member : tag->members) {
    if (member.name == name && !name.empty()) return &member;
    if (member.name.empty() && member.type != nullptr && is_record(member.type) &&
        member.type->tag != tag)
      if (const Member* const inner = find_member(member.type->tag, name)) return inner;
  }
  return nullptr;
}

}  // namespace viaduct::splitcc
