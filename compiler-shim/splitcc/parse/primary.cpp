// Primary and postfix expressions.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {

Expr* Parser::postfix() { return postfix_of(primary()); }

Expr* Parser::postfix_of(Expr* e) {
  for (;;) {
    const int at = at_;
    switch (kind()) {
      case Tok::l_bracket: {
        ++at_;
        const Brackets brackets(*this);
        Expr* const subscript = expression();
        const int last = expect(Tok::r_bracket, "']'", " behind a subscript");
        e = sema_.index(e, subscript, at, last);
        break;
      }
      case Tok::l_paren: {
        ++at_;
        std::vector<Expr*> args = arguments();
        e = sema_.call(e, std::move(args), at, at_ - 1);
        break;
      }
      case Tok::dot:
      case Tok::arrow: {
        ++at_;
        if (kind() != Tok::identifier) fail_expected("a member's name", "");
        const std::string_view name = text();
        const int last = at_++;
        e = sema_.member(e, unit_.tokens[static_cast<std::size_t>(at)].kind == Tok::arrow, name, at,
                         last);
        break;
      }
      case Tok::plus_plus:
      case Tok::minus_minus:
        ++at_;
        e = sema_.postfix(unit_.tokens[static_cast<std::size_t>(at)].kind, e, at);
        break;
      case Tok::spread_end:
        fail("'::' has no place in an expression",
             "'::' ends the spread dimensions of a declaration: int A[n]::[m]");
      default:
        return e;
    }
  }
}

// Behind '(': up to and with ')'.
std::vector<Expr*> Parser::arguments() {
  const Brackets brackets(*this);
  std::vector<Expr*> args;
  if (kind() != Tok::r_paren) {
    do args.push_back(assignment());
    while (accept(Tok::comma));
  }
  expect(Tok::r_paren, "')'", " behind the arguments");
  return args;
}

Expr* Parser::primary() {
  switch (kind()) {
    case Tok::integer:
      return sema_.integer(at_++);
    case Tok::floating:
      return sema_.floating(at_++);
    case Tok::character:
      return sema_.character(at_++);
    case Tok::string: {
      const int first = at_;
      string_parts();
      return sema_.string(first, at_ - 1);
    }
    case Tok::l_paren:
      return parenthesis();
    case Tok::identifier:
      return name();
    case Tok::kw_generic:
      return generic();
    default:
      fail_expected("an expression", "");
  }
}

namespace {
bool is_function_name(std::string_view word) {
  return word == "__FUNCTION__" || word == "__PRETTY_FUNCTION__" || word == "__func__";
}
}  // namespace

// The parts of a string, one behind the other. To gcc 2 the function's name was one, too. In C the
// function may have another name.
void Parser::string_parts() {
  for (;; ++at_) {
    if (kind() == Tok::string) continue;
    if (kind() != Tok::identifier || !is_function_name(text()) || functions_.empty()) return;
    unit_.replaced[at_] = fmt::format("\"{}\"", functions_.back().name);
  }
}

Expr* Parser::parenthesis() {
  const Brackets brackets(*this);
  const int first = at_++;
  if (kind() == Tok::l_brace) return statement_expression(first);
  Expr* const inner = expression();
  const int last = expect(Tok::r_paren, "')'", "");
  return sema_.paren(first, last, inner);
}

// ({ ... }): the value of the last statement, when that is an expression.
Expr* Parser::statement_expression(int first) {
  if (functions_.empty()) fail("({ ... }) stands in functions only");
  ++at_;
  scopes_.enter();
  const std::size_t edits = unit_.edits.size();
  Type* type = unit_.types.basic(Kind::void_type);
  Expr* last = nullptr;
  while (kind() != Tok::r_brace) {
    if (at_end()) fail_expected("'}'", "");
    type = unit_.types.basic(Kind::void_type);
    last = nullptr;
    const Tok k = kind();
    const bool plain = !starts_declaration() && k != Tok::l_brace && k != Tok::semicolon &&
                       !(k >= Tok::kw_if && k <= Tok::kw_goto) && k != Tok::kw_asm &&
                       k != Tok::kw_label && k != Tok::pragma &&
                       !(k == Tok::identifier && kind(1) == Tok::colon);
    if (!plain) {
      block_item();
      continue;
    }
    Expr* e = expression();
    expect(Tok::semicolon, "';'", " behind this statement");
    if (kind() == Tok::r_brace) {
      e = sema_.value(e);
      type = sema_.value_type(e);
      last = e;
    } else {
      e = sema_.unused(e);
    }
    root(e);
  }
  ++at_;
  scopes_.leave();
  const int end = expect(Tok::r_paren, "')'", " behind '}'");
  Expr* const e = sema_.make(Node::statement, first, end, first);
  e->type = type;
  e->has_effect = true;
  e->special = unit_.edits.size() != edits || (last != nullptr && last->special);
  return e;
}

