// Declarations.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {
namespace {

void add_builtin(Unit& unit, Scopes& scopes, std::string_view name, const char* emitted) {
  Symbol* const symbol =
      unit.make_symbol(Symbol::What::builtin, name, unit.types.basic(Kind::integer));
  symbol->emitted = emitted;
  scopes.add(symbol);
}

Symbol::What what_is_declared(const Specifiers& s, const Type* type) {
  return s.storage == Storage::typedef_ ? Symbol::What::type_name
         : type->kind == Kind::function ? Symbol::What::function
                                        : Symbol::What::variable;
}

// Names of functions of Split-C's library.
bool is_library_name(std::string_view name) {
  static constexpr std::array kNames = {"barrier",       "store_sync",   "reset_store_sync",
                                        "spread_malloc", "spread_free",  "fetch_and_add",
                                        "test_and_set",  "cmp_and_swap", "get_seconds"};
  static constexpr std::array kBegins = {"bulk_",       "all_reduce_to_", "all_scan_",
                                         "all_bcast",   "all_gather",     "all_concat",
                                         "all_spread_", "all_malloc",     "all_store_sync"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kBegins.begin(), kBegins.end(), [name](std::string_view begin) {
           return name.substr(0, begin.size()) == begin;
         });
}

}  // namespace

void Parser::run() {
  add_builtin(unit_, scopes_, "__splitc_myproc", "vsc_myproc()");
  add_builtin(unit_, scopes_, "__splitc_procs", "vsc_procs()");
  add_builtin(unit_, scopes_, "__splitc_procslog", "vsc_procslog()");
  while (!at_end() && !diagnostics_.is_full()) {
    anchor_ = at_;
    try {
      external();
    } catch (const SyntaxError&) {
      scopes_.leave_to(0);
      functions_.clear();
      nesting_ = 0;
      if (at_ == anchor_) ++at_;
      skip_external();
    }
  }
  check_library();
  name_pointer_results();
}

// A function that stays undeclared in this file and whose result is used as a pointer gets a second
// name, declared with a pointer result.
void Parser::name_pointer_results() {
  for (const auto& [symbol, token] : unit_.pointer_calls) {
    if (scopes_.find(symbol->name) != symbol || is_library_name(symbol->name)) continue;
    unit_.replaced[token] = fmt::format("vsc_pointer_{}", symbol->name);
    unit_.pointer_results.insert(symbol->name);
    if (!diagnostics_.leaves_out(Idiom::undeclared_pointer))
      sema_.warn(Warning::plain, token,
                 fmt::format("'{}' is called without a declaration, and its result is a pointer",
                             symbol->name),
                 "a pointer has 64 bits, and an int, which the result would be, 32: the result is "
                 "taken for a pointer; declare the function");
  }
}

// Functions of the library that are called without its header: their results and arguments would
// be taken for int.
void Parser::check_library() {
  const Symbol* const barrier = scopes_.find("barrier");
  if (barrier != nullptr && barrier->is_library) return;
  for (const Symbol& s : unit_.symbols)
    if (s.is_implicit && is_library_name(s.name) && scopes_.find(s.name) == &s) {
      sema_.warn(Warning::plain, s.token,
                 fmt::format("'{}' is called without its declaration", s.name),
                 "#include <split-c/split-c.h> declares the library; without it results and "
                 "arguments count as int");
      return;
    }
}

void Parser::external() {
  skip_pragmas();
  if (at_end() || accept(Tok::semicolon)) return;
  anchor_ = at_;
  if (kind() == Tok::kw_asm) {
    ++at_;
    if (kind() == Tok::kw_volatile) ++at_;
    if (kind() != Tok::l_paren) fail_expected("'('", " behind asm");
    skip_balanced();
    expect(Tok::semicolon, "';'", "");
    return;
  }
  if (kind() == Tok::identifier && !starts_type() &&
      (kind(1) == Tok::identifier || (kind(1) == Tok::star && kind(2) == Tok::identifier)) &&
      kind(1) != Tok::l_paren)
    fail_type();
  if (kind() != Tok::identifier && kind() != Tok::star && kind() != Tok::l_paren &&
      !starts_declaration())
    fail_expected("a declaration", "");
  declaration(true);
}

