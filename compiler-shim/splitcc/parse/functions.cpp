// Function definitions.

#include <fmt/format.h>
#include <utility>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {

// gnu89: `extern inline` defines nothing for other files, and calls that are not inlined do not
// link. Each file has a copy of its own instead. Where the function has been declared before, gcc
// allows no `static`: the copy gets another name there, and the function's own name becomes a weak
// alias of it, which several files may have and which a real definition anywhere replaces.
void Parser::inline_definition(const Specifiers& s, Symbol* symbol) {
  if (!s.is_inline || s.storage != Storage::extern_) {
    // A real definition follows the inline one: gcc accepts the inline one unchanged then.
    if (symbol->inline_token < 0) return;
    if (symbol->emitted.empty()) unit_.replaced.erase(symbol->inline_token);
    symbol->emitted.clear();
    return;
  }
  if (s.is_gnu_inline || unit_.tokens[static_cast<std::size_t>(s.first)].in_system_header) return;
  symbol->inline_token = s.storage_token;
  unit_.replaced[s.storage_token] = "static";
  const bool declared = symbol->token < s.first || declared_before_.count(symbol->name) != 0;
  if (!declared || symbol->storage == Storage::static_ || !symbol->emitted.empty()) return;
  symbol->emitted = fmt::format("vsc_inline_{}", symbol->name);
  unit_.inline_copies.push_back(symbol);
}

bool Parser::function_definition(Specifiers& s, Declarator& d, int first) {
  Chunk& chunk = d.chunks.front();
  if (kind() != Tok::l_brace && !starts_declaration() && kind() != Tok::kw_register) {
    if (kind() == Tok::identifier || at_end()) fail_expected("';' or '{'", "");
    return false;
  }
  if (s.storage == Storage::typedef_) fail("a typedef has no body");
  const int line_end = at_ - 1;
  const bool outer = functions_.empty();
  const int anchor = outer ? first : functions_.front().anchor;
  Symbol* const symbol = add_symbol(d, s, d.type);
  if (symbol->is_defined) {
    sema_.error_at(d.name_token, fmt::format("'{}' is defined twice", d.name));
    diagnostics_.note(unit_.place(symbol->token), d.name, "the first one is here");
  }
  // gnu89: `extern inline` is no definition.
  symbol->is_defined = !(s.is_inline && s.storage == Storage::extern_);
  symbol->what = Symbol::What::function;
  if (symbol->is_defined && !token_at(d.name_token).in_system_header)
    unit_.defined.insert(symbol->name);
  inline_definition(s, symbol);
  if (!symbol->emitted.empty()) unit_.replaced[d.name_token] = symbol->emitted;
  // gcc gives a function another name for the linker only where a declaration precedes it.
  if (outer && is_own(*symbol)) unit_.forward[first].push_back(symbol);
  bool rewritten = is_rewritten(d);
  if (rewritten) {
    unit_.declarations.emplace_back();
    Declaration& head = unit_.declarations.back();
    head.first = first;
    head.last = line_end;
    head.specifiers = s;
    head.declarators.push_back(d);
    Edit edit;
    edit.what = Edit::What::declaration;
    edit.last = line_end;
    edit.declaration = &head;
    unit_.edits[first] = edit;
  }
  Function function;
  function.name = d.name;
  function.result = d.type->base;
  function.anchor = anchor;
  function.is_splitc_main = outer && d.name == "splitc_main";
  if (function.is_splitc_main) unit_.splitc_main = symbol;
  if (outer && d.name == "main")
    sema_.warn(Warning::plain, d.name_token, "a Split-C program begins with splitc_main, not main",
               "the runtime's main starts the processes and calls splitc_main in each");
  functions_.push_back(function);
  scopes_.enter();
  if (!chunk.identifiers.empty()) {
    old_parameters(chunk);
    if (!symbol->type->has_prototype) {
      symbol->type->old_parameters.clear();
      for (const Symbol* parameter : chunk.parameter_symbols)
        symbol->type->old_parameters.push_back(parameter->type);
    }
  } else {
    if (kind() != Tok::l_brace) fail_expected("'{'", "");
    for (Symbol* parameter : chunk.parameter_symbols) {
      if (!parameter->name.empty()) scopes_.add(parameter);
    }
  }
  if (outer) sema_.defined(d.name, chunk.parameter_symbols);
  const int open = at_;
  function_body(symbol, chunk);
  jumps_.function(d.name_token, open, at_ - 1);
  scopes_.leave();
  functions_.pop_back();
  if (outer) {
    check_jumps();
    sema_.forget_gets();
    sema_.forget_pointers();
  }
  return true;
}