// The result of a function without a declaration: int, except for built-in functions of gcc that
// answer pointers.
Type* Parser::undeclared_result(std::string_view name) {
  static constexpr std::array kVoid = {"malloc", "calloc",  "realloc", "alloca",
                                       "memcpy", "memmove", "memset",  "memchr"};
  static constexpr std::array kChar = {"strcpy",  "strncpy", "strcat", "strncat", "strchr",
                                       "strrchr", "strstr",  "strdup", "strpbrk", "index",
                                       "rindex",  "stpcpy",  "strndup"};
  const auto is_in = [name](const auto& table) {
    return std::find(table.begin(), table.end(), name) != table.end();
  };
  if (is_in(kVoid)) return unit_.types.pointer_to(unit_.types.basic(Kind::void_type));
  if (is_in(kChar)) return unit_.types.pointer_to(unit_.types.basic(Kind::character));
  return sema_.int_type();
}

Expr* Parser::name() {
  const std::string_view word = text();
  Symbol* symbol = scopes_.find(word);
  if (symbol != nullptr && kind(1) == Tok::l_paren && is_replaced_later(*symbol)) {
    symbol = implicit_function(word, true);
  } else if (symbol == nullptr || (symbol->is_implicit && word == "atomic")) {
    if (kind(1) == Tok::l_paren &&
        (word == "tolocal" || word == "toproc" || word == "toglobal" || word == "atomic"))
      return split_c_function();
    if (word.substr(0, 10) == "__builtin_" || word.substr(0, 7) == "__sync_" ||
        word.substr(0, 9) == "__atomic_")
      return builtin();
    if (is_function_name(word)) {
      const int first = at_;
      string_parts();
      if (at_ == first) ++at_;  // outside functions
      return sema_.string(first, at_ - 1);
    }
    if (kind(1) == Tok::star && names_space(2)) fail_type();  // foo *global
    if (kind(1) != Tok::l_paren) {
      sema_.error_at(at_, fmt::format("'{}' is not declared", word),
                     word == "MYPROC" || word == "PROCS" || word == "PROCSLOG"
                         ? "#include <split-c/split-c.h> declares it"
                         : "");
      Expr* const e = sema_.failed(at_, at_);
      ++at_;
      return e;
    }
    symbol = implicit_function(word, false);
  }
  const int at = at_++;
  if (!symbol->emitted.empty()) unit_.replaced[at] = symbol->emitted;
  return sema_.name(at, symbol);
}

// A call declares the function: int word(). @p own: a header declares another one of this name.
Symbol* Parser::implicit_function(std::string_view word, bool own) {
  Type* const result = own || is_defined_here(word) ? sema_.int_type() : undeclared_result(word);
  Symbol* const symbol = unit_.make_symbol(Symbol::What::function, word,
                                           unit_.types.make(Kind::function, result), at_);
  symbol->is_implicit = true;
  symbol->first_anchor = functions_.empty() ? anchor_ : functions_.front().anchor;
  if (own) {
    symbol->emitted = fmt::format("{}{}", kOwnPrefix, word);
    unit_.own_names.push_back(word);
    scopes_.replace_global(symbol);
  } else {
    if (word == "sync" && !is_own_sync(at_)) symbol->emitted = "splitc_sync";
    scopes_.add_global(symbol);
  }
  declared_before_.insert(word);
  return symbol;
}

Expr* Parser::split_c_function() {
  const int first = at_;
  const std::string_view word = text();
  at_ += 2;
  std::vector<Expr*> args = arguments();
  const int last = at_ - 1;
  if (word == "atomic") {
    Expr* const e = sema_.atomic(std::move(args), first, last);
    unit_.atomics[functions_.empty() ? anchor_ : functions_.front().anchor].push_back(e);
    return e;
  }
  const std::size_t wanted = word == "toglobal" ? 2 : 1;
  if (args.size() != wanted) {
    sema_.error_at(first, fmt::format("{} takes {} argument{}, not {}", word, wanted,
                                      wanted == 1 ? "" : "s", args.size()));
    return sema_.failed(first, last);
  }
  if (word == "tolocal") return sema_.to_local(args[0], first, last);
  if (word == "toproc") return sema_.to_proc(args[0], first, last);
  return sema_.to_global(args[0], args[1], first, last);
}