// `_Static_assert(number, "text");`
void Parser::static_assertion() {
  ++at_;
  expect(Tok::l_paren, "'('", " behind _Static_assert");
  Expr* const e = root(sema_.value(conditional()));
  if (!is_integer(sema_.value_type(e)) && !is_error(e->type) && e->type->kind != Kind::opaque)
    sema_.error(e, fmt::format("_Static_assert of '{}'", describe(e->type)));
  if (accept(Tok::comma)) {
    if (kind() != Tok::string) fail_expected("a string", " in _Static_assert");
    string_parts();
  }
  expect(Tok::r_paren, "')'", " behind _Static_assert(...");
  expect(Tok::semicolon, "';'", "");
}

void Parser::declaration(bool at_file_scope) {
  if (kind() == Tok::kw_static_assert) return static_assertion();
  unit_.declarations.emplace_back();
  Declaration& all = unit_.declarations.back();
  all.first = at_;
  all.is_file_scope = at_file_scope;
  all.specifiers = specifiers(false);
  Specifiers& s = all.specifiers;
  bool first = true;
  const std::vector<StaticWord> outer_words = std::exchange(static_words_, {});
  while (kind() != Tok::semicolon) {
    Declarator d;
    declarator(d, Context::declaration);
    d.type = build(d, s.type);
    d.tail_first = at_;
    skip_attributes(&s, &d);
    d.tail_last = at_ - 1;
    d.is_vector = d.is_vector || s.is_vector;
    d.is_type_name = s.storage == Storage::typedef_;
    if (d.mode != Kind::error || d.is_vector) d.type = build(d, s.type);
    if (first && d.type->kind == Kind::function && !d.chunks.empty() &&
        d.chunks.front().what == Chunk::What::function && kind() != Tok::semicolon &&
        kind() != Tok::comma && kind() != Tok::equal) {
      if (function_definition(s, d, all.first)) return;
    }
    first = false;
    declare(d, s);
    if (accept(Tok::equal)) {
      if (s.storage == Storage::typedef_ || d.type->kind == Kind::function)
        fail("this takes no initializer");
      if (d.type->kind == Kind::spread_array)
        fail("an initializer for a spread array",
             "a spread array begins as zero; assign to its elements");
      const bool is_static = at_file_scope || s.storage == Storage::static_;
      const Part outer = std::exchange(part_, {});
      const std::size_t words = static_words_.size();
      const int equal = at_ - 1;
      d.init = initializer(d.type, is_static);
      // gcc 12 sets padding of initialized variables to zero, too, and behind such an array it may
      // hit another member.
      d.keeps_padding = !is_static && has_inner_array(d.type);
      if (d.keeps_padding) unit_.before[equal] += kKeepsPadding;
      part_ = outer;
      for (std::size_t i = words; i < static_words_.size(); ++i) static_words_[i].symbol = d.symbol;
      if (static_words_.size() > words && s.thread_token >= 0)
        sema_.error_at(
            s.thread_token,
            fmt::format("'{}' is one of each thread and begins as a pointer to an object", d.name),
            "the runtime adds the process to such a pointer once, before splitc_main: assign the "
            "pointer in each thread");
      if (static_words_.size() > words) d.symbol->is_completed = true;
      if (d.type->kind == Kind::opaque && d.symbol != nullptr && d.type->spelling == "__auto_type")
        d.symbol->type = sema_.unqualified(sema_.value_type(d.init));
      if (!is_static) sema_.note_pointer(d.symbol, d.init);
      root(d.init);
    }
    all.declarators.push_back(std::move(d));
    if (!accept(Tok::comma)) break;
  }
  if (!s.any_type && s.last < s.first && all.declarators.empty())
    fail_expected("a declaration", "");
  all.last = expect(Tok::semicolon, "';'", " behind a declaration");
  finish_declaration(all);
  if (!static_words_.empty()) unit_.static_words[all.last] = std::move(static_words_);
  static_words_ = outer_words;
}

