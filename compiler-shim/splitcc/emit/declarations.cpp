// Declarations with words or spread arrays in them: one for each declarator.

#include <fmt/format.h>
#include <utility>

#include "compiler-shim/splitcc/emit/emitter.hpp"
#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {
namespace {

bool is_rewritten(const Declarator& d) {
  for (const Chunk& chunk : d.chunks)
    if (chunk.spread || chunk.pointer != Kind::pointer) return true;
  return d.type != nullptr && d.type->kind == Kind::spread_array;
}

}  // namespace

// The specifiers, without the members of a structure that is defined here.
void Emitter::specifiers(const Specifiers& s) {
  if (!s.defines_tag) {
    range(s.first, s.last);
    return;
  }
  if (s.first < s.tag_first) range(s.first, s.tag_first - 1);
  raw(" " + name_of(s.type) + " ");
  if (s.tag_last < s.last) range(s.tag_last + 1, s.last);
}

void Emitter::declaration(const Declaration& all) {
  const Specifiers& s = all.specifiers;
  const auto is_parameter = [](const Declarator& d) {
    return d.symbol != nullptr && d.symbol->is_parameter;
  };
  const bool of_parameters =
      s.defines_tag && !all.declarators.empty() && is_parameter(all.declarators.front());
  if (of_parameters) {
    // Among parameters gcc warns of a structure alone. A word has the type of a size.
    word_type_ = "__typeof__(sizeof(" + flat([&] { range(s.tag_first, s.tag_last); }) + "))";
  } else if (s.defines_tag) {
    // gcc warns of an unnamed structure that declares nothing.
    if (is_record(s.type)) (void)name_of(s.type);
    range(s.tag_first, s.tag_last);
    raw("; ");
  }
  for (const Declarator& d : all.declarators) declarator(all, d);
  static_words(all.last);
}

void Emitter::declarator(const Declaration& all, const Declarator& d) {
  const bool ends = unit_.tokens[static_cast<std::size_t>(all.last)].kind == Tok::semicolon;
  if (d.name_token >= 0) move_to(d.name_token);
  raw(" ");
  if (d.type->kind == Kind::spread_array && !is_error(d.type)) {
    spread_array(all, d);
    return;
  }
  const Specifiers& s = all.specifiers;
  const bool is_completed = d.symbol != nullptr && d.symbol->is_completed && is_const(d.type);
  const bool copied = !is_rewritten(d) && !is_completed;
  if (copied) {
    if (std::exchange(word_type_, "vsc_word") == "vsc_word")
      specifiers(s);
    else
      range(s.first, s.last);
    raw(" ");
    range(d.first, d.last);
  } else if (is_completed) {
    // The runtime writes the variable, and gcc must not know its first value: no const.
    raw(completed(s, d));
  } else {
    raw(storage_text(s) + word_declarator(s, d));
  }
  if (d.bits_last >= d.bits_first) range(d.bits_first, d.bits_last);
  if (d.tail_last >= d.tail_first && ends && copied) range(d.tail_first, d.tail_last);
  if (d.init != nullptr) {
    raw(d.keeps_padding ? std::string(" ") + kKeepsPadding + " = " : " = ");
    expr(d.init);
  }
  if (ends) raw(";");
}

void Emitter::spread_array(const Declaration& all, const Declarator& d) {
  const Specifiers& s = all.specifiers;
  const Type* const type = d.type;
  const Symbol* const symbol = d.symbol;
  if (symbol != nullptr && !symbol->is_parameter && symbol->depth > 0 &&
      s.storage == Storage::static_)
    return;  // the array stands before the function
  const bool automatic = symbol != nullptr && symbol->depth > 0 && !symbol->is_parameter &&
                         s.storage != Storage::extern_;
  if (!automatic) {
    raw((s.storage == Storage::reg ? "" : storage_text(s)) + word_declarator(s, d) + ";");
    return;
  }
  const auto keep = [&](const Bound& b) {
    if (!b.snapshot.empty())
      raw(fmt::format("const unsigned long {} = (unsigned long)({}); ", b.snapshot,
                      text_of(b.size)));
  };
  for (const Bound& b : type->bounds) keep(b);
  for (const Type* t = type->base; t->kind == Kind::array; t = t->base)
    for (const Bound& b : t->bounds) keep(b);
  // Jumps past this are refused, as gcc refuses them for arrays of variable size.
  raw(fmt::format("typedef char vsc_g{}[vsc_procs()] __attribute__((__unused__)); ", d.name_token));
  raw(
      fmt::format("{}{} __attribute__((__cleanup__(vsc_auto_free))){} = vsc_auto_spread({}, "
                  "{}, \"{}\", {});",
                  word_specifiers(s, d, "vsc_word"), d.name, word_tail(d), product(type->bounds, 0),
                  size_of(type->base), d.name, place_of(d.name_token)));
}

std::string Emitter::place_of(const Place& place) {
  std::string file;
  for (const char c : diagnostics_.file_name(place.file))
    file += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return fmt::format("\"{}\", {}", file, place.line);
}