namespace {

// The results of gcc's built-in functions, where splitcc needs them.
Kind builtin_result(std::string_view name) {
  struct Entry {
    std::string_view name;
    Kind kind;
  };
  static constexpr std::array kTable = {
      Entry{"huge_val", Kind::double_type}, Entry{"inf", Kind::double_type},
      Entry{"nan", Kind::double_type},      Entry{"huge_valf", Kind::float_type},
      Entry{"inff", Kind::float_type},      Entry{"nanf", Kind::float_type},
      Entry{"expect", Kind::long_int},      Entry{"object_size", Kind::ulong},
      Entry{"strlen", Kind::ulong},         Entry{"bswap32", Kind::uint},
      Entry{"bswap64", Kind::ulong},        Entry{"bswap16", Kind::ushort},
      Entry{"va_start", Kind::void_type},   Entry{"va_end", Kind::void_type},
      Entry{"va_copy", Kind::void_type},    Entry{"trap", Kind::void_type},
      Entry{"abort", Kind::void_type},      Entry{"unreachable", Kind::void_type},
      Entry{"prefetch", Kind::void_type},   Entry{"fabs", Kind::double_type},
      Entry{"sqrt", Kind::double_type},     Entry{"fabsf", Kind::float_type},
      Entry{"copysign", Kind::double_type}, Entry{"labs", Kind::long_int},
  };
  for (const Entry& e : kTable)
    if (e.name == name) return e.kind;
  return Kind::error;
}

bool answers_pointer(std::string_view name) {
  return name == "alloca" || name == "return_address" || name == "frame_address" ||
         name.substr(0, 3) == "mem" || name.substr(0, 2) == "__" || name == "malloc" ||
         name == "calloc" || name == "assume_aligned" || name == "strchr" || name == "strcpy" ||
         name == "strcat";
}

}  // namespace

// Functions of gcc's: the types among their arguments are read as such.
Expr* Parser::builtin() {
  const int first = at_;
  const std::string_view word = text();
  ++at_;
  Expr* const e = sema_.make(Node::other, first, first, first);
  e->type = sema_.int_type();
  if (kind() != Tok::l_paren) {
    e->type = unit_.types.basic(Kind::opaque);
    return e;
  }
  ++at_;
  Type* named = nullptr;
  std::vector<Type*> types;
  while (kind() != Tok::r_paren) {
    if (starts_type()) {
      int type_first = 0;
      int type_last = 0;
      named = type_name(&type_first, &type_last);
      note_type(named, type_first, type_last);
      types.push_back(named);
      e->special = e->special || mentions_word(named);
    } else {
      Expr* const arg = sema_.value(assignment());
      e->args.push_back(arg);
      e->special = e->special || arg->special;
      e->has_effect = e->has_effect || arg->has_effect;
    }
    if (word == "__builtin_offsetof" && accept(Tok::comma)) {
      while (kind() != Tok::r_paren && !at_end())
        if (accept(Tok::l_bracket)) {
          Expr* const index = sema_.value(expression());
          e->args.push_back(index);
          e->special = e->special || index->special;
          if (kind() != Tok::r_bracket) fail_expected("']'", " behind a subscript");
        } else {
          ++at_;
        }
      break;
    }
    if (!accept(Tok::comma)) break;
  }
  e->last = expect(Tok::r_paren, "')'", " behind the arguments");
  const std::string_view name = word.substr(0, 10) == "__builtin_" ? word.substr(10) : word;
  if (name == "va_arg" && named != nullptr) {
    e->type = named;
  } else if (name == "offsetof") {
    e->type = unit_.types.basic(Kind::ulong);
    e->is_constant = true;
  } else if (const Kind result = builtin_result(name); result != Kind::error) {
    e->type = unit_.types.basic(result);
  } else if (const Symbol* const own = scopes_.find(name);
             own != nullptr && own->type->kind == Kind::function) {
    e->type = own->type->base;
  } else if (name == "choose_expr" && e->args.size() == 3) {
    choose_expression(e);
  } else if (name == "types_compatible_p" && types.size() == 2) {
    compatible_types(e, types[0], types[1]);
  } else if (word.substr(0, 2) == "__" && word.substr(0, 10) != "__builtin_") {
    if (!e->args.empty() && is_local_pointer(sema_.value_type(e->args[0])))
      e->type = sema_.value_type(e->args[0])->base;
    if (e->type->kind == Kind::void_type) e->type = sema_.int_type();
  } else if (answers_pointer(name)) {
    e->type = unit_.types.pointer_to(unit_.types.basic(Kind::void_type));
  }
  return e;
}

}  // namespace viaduct::splitcc