// If one declarator of a declaration is rewritten, all are.
void Parser::finish_declaration(Declaration& declaration) {
  bool any = false;
  for (const Declarator& d : declaration.declarators)
    any = any || is_rewritten(d) ||
          // Where the variable has an initializer, const is left out of all its declarations.
          (d.symbol != nullptr && d.symbol->what == Symbol::What::variable &&
           !d.symbol->is_parameter && is_const(d.type) && holds_word(d.type));
  if (!any) return;
  Tag* const tag = declaration.specifiers.type->tag;
  if (tag != nullptr && declaration.specifiers.defines_tag && tag->name.empty())
    tag->needs_name = true;
  Edit edit;
  edit.what = Edit::What::declaration;
  edit.last = declaration.last;
  edit.declaration = &declaration;
  unit_.edits[declaration.first] = edit;
}

// The first bounds in which two declarations of one spread array differ, whatever PROCS is. gcc
// compares other arrays.
std::optional<std::pair<Linear, Linear>> Parser::other_bound(const Type* a, const Type* b) const {
  if (a->kind != Kind::spread_array || b->kind != Kind::spread_array) return std::nullopt;
  for (; a->kind == b->kind && !a->bounds.empty() && !b->bounds.empty(); a = a->base, b = b->base) {
    for (std::size_t i = 0; i < std::min(a->bounds.size(), b->bounds.size()); ++i) {
      const std::optional<Linear> left = sema_.known(a->bounds[i].size);
      const std::optional<Linear> right = sema_.known(b->bounds[i].size);
      if (left && right && left->procs == right->procs && left->fixed != right->fixed)
        return std::pair(*left, *right);
    }
  }
  return std::nullopt;
}

void Parser::say_other_bound(const Declarator& d, const Symbol& old,
                             const std::pair<Linear, Linear>& bounds) {
  sema_.error_at(d.name_token, fmt::format("'{}' is declared with the bound {} here", d.name,
                                           describe(bounds.second)));
  diagnostics_.note(unit_.place(old.token), d.name,
                    fmt::format("and with {} here", describe(bounds.first)));
}

// `extern int A[n]::;` in a function, of an array that the file has declared before.
void Parser::check_outer_array(const Declarator& d, const Type* type) {
  const Symbol* const outer = scopes_.find(d.name);
  if (outer == nullptr || outer->depth != 0 || outer->what != Symbol::What::variable) return;
  if (const auto bounds = other_bound(outer->type, type)) say_other_bound(d, *outer, *bounds);
}

