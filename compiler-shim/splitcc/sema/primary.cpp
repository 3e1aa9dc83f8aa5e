// Names, literals, members, subscripts, calls.

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <utility>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {

Expr* Sema::integer(int token) {
  Expr* const e = make(Node::literal, token, token, token);
  const std::string_view text = unit_.text(token);
  e->is_constant = true;
  std::size_t digits = text.size();
  bool is_unsigned = false;
  bool is_imaginary = false;
  int longs = 0;
  while (digits > 0) {
    const char c = static_cast<char>(text[digits - 1] | 32);
    if (c == 'u')
      is_unsigned = true;
    else if (c == 'l')
      ++longs;
    else if (c == 'i' || c == 'j')
      is_imaginary = true;
    else
      break;
    --digits;
  }
  const bool hex = text.size() > 1 && text[0] == '0' && (text[1] | 32) == 'x';
  const bool octal = !hex && text[0] == '0';
  unsigned long long number = 0;
  std::from_chars(text.data() + (hex ? 2 : 0), text.data() + digits, number,
                  hex     ? 16
                  : octal ? 8
                          : 10);
  e->is_zero =
      number == 0 && !is_imaginary && text.find_first_of("123456789") == std::string_view::npos;
  Kind kind = Kind::integer;
  if (longs > 1)
    kind = is_unsigned || number > 0x7fffffffffffffffULL ? Kind::ullong : Kind::llong;
  else if (longs > 0 || number > 0xffffffffULL || (!hex && !octal && number > 0x7fffffffULL))
    kind = is_unsigned || number > 0x7fffffffffffffffULL ? Kind::ulong : Kind::long_int;
  else if (is_unsigned || number > 0x7fffffffULL)
    kind = Kind::uint;
  e->type = unit_.types.basic(kind);
  if (is_imaginary) e->type = unit_.types.make(Kind::complex, e->type);
  return e;
}

Expr* Sema::floating(int token) {
  Expr* const e = make(Node::literal, token, token, token);
  e->is_constant = true;
  const std::string_view text = unit_.text(token);
  const char last = static_cast<char>(text[text.find_last_not_of("iIjJ")] | 32);
  const bool hex = text.find_first_of("xX") != std::string_view::npos;
  e->type = unit_.types.basic(last == 'f' && !hex ? Kind::float_type
                              : last == 'l'       ? Kind::ldouble
                                                  : Kind::double_type);
  if (text.find_first_of("iIjJ") != std::string_view::npos)
    e->type = unit_.types.make(Kind::complex, e->type);
  return e;
}

namespace {
// By the prefix of a literal: L, u, U.
Kind character_kind(std::string_view literal, Kind without) {
  if (literal.size() < 2 || (literal[1] != '"' && literal[1] != '\'')) return without;
  return literal[0] == 'L'   ? Kind::integer
         : literal[0] == 'u' ? Kind::ushort
         : literal[0] == 'U' ? Kind::uint
                             : without;
}
}  // namespace

Expr* Sema::character(int token) {
  Expr* const e = make(Node::literal, token, token, token);
  e->is_constant = true;
  e->type = unit_.types.basic(character_kind(unit_.text(token), Kind::integer));
  e->is_zero = unit_.text(token) == "'\\0'";
  return e;
}

Expr* Sema::string(int first, int last) {
  Expr* const e = make(Node::string, first, last, first);
  // One part with a prefix is enough.
  Kind kind = Kind::character;
  for (int i = first; i <= last; ++i) kind = character_kind(unit_.text(i), kind);
  e->type = unit_.types.make(Kind::array, unit_.types.basic(kind));
  e->mode = Mode::local;
  e->is_constant = true;
  return e;
}

Expr* Sema::name(int token, Symbol* symbol) {
  Expr* const e = make(Node::name, token, token, token);
  e->symbol = symbol;
  if (symbol->first_use < 0) symbol->first_use = token;
  e->type = symbol->type;
  switch (symbol->what) {
    case Symbol::What::enumerator:
      e->is_constant = true;
      e->is_zero = symbol->has_value && symbol->number == 0;
      break;
    case Symbol::What::builtin:
      e->is_constant = true;
      e->type = int_type();
      break;
    case Symbol::What::type_name:
      error_at(token, fmt::format("'{}' is a type, not a value", symbol->name));
      return bad(e);
    case Symbol::What::function:
      break;
    case Symbol::What::variable:
      e->mode = Mode::local;
      e->is_register = symbol->storage == Storage::reg;
      break;
  }
  if (e->type->kind == Kind::spread_array) e->element_of_spread = true;
  return e;
}

Expr* Sema::paren(int first, int last, Expr* inner) {
  Expr* const e = make(Node::paren, first, last, inner->at);
  e->a = inner;
  e->mode = inner->mode;
  e->type = inner->type;
  e->is_zero = inner->is_zero;
  e->is_bit_field = inner->is_bit_field;
  e->is_register = inner->is_register;
  e->element_of_spread = inner->element_of_spread;
  join(e);
  return e;
}

Expr* Sema::index(Expr* base, Expr* subscript, int at, int last) {
  Expr* const e = make(Node::index, base->first, last, at);
  if (is_integer(base->type) && is_word(value_type(subscript))) std::swap(base, subscript);  // 2[g]
  if (base->type->kind != Kind::spread_array) base = value(base);
  subscript = value(subscript);
  Type* type = base->type->kind == Kind::spread_array ? base->type : value_type(base);
  Type* sub = value_type(subscript);
  if (is_integer(type) && is_local_pointer(sub)) std::swap(type, sub);  // 2[a]
  e->a = base;
  e->b = subscript;
  join(e);
  if (is_error(type) || is_error(sub)) return bad(e);
  if (!is_integer(sub)) {
    error(subscript,
          fmt::format("a subscript must be a whole number, this is '{}'", describe(sub)));
    return bad(e);
  }
  if (type->kind == Kind::spread_array) {
    e->special = true;
    e->element_of_spread = true;
    spell(type->base);
    if (type->bounds.size() > 1) {
      e->type = unit_.types.make(Kind::spread_array, type->base);
      e->type->bounds.assign(type->bounds.begin() + 1, type->bounds.end());
      return e;
    }
    e->type = type->base;
    e->mode = Mode::remote;
    return e;
  }
  if (type->kind == Kind::opaque) {  // a vector
    e->mode = base->node == Node::load ? Mode::value : Mode::local;
    e->type = type;
    return e;
  }
  if (!is_pointer(type)) {
    error(e, fmt::format("a value of type '{}' has no elements", describe(type)));
    return bad(e);
  }
  e->type = type->base;
  e->mode = is_word(type) ? Mode::remote : Mode::local;
  note_own(is_pointer(base->type) ? base : subscript, e);
  if (is_word(type)) {
    e->special = true;
    e->element_of_spread = type->kind == Kind::spread_pointer;
    spell(type->base);
  }
  return e;
}

// The member of a const or volatile structure is const or volatile, too.
Type* Sema::member_type(const Type* record, const Member* member) {
  bool any_const = false;
  bool any_volatile = false;
  for (const Member* step = nullptr; step != member; record = step->type) {
    any_const = any_const || record->is_const;
    any_volatile = any_volatile || record->is_volatile;
    const std::vector<Member>& steps = record->tag->members;
    step = &*std::find_if(steps.begin(), steps.end(), [member](const Member& m) {
      return &m == member || (m.name.empty() && is_record(m.type) &&
                              find_member(m.type->tag, member->name) == member);
    });
  }
  return any_const || any_volatile ? unit_.types.qualified(member->type, any_const, any_volatile)
                                   : member->type;
}

Expr* Sema::member(Expr* base, bool through_pointer, std::string_view name, int at, int last) {
  Expr* const e = make(through_pointer ? Node::arrow : Node::member, base->first, last, at);
  if (through_pointer) base = value(base);
  e->a = base;
  e->member_name = name;
  join(e);
  e->is_constant = false;
  Type* record = base->type;
  if (through_pointer) {
    Type* const pointer = value_type(base);
    if (is_error(pointer)) return bad(e);
    if (!is_pointer(pointer)) {
      error(e, fmt::format("-> needs a pointer to a structure, this is '{}'", describe(pointer)));
      return bad(e);
    }
    record = pointer->base;
    note_own(base, e);
    e->mode = is_word(pointer) ? Mode::remote : Mode::local;
  } else {
    e->mode = base->mode;
    if (base->type->kind == Kind::spread_array) record = unit_.types.basic(Kind::void_type);
  }
  if (is_error(record) || record->kind == Kind::opaque) return bad(e);
  if (!is_record(record)) {
    error(e, fmt::format("'{}' is no structure and has no member '{}'", describe(record), name));
    return bad(e);
  }
  if (!record->tag->is_complete) {
    error(e, fmt::format("'{}' is not defined, its members are not known", describe(record)));
    return bad(e);
  }
  const Member* const found = find_member(record->tag, name);
  if (found == nullptr) {
    error_at(last, fmt::format("'{}' has no member '{}'", describe(record), name));
    return bad(e);
  }
  e->member = found;
  e->type = member_type(record, found);
  e->is_bit_field = found->is_bit_field;
  // An array's elements may be assigned to.
  if (e->mode == Mode::value && e->type->kind == Kind::array && !choose_member(e))
    e->mode = Mode::local;
  if (e->mode == Mode::remote) {
    e->special = true;
    e->type_name = record;
    spell(record);
    spell(e->type);
  }
  return e;
}

void Sema::check_arguments(Expr* e, Type* function) {
  const std::size_t given = e->args.size();
  const std::size_t wanted = function->parameters.size();
  const Expr* const name = strip(e->a);
  const std::string who =
      name->node == Node::name ? std::string(name->symbol->name) : "the function";
  if (function->has_prototype && (given < wanted || (given > wanted && !function->is_variadic))) {
    error(e->a, fmt::format("{} takes {} argument{}, not {}", who, wanted, wanted == 1 ? "" : "s",
                            given));
    return;
  }
  for (std::size_t i = 0; i < given; ++i) {
    if (function->has_prototype && i < wanted) {
      e->args[i] = convert(e->args[i], function->parameters[i].type, Use::argument,
                           fmt::format("argument {} of {}", i + 1, who));
      if (is_local_pointer(function->parameters[i].type)) note_own(e->args[i], nullptr);
    } else {
      e->args[i] = value(e->args[i]);
      if (value_type(e->args[i])->kind == Kind::void_type)
        error(e->args[i], fmt::format("argument {} of {} has no value", i + 1, who));
      else if (name->node == Node::name && name->symbol->is_implicit &&
               is_word(value_type(e->args[i])) && is_local_pointer(function->base))
        // A function such as memcpy, which splitcc knows.
        e->args[i] = convert(e->args[i], unit_.types.pointer_to(unit_.types.basic(Kind::void_type)),
                             Use::argument, fmt::format("argument {} of {}", i + 1, who));
      else if (i >= function->old_parameters.size())
        passed_[e->args[i]] = foreign(e->args[i]);
      else
        e->args[i] = old_argument(e->args[i], function->old_parameters[i],
                                  fmt::format("argument {} of {}", i + 1, who));
    }
  }
  if (!function->has_prototype && function->old_parameters.empty() && name->node == Node::name &&
      name->symbol->what == Symbol::What::function)
    undeclared_[name->symbol->name].push_back(e);
}

// Without a prototype C converts nothing; but a local pointer passed for a word would name process
// 0, so that it is converted.
Expr* Sema::old_argument(Expr* arg, Type* to, const std::string& what) {
  Type* const from = value_type(arg);
  if (to->kind == Kind::spread_array) to = unit_.types.make(Kind::spread_pointer, to->base);
  if (is_word(to) && (arg->is_zero || is_local_pointer(from)))
    return convert(arg, to, Use::argument, what);
  if (is_local_pointer(to)) note_own(arg, nullptr);
  if (is_local_pointer(to) && is_word(from)) warn_process_lost(arg, to, what);
  return arg;
}

void Sema::warn_process_lost(const Expr* arg, const Type* to, const std::string& what) {
  warn(Warning::plain, arg->at,
       fmt::format("{} is '{}', where '{}' is declared", what, describe(value_type(arg)),
                   describe(to)),
       "without a prototype nothing is converted; tolocal(...) takes the process away");
}

// The calls have been read already: text around their arguments converts plain C.
void Sema::defined(std::string_view name, const std::vector<Symbol*>& parameters) {
  const auto calls = undeclared_.find(name);
  if (calls == undeclared_.end()) return;
  for (Expr* call : calls->second) {
    for (std::size_t i = 0; i < call->args.size() && i < parameters.size(); ++i) {
      Expr* const arg = call->args[i];
      const Kind to = parameters[i]->type->kind;
      const auto passed = passed_.find(arg);
      if (passed != passed_.end() && passed->second.object != nullptr &&
          (to == Kind::pointer || to == Kind::global_pointer))
        warn_foreign({nullptr, arg, passed->second, to == Kind::global_pointer});
      if (to == Kind::pointer && is_word(value_type(arg)))
        warn_process_lost(arg, parameters[i]->type, fmt::format("argument {} of {}", i + 1, name));
      if (!is_word(parameters[i]->type) && to != Kind::spread_array) continue;
      if (!arg->is_zero && !is_local_pointer(value_type(arg))) continue;
      if (!arg->is_zero && (arg->special || to != Kind::global_pointer)) {
        error(arg,
              fmt::format("argument {} of {}: '{}' does not become '{}' by itself", i + 1, name,
                          describe(value_type(arg)), describe(parameters[i]->type)),
              "the function is defined behind this call: declare it before, or write the cast");
        continue;
      }
      if (arg->special) continue;
      unit_.before[arg->first].insert(0, arg->is_zero ? "(vsc_word)(" : "vsc_global(");
      unit_.behind[arg->last] += ')';
    }
  }
  undeclared_.erase(calls);
}

Expr* Sema::call(Expr* callee, std::vector<Expr*> args, int at, int last) {
  called(callee);
  callee = value(callee);
  Expr* const e = make(Node::call, callee->first, last, at);
  e->a = callee;
  e->args = std::move(args);
  Type* function = callee->type;
  if (is_error(function)) {
    for (Expr*& arg : e->args) arg = value(arg);
    join(e);
    e->has_effect = true;
    return bad(e);
  }
  if (is_local_pointer(function)) function = function->base;
  if (function->kind != Kind::function) {
    error(
        callee, fmt::format("a value of type '{}' cannot be called", describe(callee->type)),
        is_word(callee->type) ? "atomic(f, pointer, ...) runs a function in another process" : "");
    return bad(e);
  }
  check_arguments(e, function);
  if (strip(callee)->node == Node::name && !strip(callee)->symbol->is_defined) check_bulk(e);
  e->type = function->base;
  join(e);
  const Expr* const name = strip(e->a);
  e->is_collective = name->node == Node::name && name->symbol->is_library &&
                     (name->symbol->name == "barrier" || name->symbol->name.substr(0, 4) == "all_");
  if (e->is_collective) e->special = true;
  e->is_constant = false;
  e->has_effect = true;
  return e;
}

}  // namespace viaduct::splitcc
