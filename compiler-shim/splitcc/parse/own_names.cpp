// Names that the program and a header declare in different ways.

#include <fmt/format.h>
#include <utility>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {

// Whether the symbol has a name of its own in C, since a header declares its name otherwise.
bool Parser::is_own(const Symbol& symbol) { return symbol.emitted.rfind(kOwnPrefix, 0) == 0; }

// Whether the declaration or call at @p token is of a function `sync` that this file defines, and
// not of Split-C's.
bool Parser::is_own_sync(int token) {
  return !token_at(token).in_system_header && !is_in_library(token) && is_defined_here("sync");
}

bool Parser::is_in_library(int token) const {
  const int file = token_at(token).file;
  return file >= 0 && diagnostics_.file_name(file).find("include/split-c/") != std::string::npos;
}

// Whether a function of this name has a body in this file.
bool Parser::is_defined_here(std::string_view name) {
  if (!std::exchange(definitions_are_known_, true)) {
    int depth = 0;
    for (std::size_t i = 1; i + 1 < unit_.tokens.size(); ++i) {
      const Token& t = unit_.tokens[i];
      if (t.kind == Tok::l_brace || t.kind == Tok::l_paren || t.kind == Tok::l_bracket) ++depth;
      if (t.kind == Tok::r_brace || t.kind == Tok::r_paren || t.kind == Tok::r_bracket) --depth;
      if (depth != 0 || t.kind != Tok::r_paren || t.in_system_header) continue;
      const Tok next = unit_.tokens[i + 1].kind;
      if (next == Tok::semicolon || next == Tok::comma || next == Tok::equal ||
          next == Tok::kw_attribute || next == Tok::kw_asm || next == Tok::l_paren ||
          next == Tok::l_bracket)
        continue;
      std::size_t open = i;
      for (int inner = 0; open > 0; --open) {
        if (unit_.tokens[open].kind == Tok::r_paren) ++inner;
        if (unit_.tokens[open].kind == Tok::l_paren && --inner == 0) break;
      }
      if (open == 0 || unit_.tokens[open - 1].kind != Tok::identifier) continue;
      bool old = true;  // names and commas in turn
      for (std::size_t j = open + 1; j < i; ++j)
        old = old && unit_.tokens[j].kind == ((j - open) % 2 != 0 ? Tok::identifier : Tok::comma);
      defined_here_.emplace(unit_.tokens[open - 1].text, old);
    }
  }
  return defined_here_.count(name) != 0;
}

// Whether @p symbol is a header's function, of which this file has another one behind the token
// that stands now. A definition with a prototype may be the header's own function.
bool Parser::is_replaced_later(const Symbol& symbol) {
  if (symbol.what != Symbol::What::function || symbol.depth != 0 || symbol.is_implicit ||
      (!symbol.from_system && !symbol.is_library) || token().in_system_header ||
      is_in_library(at_) || !is_defined_here(symbol.name))
    return false;
  return defined_here_[symbol.name];
}

namespace {

// Types of one class are passed and returned in the same way.
int class_of(const Type* type) {
  return is_integer(type) || type->kind == Kind::void_type ? 0
         : is_floating(type)                               ? 1
         : is_local_pointer(type)                          ? 2
         : is_word(type)                                   ? 4
                                                           : 3;
}

// Whether the program declares the header's function, in the form of its time: char *malloc();
bool means_the_same(const Type* system, const Type* own) {
  if (class_of(system->base) != class_of(own->base) || class_of(own->base) == 3) return false;
  if (!own->has_prototype) return true;
  if (system->parameters.size() != own->parameters.size()) return false;
  for (std::size_t i = 0; i < own->parameters.size(); ++i)
    if (class_of(system->parameters[i].type) != class_of(own->parameters[i].type)) return false;
  return true;
}

bool is_same(const Type* a, const Type* b) {
  if (a == b || is_error(a) || is_error(b)) return true;
  if (a->kind != b->kind || a->tag != b->tag || a->is_const != b->is_const ||
      a->spelling != b->spelling)
    return false;
  if (a->kind == Kind::function && a->has_prototype && b->has_prototype) {
    if (a->parameters.size() != b->parameters.size() || a->is_variadic != b->is_variadic)
      return false;
    for (std::size_t i = 0; i < a->parameters.size(); ++i)
      if (!is_same(a->parameters[i].type, b->parameters[i].type)) return false;
  }
  // gcc takes `int f()` beside a prototype only where every call could be made without it.
  if (a->has_prototype != b->has_prototype &&
      (a->is_variadic || b->is_variadic || has_promoted_parameter(a) || has_promoted_parameter(b)))
    return false;
  return a->base == nullptr || b->base == nullptr ? a->base == b->base : is_same(a->base, b->base);
}

}  // namespace

// Headers of today declare more names than those of the time, and some with other types; Split-C's
// own headers declare more than those of one machine did. A name that the program declares in
// another way is the program's own: it gets another name in C, and its own name for the linker.
// Where the program only repeats a header's declaration, the header's counts.
Symbol* Parser::beside_system(Symbol* old, const Declarator& d, const Specifiers& s,
                              Symbol::What what, Type* type) {
  if (old == nullptr || (!old->from_system && !old->is_library) || old->is_implicit ||
      old->depth > 0 || (!old->emitted.empty() && old->emitted != "splitc_sync") ||
      token_at(d.name_token).in_system_header || is_in_library(d.name_token))
    return nullptr;
  const bool is_old_definition =
      what == Symbol::What::function && !type->has_prototype && is_defined_here(d.name);
  if (old->what == what && is_same(old->type, type) && !is_old_definition) return nullptr;
  if (what == Symbol::What::function && old->what == what && !is_defined_here(d.name) &&
      means_the_same(old->type, type)) {
    unit_.replaced[d.name_token] = fmt::format("vsc_old_{}_{}", sema_.next_number(), d.name);
    return old;
  }
  Symbol* const symbol = unit_.make_symbol(what, d.name, type, d.name_token);
  symbol->storage = s.storage;
  symbol->emitted = fmt::format("{}{}", kOwnPrefix, d.name);
  unit_.replaced[d.name_token] = symbol->emitted;
  if (what != Symbol::What::type_name) unit_.own_names.push_back(d.name);
  if (scopes_.depth() == 0)
    scopes_.add(symbol);
  else
    scopes_.replace_global(symbol);
  return symbol;
}

// As beside_system(): where a header has the name, the program's enumerator gets another one in C.
void Parser::add_enumerator(Symbol* symbol) {
  const Symbol* const old = scopes_.find_here(symbol->name);
  const bool takes_over = old != nullptr && scopes_.depth() == 0 &&
                          (old->from_system || old->is_library) &&
                          !token_at(symbol->token).in_system_header;
  if (!takes_over) return scopes_.add(symbol);
  symbol->emitted = fmt::format("{}{}", kOwnPrefix, symbol->name);
  unit_.replaced[symbol->token] = symbol->emitted;
  scopes_.replace_global(symbol);
}

}  // namespace viaduct::splitcc