// The declarations that must stand before a function: static local spread arrays, thunks, and
// functions that it calls and the file declares later.
void Emitter::before_function(int anchor) {
  const auto arrays = unit_.hoisted.find(anchor);
  const auto thunks = unit_.atomics.find(anchor);
  const auto forward = unit_.forward.find(anchor);
  if (arrays == unit_.hoisted.end() && thunks == unit_.atomics.end() &&
      forward == unit_.forward.end())
    return;
  move_to(anchor);
  if (forward != unit_.forward.end())
    for (const Symbol* s : forward->second) forward_declaration(*s);
  if (arrays != unit_.hoisted.end())
    for (const Symbol* s : arrays->second) raw(fmt::format("static vsc_word {}; ", s->emitted));
  if (thunks == unit_.atomics.end()) return;
  // gcc's messages about a call that atomic makes get the line of the atomic.
  for (const Expr* e : thunks->second) {
    if (is_error(e->type)) continue;
    marker(unit_.tokens[static_cast<std::size_t>(e->first)]);
    thunk(e);
  }
  marker(unit_.tokens[static_cast<std::size_t>(anchor)]);
}

/// Declares the function without parameters, as its calls were read, unless the definition has
/// parameters that calls without a prototype cannot pass: float, char and short, or "...".
void Emitter::forward_declaration(const Symbol& symbol) {
  Type type = *symbol.type;
  if (!has_promoted_parameter(&type) && !type.is_variadic) {
    type.parameters.clear();
    type.has_prototype = type.is_variadic = false;
  }
  raw((symbol.storage == Storage::static_ ? "static " : "") +
      name_of(&type, symbol.emitted.empty() ? std::string(symbol.name) : symbol.emitted) + "; ");
}

/// Only gcc knows the size of a structure. Where the arguments do not fit one message, or the
/// result does not, two declarations of one name differ, and gcc reports both. The name tells the
/// argument, or 0 for the result, and gcc_messages.cpp makes the sentence.
void Emitter::check_sizes(const Expr* e, const Type* function) {
  const std::string fits =
      fmt::format("sizeof(struct vsc_atomic_{}) <= {}", e->number, kAtomicBytes);
  const auto name_in = [this](const Expr* x) {
    const int last = strip(x)->last;
    const bool is_name = unit_.tokens[static_cast<std::size_t>(last)].kind == Tok::identifier;
    return is_name ? unit_.text(last) : std::string_view();
  };
  const auto line_of = [this](const Expr* x) {
    return unit_.tokens[static_cast<std::size_t>(x->first)].line;
  };
  const Type* const result = function->base;
  if (is_record(result) || result->kind == Kind::opaque)
    raw(fmt::format("extern char {0}[{1}]; extern char {0}[{1} > {2} ? 1 : {1}]; ",
                    fmt::format("vsc_long_{}_0_{}_{}", line_of(e), e->number, name_in(e->args[0])),
                    size_of(result), kAtomicBytes));
  bool any = false;
  for (std::size_t i = 2; i < e->args.size(); ++i) {
    const Type* const t =
        function->has_prototype ? function->parameters[i - 1].type : e->args[i]->type;
    if (!is_record(t)) continue;
    any = true;
    const std::string name = fmt::format(
        "vsc_long_{}_{}_{}_{}", line_of(e->args[i]), i + 1, e->number,
        function->has_prototype ? function->parameters[i - 1].name : name_in(e->args[i]));
    raw(fmt::format("extern char {0}[{1}]; extern char {0}[{2} ? {1} : 1]; ", name, size_of(t),
                    fits));
  }
  if (!any)
    raw(fmt::format("extern char vsc_fits_{}_{}[{} ? 1 : -1]; ", line_of(e), e->number, fits));
}

void Emitter::thunk(const Expr* e) {
  const Expr* callee = e->args[0];
  while (callee->node == Node::paren) callee = callee->a;
  const Symbol* const f = callee->symbol;
  const Type* const type = f->type;
  if (f->token >= e->first) raw(name_of(type, std::string(f->name)) + "; ");
  std::string fields = "void *vsc_p; ";
  std::string args = "((struct vsc_atomic_" + std::to_string(e->number) + " *)vsc_a)->vsc_p";
  for (std::size_t i = 2; i < e->args.size(); ++i) {
    const Type* t = type->has_prototype ? type->parameters[i - 1].type : e->args[i]->type;
    Type made;
    if (t->kind == Kind::array || t->kind == Kind::function) {
      made.kind = Kind::pointer;
      made.base = t->kind == Kind::array ? t->base : const_cast<Type*>(t);
      t = &made;
    }
    if (!type->has_prototype && t->kind == Kind::float_type)
      t = unit_.types.basic(Kind::double_type);
    fields += name_of(t, fmt::format("vsc_{}", i)) + "; ";
    args += fmt::format(", ((struct vsc_atomic_{} *)vsc_a)->vsc_{}", e->number, i);
  }
  raw(fmt::format("struct vsc_atomic_{} {{ {}}}; ", e->number, fields));
  check_sizes(e, type);
  const bool answers = type->base->kind != Kind::void_type;
  raw(fmt::format(
      "static void vsc_thunk_{}(const void *vsc_a, void *vsc_r) {{ (void)vsc_a; "
      "(void)vsc_r; {}{}({}); }} ",
      e->number, answers ? "*(" + name_of(unit_.types.pointer_to(type->base)) + ")vsc_r = " : "",
      f->emitted.empty() ? std::string(f->name) : f->emitted, args));
}

}  // namespace viaduct::splitcc