// f(a, b) int *a; { ... }
void Parser::old_parameters(Chunk& chunk) {
  for (std::size_t i = 0; i < chunk.identifiers.size(); ++i) {
    Symbol* const symbol = unit_.make_symbol(Symbol::What::variable, chunk.identifiers[i],
                                             sema_.int_type(), chunk.identifier_tokens[i]);
    symbol->is_parameter = true;
    if (scopes_.find_here(symbol->name) != nullptr)
      sema_.error_at(symbol->token, fmt::format("two parameters are named '{}'", symbol->name));
    scopes_.add(symbol);
    chunk.parameter_symbols.push_back(symbol);
  }
  while (kind() != Tok::l_brace) {
    if (!starts_declaration()) fail_expected("'{' or a parameter's declaration", "");
    unit_.declarations.emplace_back();
    Declaration& all = unit_.declarations.back();
    all.first = at_;
    all.specifiers = specifiers(false);
    while (kind() != Tok::semicolon) {
      Declarator d;
      declarator(d, Context::declaration);
      d.tail_first = at_;
      skip_attributes(nullptr, &d);
      d.tail_last = at_ - 1;
      d.type = build(d, all.specifiers.type);
      Symbol* const symbol = scopes_.find_here(d.name);
      if (symbol == nullptr || !symbol->is_parameter) {
        sema_.error_at(d.name_token, fmt::format("'{}' is no parameter of this function", d.name));
      } else {
        Type* type = d.type;
        if (type->kind == Kind::array) type = unit_.types.pointer_to(type->base);
        if (type->kind == Kind::function) type = unit_.types.pointer_to(type);
        symbol->type = type;
        if (all.specifiers.storage == Storage::reg)
          symbol->register_token = all.specifiers.storage_token;
        d.symbol = symbol;
      }
      all.declarators.push_back(std::move(d));
      if (!accept(Tok::comma)) break;
    }
    all.last = expect(Tok::semicolon, "';'", " behind a parameter's declaration");
    finish_declaration(all);
  }
}

// Bounds of spread parameters, and of the arrays that they point to, keep their values of the
// function's beginning.
void Parser::snapshot_parameters(Chunk& chunk) {
  std::string text;
  for (Symbol* parameter : chunk.parameter_symbols) {
    for (Type* t = parameter->type; t != nullptr; t = t->base) {
      if (t->kind == Kind::function || t->kind == Kind::pointer) break;
      for (Bound& bound : t->bounds) {
        std::vector<std::string> names;
        snapshot(bound, parameter, names);
      }
    }
  }
}

void Parser::check_jumps() {
  for (const Jumps::Leak& leak : jumps_.take()) {
    const bool computed = token_at(leak.jump).kind == Tok::star;
    sema_.warn(Warning::plain, leak.jump,
               fmt::format("the spread array '{}' is not freed where this goto leaves its scope",
                           leak.array->name),
               computed ? "a computed goto frees nothing on its way: leave the scope by break, "
                          "return or the goto of a label"
                        : "a goto out of a nested function frees nothing on its way: let the "
                          "nested function return, and leave the scope then");
  }
}

// The arguments that the runtime can pass to splitc_main: argc, argv and the environment.
void Parser::program_parameters(const Chunk& chunk) {
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < chunk.parameter_symbols.size(); ++i) {
    const Symbol* const parameter = chunk.parameter_symbols[i];
    const bool fits = i == 0 ? is_integer(parameter->type)
                             : is_integer(parameter->type) || is_local_pointer(parameter->type);
    if (fits && i < kMost) continue;
    sema_.error_at(parameter->token,
                   i < kMost ? fmt::format("splitc_main's parameter {} is a '{}'", i + 1,
                                           describe(parameter->type))
                             : "splitc_main has more than three parameters",
                   "splitc_main(int argc, char **argv, char **environment): the last ones may be "
                   "missing, types too");
    return;
  }
}

void Parser::function_body(Symbol* symbol, Chunk& chunk) {
  snapshot_parameters(chunk);
  const int open = at_;
  unit_.entries[open] = chunk.parameter_symbols;
  sema_.enter_function(open);
  compound(false);
  sema_.leave_function();
  if (functions_.back().is_splitc_main) {
    program_parameters(chunk);
    const Type* const result = symbol->type->base;
    if (is_integer(result)) unit_.before[at_ - 1] = "return 0;";
  }
}

}  // namespace viaduct::splitcc
