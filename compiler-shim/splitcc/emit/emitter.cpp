// Copying tokens line by line, and applying edits.

#include "compiler-shim/splitcc/emit/emitter.hpp"

#include <fmt/format.h>
#include <array>
#include <utility>

namespace viaduct::splitcc {

std::string Emitter::run(bool sequential) {
  // The first pass finds the unnamed structures that need a name, and the sizes of accesses; the
  // second pass writes them.
  pass(sequential);
  pass(sequential);
  return std::move(out_);
}

void Emitter::pass(bool sequential) {
  out_.clear();
  line_ = 0;
  file_ = -2;
  system_ = false;
  if (sequential) out_ += "#define VSC_SEQUENTIAL 1\n";
  out_ += fmt::format(
      "#define VSC_WORD_SIZES {}\n#define VSC_WALK_SIZES {}\n#define VSC_FLOAT_SIZES {}\n"
      "#include <split-c/runtime.h>\n",
      word_sizes_, walk_sizes_, float_sizes_);
  for (const std::string_view name : unit_.pointer_results)
    out_ += fmt::format("extern void *vsc_pointer_{0}() __asm__(\"{0}\");\n", name);
  for (const std::string_view name : unit_.own_names)
    out_ += fmt::format("#pragma redefine_extname {1}{0} {0}\n", name, kOwnPrefix);
  range(0, static_cast<int>(unit_.tokens.size()) - 2);
  end_of_unit();
}

void Emitter::raw(std::string_view text) { out_ += text; }

void Emitter::marker(const Token& t) {
  if (!out_.empty() && out_.back() != '\n') out_ += '\n';
  std::string name;
  for (const char c : diagnostics_.file_name(t.file)) {
    if (c == '\\' || c == '"') name += '\\';
    name += c;
  }
  out_ += fmt::format("# {} \"{}\"{}\n", t.line, name, t.in_system_header ? " 3" : "");
  line_ = t.line;
  file_ = t.file;
  system_ = t.in_system_header;
}

// To the line that token is on.
void Emitter::move_to(int index) {
  const Token& t = unit_.tokens[static_cast<std::size_t>(index)];
  if (flat_ > 0) return;
  constexpr int kMostBlankLines = 8;
  if (t.file != file_ || t.in_system_header != system_ || t.line < line_ ||
      t.line > line_ + kMostBlankLines) {
    marker(t);
    return;
  }
  for (; line_ < t.line; ++line_) out_ += '\n';
}

void Emitter::token(int index) {
  const Token& t = unit_.tokens[static_cast<std::size_t>(index)];
  move_to(index);
  if (t.kind == Tok::pragma) {
    if (!out_.empty() && out_.back() != '\n') marker(t);
    out_ += t.text;
    out_ += '\n';
    ++line_;
    return;
  }
  if (!out_.empty() && out_.back() == '\n' && flat_ == 0) {
    out_.append(static_cast<std::size_t>(std::min(t.column - 1, 200)), ' ');
  } else if (t.space_before || flat_ > 0 ||
             (!out_.empty() && out_.back() != '\n' && t.line_start)) {
    out_ += ' ';
  }
  if (const auto before = unit_.before.find(index); before != unit_.before.end())
    out_ += before->second + ' ';
  if (const auto tag = unit_.tag_names.find(index);
      tag != unit_.tag_names.end() && tag->second->needs_name)
    out_ += ' ' + tag->second->name + ' ';
  const auto replaced = unit_.replaced.find(index);
  out_ += replaced == unit_.replaced.end() ? t.text : std::string_view(replaced->second);
  if (const auto behind = unit_.behind.find(index); behind != unit_.behind.end())
    out_ += behind->second;
  entries(index);
  static_words(index);
}

// Behind the semicolon of a declaration.
void Emitter::static_words(int index) {
  const auto found = unit_.static_words.find(index);
  if (found == unit_.static_words.end()) return;
  for (const StaticWord& w : found->second)
    raw(fmt::format(" VSC_OWN vsc_own{} = (vsc_word *)&{}{};", w.number,
                    w.symbol->emitted.empty() ? std::string(w.symbol->name) : w.symbol->emitted,
                    w.path));
}

// Copies tokens and applies all edits within, except for an expression at the first token that
// reaches further: its own rewriting has called this function.
void Emitter::range(int first, int last) {
  for (int i = first; i <= last; ++i) {
    if (const auto edit = unit_.edits.find(i);
        edit != unit_.edits.end() && edit->second.last <= last) {
      if (flat_ == 0) before_function(i);
      apply(edit->second);
      i = edit->second.last;
      continue;
    }
    if (flat_ == 0) before_function(i);
    token(i);
  }
}

// Copies tokens between the parts of an expression, where no other expression begins.
void Emitter::gap(int first, int last) {
  for (int i = first; i <= last; ++i) {
    const auto edit = unit_.edits.find(i);
    if (edit != unit_.edits.end() && edit->second.what != Edit::What::expression &&
        edit->second.last <= last) {
      apply(edit->second);
      i = edit->second.last;
      continue;
    }
    token(i);
  }
}

void Emitter::apply(const Edit& edit) {
  switch (edit.what) {
    case Edit::What::expression:
      return expr(edit.expr);
    case Edit::What::declaration:
      return declaration(*edit.declaration);
    case Edit::What::loop:
      move_to(edit.declaration->first);
      raw(" {");
      declaration(*edit.declaration);
      raw(" for (;");
      return;
    case Edit::What::parameter:
      return parameter(*edit.specifiers, *edit.declarator);
    case Edit::What::type_name:
      return raw(" " + name_of(edit.type) + " ");
    case Edit::What::drop:
      return;
  }
}

std::string Emitter::text_of(Expr* e) {
  return flat([&] { expr(e); });
}

// Behind the first brace of a function's body: the walks of its loops, and bounds of its parameters
// as they are now.
void Emitter::entries(int brace) {
  if (const auto walks = unit_.walks.find(brace); walks != unit_.walks.end())
    for (const Expr* e : walks->second)
      raw(fmt::format(" struct vsc_{} vsc_w{} __attribute__((__unused__)) = {{0}};",
                      e->walk == Walk::spread ? "span" : "walk", e->number));
  const auto found = unit_.entries.find(brace);
  if (found == unit_.entries.end()) return;
  for (const Symbol* parameter : found->second) {
    for (const Type* t = parameter->type; t != nullptr; t = t->base) {
      if (t->kind == Kind::function || t->kind == Kind::pointer) break;
      for (const Bound& b : t->bounds)
        if (!b.snapshot.empty())
          raw(
              fmt::format(" __extension__ const unsigned long {} __attribute__((__unused__)) = "
                          "(unsigned long)({});",
                          b.snapshot, text_of(b.size)));
    }
  }
}

// Static spread arrays, and the program's entry.
void Emitter::end_of_unit() {
  raw("\n# 1 \"<splitcc>\"\n");
  if (!unit_.statics.empty()) {
    raw("static void vsc_allocate_statics(void) {\n");
    for (const StaticSpread& s : unit_.statics) {
      const Type* const type = s.type;
      const std::string variable =
          s.symbol->emitted.empty() ? std::string(s.symbol->name) : s.symbol->emitted;
      raw(fmt::format("  vsc_static_spread(&{}, {}, {}, \"{}\", {});\n", variable,
                      product(type->bounds, 0), size_of(type->base), s.symbol->name,
                      place_of(s.place)));
    }
    raw("}\n"
        "static struct vsc_unit vsc_this_unit = {0, vsc_allocate_statics};\n"
        "static void __attribute__((__constructor__)) vsc_construct_unit(void) {\n"
        "  vsc_register_unit(&vsc_this_unit);\n}\n");
  }
  for (const Symbol* s : unit_.inline_copies)
    if (!s->emitted.empty())
      raw(fmt::format("extern __typeof__({0}) {1} __attribute__((__weak__, __alias__(\"{0}\")));\n",
                      s->emitted, s->name));
  if (unit_.splitc_main == nullptr) return;
  program_entry(*unit_.splitc_main);
}

// vsc_main, which the runtime calls: a call of splitc_main with the arguments that it declares, of
// the types that it declares.
void Emitter::program_entry(const Symbol& program) {
  const Type* const type = program.type;
  std::vector<const Type*> types(type->old_parameters.begin(), type->old_parameters.end());
  for (const Parameter& p : type->parameters) types.push_back(p.type);
  std::string arguments;
  static constexpr std::array kValues = {"vsc_argc", "vsc_argv", "__environ"};
  for (std::size_t i = 0; i < types.size() && i < kValues.size(); ++i) {
    const std::string cast = !is_integer(types[i]) ? "(void *)"
                             : i == 0              ? fmt::format("({})", name_of(types[i]))
                                                   : fmt::format("({})(long)", name_of(types[i]));
    arguments += (i > 0 ? ", " : "") + cast + kValues[i];
  }
  const bool answers = is_integer(type->base);
  raw(
      fmt::format("{}int vsc_main(int vsc_argc, char **vsc_argv) {{\n"
                  "  (void)vsc_argc, (void)vsc_argv;\n"
                  "  {}splitc_main({});\n"
                  "{}}}\n",
                  types.size() > 2 ? "extern char **__environ;\n" : "", answers ? "return " : "",
                  arguments, answers ? "" : "  return 0;\n"));
}

}  // namespace viaduct::splitcc