Symbol* Parser::add_symbol(const Declarator& d, const Specifiers& s, Type* type) {
  Symbol* const old = scopes_.find_here(d.name);
  const bool is_function = type->kind == Kind::function;
  const Symbol::What what = what_is_declared(s, type);
  if (scopes_.depth() > 0 && s.storage == Storage::extern_) check_outer_array(d, type);
  if (Symbol* const other =
          beside_system(is_function ? scopes_.find(d.name) : old, d, s, what, type))
    return other;
  if (old != nullptr && !old->is_implicit) {
    const bool again =
        old->what == what && (scopes_.depth() == 0 || s.storage == Storage::extern_ ||
                              is_function || what == Symbol::What::type_name);
    if (!again) {
      sema_.error_at(d.name_token, fmt::format("'{}' is declared twice", d.name));
      diagnostics_.note(unit_.place(old->token), d.name, "the first one is here");
    } else if ((mentions_word(old->type) || mentions_word(type)) &&
               !is_compatible(old->type, type)) {
      sema_.error_at(d.name_token,
                     fmt::format("'{}' is declared as '{}' here", d.name, describe(type)));
      diagnostics_.note(unit_.place(old->token), d.name,
                        fmt::format("and as '{}' here", describe(old->type)));
    } else if (const auto bounds = other_bound(old->type, type)) {
      say_other_bound(d, *old, *bounds);
      return old;
    }
    const bool keeps = is_function && old->type->kind == Kind::function && !type->has_prototype &&
                       (old->type->has_prototype || !old->type->old_parameters.empty());
    const bool sized = type->kind == Kind::spread_array && type->bounds.front().size == nullptr;
    if (!keeps && !sized) {
      old->what = what;
      old->type = type;
    }
    old->from_system = old->from_system && token().in_system_header;
    old->is_library = old->is_library || is_in_library(d.name_token);
    return old;
  }
  if (is_function && scopes_.depth() > 0) declared_before_.insert(d.name);
  // A declaration in a function declares a function of file scope.
  if (const Symbol* const outer =
          is_function && scopes_.depth() > 0 ? scopes_.find(d.name) : nullptr;
      outer != nullptr && outer->what == Symbol::What::function && !type->has_prototype)
    type->old_parameters = outer->type->old_parameters;
  Symbol* const symbol = unit_.make_symbol(what, d.name, type, d.name_token);
  symbol->storage = s.storage;
  const Token& where = unit_.tokens[static_cast<std::size_t>(d.name_token)];
  symbol->from_system = where.in_system_header;
  symbol->is_library = is_in_library(d.name_token);
  if (s.storage == Storage::reg) symbol->register_token = s.storage_token;
  if (is_function && d.name == "sync" && scopes_.depth() == 0 && !is_own_sync(d.name_token))
    symbol->emitted = "splitc_sync";
  if (Symbol* const called = scopes_.find(d.name);
      is_function && what == Symbol::What::function && called != nullptr && called->is_implicit) {
    if (is_own(*called)) symbol->emitted = called->emitted;
    declare_before_use(*called, symbol, s);
  }
  // A declaration in a function of what the file has under another name in C.
  if (const Symbol* const outer = scopes_.depth() > 0 ? scopes_.find(d.name) : nullptr;
      outer != nullptr && outer->depth == 0 && is_own(*outer) &&
      (is_function || s.storage == Storage::extern_)) {
    symbol->emitted = outer->emitted;
    unit_.replaced[d.name_token] = symbol->emitted;
  }
  scopes_.add(symbol);
  return symbol;
}

// gcc 2 replaced the `int f()` that a call had declared by any later declaration of the file: f
// answers a pointer, nothing or a double, or is static. gcc refuses that today, so that the
// declaration is written before the function that calls f first. It is also written where f answers
// an int: a name such as log2 would be that of gcc's own function.
void Parser::declare_before_use(Symbol& implicit, const Symbol* symbol, const Specifiers& s) {
  const Type* const type = symbol->type;
  if (s.is_inline || implicit.first_anchor < 0 || implicit.type->base->kind != Kind::integer)
    return;
  if (type->base->kind == Kind::integer && s.storage != Storage::static_ &&
      !has_promoted_parameter(type) && !is_defined_here(symbol->name))
    return;
  for (const Type* t = type->base; t != nullptr; t = t->base)
    if (t->tag != nullptr && t->tag->depth > 0) return;
  unit_.forward[std::exchange(implicit.first_anchor, -1)].push_back(symbol);
}

void Parser::declare(Declarator& d, Specifiers& s) {
  if (d.type->kind == Kind::void_type && s.storage != Storage::typedef_ &&
      s.storage != Storage::extern_) {
    sema_.error_at(d.name_token, fmt::format("'{}' has type 'void'", d.name));
    d.type = sema_.error_type();
  }
  d.symbol = add_symbol(d, s, d.type);
  // The variable of old C libraries is an object of each thread today, as <errno.h> declares it.
  if (d.name == "errno" && is_integer(d.type) && kind() != Tok::equal &&
      (s.storage == Storage::extern_ || (s.storage == Storage::none && scopes_.depth() == 0))) {
    d.symbol->emitted = "(*__errno_location())";
    unit_.replaced[d.name_token] = fmt::format("(*vsc_old_{}_errno())", sema_.next_number());
    return;
  }
  if (!d.symbol->emitted.empty() && d.symbol->what == Symbol::What::function)
    unit_.replaced[d.name_token] = d.symbol->emitted;
  if (d.type->kind == Kind::spread_array) check_spread_array(d, s, d.symbol);
}

namespace {
bool uses_locals(const Expr* e) {
  if (e == nullptr) return false;
  if (e->node == Node::name && e->symbol != nullptr && e->symbol->depth > 0) return true;
  for (const Expr* arg : e->args)
    if (uses_locals(arg)) return true;
  return uses_locals(e->a) || uses_locals(e->b) || uses_locals(e->c);
}
}  // namespace

// The runtime allocates the elements of a spread array: what a declaration says of their memory has
// no effect.
void Parser::check_array_memory(const Declarator& d, const Specifiers& s) {
  const auto refuse = [&](int token, const std::string& what) {
    if (token >= 0)
      sema_.error_at(token, fmt::format("{} of the spread array '{}'", what, d.name),
                     "the runtime allocates the elements of a spread array, in all processes: "
                     "leave this out, or declare a pointer to memory of this kind");
  };
  refuse(s.thread_token, "a copy for each thread");
  refuse(s.alignas_token, "an alignment");
  int attribute = s.memory_attribute;
  for (const auto& [first, last] : d.attributes)
    if (attribute < 0) attribute = memory_attribute(first, last);
  if (attribute < 0) attribute = memory_attribute(d.tail_first, d.tail_last);
  if (attribute >= 0) refuse(attribute, fmt::format("the attribute '{}'", unit_.text(attribute)));
}

void Parser::check_spread_array(Declarator& d, const Specifiers& s, Symbol* symbol) {
  Type* const type = d.type;
  check_array_memory(d, s);
  if (d.is_vector)
    sema_.error_at(d.name_token,
                   fmt::format("the elements of the spread array '{}' are vectors without a name "
                               "for their type",
                               d.name),
                   "give the type a name: typedef int v4 __attribute__((vector_size(16)))");
  if (s.storage == Storage::typedef_) {
    bool constant = true;
    for (const Bound& b : type->bounds)
      constant = constant && (b.size == nullptr || b.size->is_constant);
    for (const Type* t = type->base; t->kind == Kind::array; t = t->base)
      for (const Bound& b : t->bounds)
        constant = constant && (b.size == nullptr || b.size->is_constant);
    if (!constant)
      sema_.error_at(d.name_token, "a typedef of a spread array with bounds that are not constant",
                     "constants and PROCS may be used; declare the array itself, or a typedef of a "
                     "spread pointer");
    sema_.spell(type->base);
    return;
  }
  sema_.spell(type->base);
  const bool is_static = scopes_.depth() == 0 || s.storage == Storage::static_;
  if (s.storage == Storage::extern_) return;
  if (type->bounds.front().size == nullptr) {
    sema_.error_at(d.name_token,
                   fmt::format("the size of the spread array '{}' is missing", d.name));
    return;
  }
  const auto each_bound = [&](auto&& visit) {
    for (Bound& b : type->bounds) visit(b);
    for (Type* t = type->base; t->kind == Kind::array; t = t->base)
      for (Bound& b : t->bounds) visit(b);
  };
  if (is_static) {
    each_bound([&](Bound& b) {
      if (b.size == nullptr) return;
      if (uses_locals(b.size))
        sema_.error(b.size, "the size of a static spread array uses a local variable",
                    "it is allocated before splitc_main: constants, PROCS and variables of the "
                    "file may be used");
    });
    unit_.statics.push_back({symbol, type, unit_.place(d.name_token)});
    if (scopes_.depth() > 0) {
      symbol->emitted = fmt::format("vsc_{}_{}", d.name, sema_.next_number());
      unit_.hoisted[functions_.empty() ? anchor_ : functions_.front().anchor].push_back(symbol);
    }
    return;
  }
  jumps_.array(symbol);
  each_bound([&](Bound& b) { snapshot(b, symbol, d.snapshots); });
}

// Keeps the bound's value in a variable, so that the bound does not change.
void Parser::snapshot(Bound& bound, Symbol* symbol, std::vector<std::string>& into) {
  (void)symbol;
  if (bound.size == nullptr || bound.size->is_constant || !bound.snapshot.empty()) return;
  bound.snapshot = fmt::format("vsc_n{}", sema_.next_number());
  into.push_back(bound.snapshot);
}

}  // namespace viaduct::splitcc
