// Declarators: pointers, global and spread ones too, arrays, functions.

#include <fmt/format.h>
#include <utility>

#include "compiler-shim/splitcc/parse/parser.hpp"

namespace viaduct::splitcc {

void Parser::declarator(Declarator& d, Context context) {
  d.first = at_;
  declarator_part(d, context);
  d.last = at_ - 1;
}

// Whether the word `global` or `spread` here is the declared name: `int *global;`, `int *global
// spread, *spread;`. A parameter and a type may have no name: there `int *global` is a type.
bool Parser::is_declared_name(Context context, bool behind_word) const {
  const Tok next = kind(1);
  if (next == Tok::equal || next == Tok::semicolon) return true;
  const bool has_name = context == Context::declaration || context == Context::field ||
                        (context == Context::parameter && behind_word);
  return has_name && (next == Tok::comma || next == Tok::r_paren || next == Tok::l_bracket);
}

// `*`, its qualifiers, and Split-C's two words, which are words of the language only here.
Chunk Parser::pointer(Context context) {
  Chunk chunk;
  chunk.first = at_;
  expect(Tok::star, "'*'", "");
  for (;; ++at_) {
    if (kind() == Tok::kw_const || kind() == Tok::kw_volatile || kind() == Tok::kw_restrict) {
      chunk.is_const = chunk.is_const || kind() == Tok::kw_const;
      chunk.is_volatile = chunk.is_volatile || kind() == Tok::kw_volatile;
      continue;
    }
    if (kind() == Tok::kw_attribute) {
      if (chunk.attribute < 0) chunk.attribute = at_;
      at_ = skip_attributes();
      continue;
    }
    const bool global = kind() == Tok::identifier && text() == "global";
    const bool spread = kind() == Tok::identifier && text() == "spread";
    if (!global && !spread) break;
    if (token().in_system_header || is_declared_name(context, chunk.pointer != Kind::pointer))
      break;
    if (chunk.pointer != Kind::pointer) fail("a pointer is either global or spread, once");
    chunk.pointer = global ? Kind::global_pointer : Kind::spread_pointer;
  }
  if (chunk.pointer == Kind::pointer) chunk.pointer = misplaced_;
  chunk.last = at_ - 1;
  return chunk;
}

// Whether the '(' here begins parameters, and not a declarator in parentheses.
bool Parser::parenthesis_is_function(Context context) const {
  if (context == Context::declaration || context == Context::field) return false;
  const Tok next = kind(1);
  if (next == Tok::r_paren || next == Tok::ellipsis) return true;
  if (next == Tok::kw_attribute) return false;
  return starts_type(1) || kind(1) == Tok::kw_register;
}

void Parser::declarator_part(Declarator& d, Context context) {
  const Depth depth(*this);
  std::vector<Chunk> pointers;
  const auto attributes = [&] {
    const int first = at_;
    if (const int last = skip_attributes(nullptr, &d); last >= 0)
      d.attributes.emplace_back(first, last);
  };
  attributes();
  while (kind() == Tok::star) pointers.push_back(pointer(context));
  attributes();
  if (kind() == Tok::l_paren && !parenthesis_is_function(context)) {
    ++at_;
    declarator_part(d, context);
    expect(Tok::r_paren, "')'", " in a declaration");
  } else if (kind() == Tok::identifier && context != Context::type_name) {
    d.name = text();
    d.name_token = at_++;
  } else if (context == Context::declaration || context == Context::field) {
    fail_expected("a name", " in a declaration");
  }
  suffixes(d, context);
  for (auto p = pointers.rbegin(); p != pointers.rend(); ++p) {
    // In C an attribute behind '*' is one of the type. gcc moves it to the name that follows.
    if (p->attribute >= 0 && p->pointer != Kind::pointer && !d.chunks.empty())
      sema_.error_at(p->attribute,
                     fmt::format("an attribute of a {} pointer that is a part of another type",
                                 p->pointer == Kind::global_pointer ? "global" : "spread"),
                     "write the attribute behind the declared name");
    d.chunks.push_back(std::move(*p));
  }
}

void Parser::suffixes(Declarator& d, Context context) {
  const std::size_t begin = d.chunks.size();
  bool seen = false;
  for (;;) {
    if (kind() == Tok::l_bracket) {
      d.chunks.push_back(array_bound(context));
    } else if (kind() == Tok::spread_end) {
      if (seen) fail("'::' stands once in a declarator");
      seen = true;
      std::size_t from = d.chunks.size();
      while (from > begin && d.chunks[from - 1].what == Chunk::What::array) --from;
      mark_spread(d, from, begin);
      ++at_;
    } else if (kind() == Tok::l_paren) {
      d.chunks.push_back(parameters());
    } else {
      return;
    }
  }
}

void Parser::mark_spread(Declarator& d, std::size_t from, std::size_t begin) {
  if (from == d.chunks.size())
    fail("'::' without a dimension before it",
         "A[n]::[m] deals n elements, each a block of m, to the processes; a spread array of one "
         "element is A[1]::[m]");
  (void)begin;
  for (std::size_t i = from; i < d.chunks.size(); ++i) d.chunks[i].spread = true;
}

Chunk Parser::array_bound(Context context) {
  Chunk chunk;
  chunk.what = Chunk::What::array;
  chunk.first = at_++;
  while ((kind() >= Tok::kw_const && kind() <= Tok::kw_restrict) || kind() == Tok::kw_static) ++at_;
  if (context != Context::declaration && kind() == Tok::star && kind(1) == Tok::r_bracket) ++at_;
  if (kind() != Tok::r_bracket) {
    chunk.bound.size = sema_.value(assignment());
    Type* const type = sema_.value_type(chunk.bound.size);
    if (!is_integer(type) && !is_error(type))
      sema_.error(chunk.bound.size, fmt::format("the size of an array is '{}'", describe(type)));
    root(chunk.bound.size);
    const std::optional<Linear> known = sema_.known(chunk.bound.size);
    if (known && known->procs == 0 && strip(chunk.bound.size)->node != Node::literal)
      chunk.bound.value = known->fixed;
  }
  chunk.last = expect(Tok::r_bracket, "']'", " in a declaration");
  return chunk;
}

Chunk Parser::parameters() {
  Chunk chunk;
  chunk.what = Chunk::What::function;
  chunk.first = at_++;
  scopes_.enter();
  if (kind() == Tok::r_paren) {
    // no prototype
  } else if (kind() == Tok::kw_void && kind(1) == Tok::r_paren) {
    ++at_;
    chunk.has_prototype = true;
  } else if (kind() == Tok::identifier && !starts_type()) {
    do {
      if (kind() != Tok::identifier) fail_expected("a parameter's name", "");
      if (kind(1) == Tok::star || kind(1) == Tok::identifier) fail_type();
      chunk.identifiers.push_back(text());
      chunk.identifier_tokens.push_back(at_++);
    } while (accept(Tok::comma));
  } else {
    chunk.has_prototype = true;
    for (;;) {
      if (accept(Tok::ellipsis)) {
        chunk.is_variadic = true;
        break;
      }
      parameter(chunk);
      // gcc takes forward declarations of parameters, ended by a semicolon.
      if (accept(Tok::semicolon)) {
        chunk.parameters.pop_back();
        chunk.parameter_symbols.pop_back();
        continue;
      }
      if (!accept(Tok::comma)) break;
    }
  }
  scopes_.leave();
  chunk.last = expect(Tok::r_paren, "')'", " behind the parameters");
  return chunk;
}

void Parser::parameter(Chunk& chunk) {
  const int first = at_;
  if (!starts_declaration() && kind() != Tok::kw_register) fail_expected("a parameter's type", "");
  Specifiers s = specifiers(false);
  if (s.storage != Storage::none && s.storage != Storage::reg)
    sema_.error_at(s.storage_token, "a storage class has no place in a parameter");
  Declarator d;
  declarator(d, Context::parameter);
  d.tail_first = at_;
  skip_attributes();
  d.tail_last = at_ - 1;
  Type* type = build(d, s.type);
  if (type->kind == Kind::array) {
    const Bound bound = type->bounds.empty() ? Bound{} : type->bounds.front();
    (void)bound;
    type = unit_.types.pointer_to(type->base);
  } else if (type->kind == Kind::function) {
    type = unit_.types.pointer_to(type);
  } else if (type->kind == Kind::void_type && !d.name.empty()) {
    sema_.error_at(d.name_token, fmt::format("the parameter '{}' has type 'void'", d.name));
    type = sema_.error_type();
  }
  d.type = type;
  Symbol* const symbol = unit_.make_symbol(Symbol::What::variable, d.name, type,
                                           d.name_token < 0 ? first : d.name_token);
  symbol->is_parameter = true;
  symbol->storage = s.storage;
  if (s.storage == Storage::reg) symbol->register_token = s.storage_token;
  if (!d.name.empty()) {
    if (scopes_.find_here(d.name) != nullptr && scopes_.find_here(d.name)->is_parameter &&
        !chunk.parameters.empty())
      sema_.error_at(d.name_token, fmt::format("two parameters are named '{}'", d.name));
    scopes_.add(symbol);
  }
  chunk.parameters.push_back({d.name, type});
  chunk.parameter_symbols.push_back(symbol);
  if (!is_rewritten(d)) return;
  unit_.declarators.push_back(std::move(d));
  unit_.specifiers.push_back(s);
  Edit edit;
  edit.what = Edit::What::parameter;
  edit.last = at_ - 1;
  edit.declarator = &unit_.declarators.back();
  edit.specifiers = &unit_.specifiers.back();
  unit_.edits[first] = edit;
}

Type* Parser::build(Declarator& d, Type* base) {
  Types& types = unit_.types;
  Type* type = base;
  if (d.mode != Kind::error && is_integer(type)) {
    const bool is_unsigned = type->kind == Kind::uchar || type->kind == Kind::ushort ||
                             type->kind == Kind::uint || type->kind == Kind::ulong ||
                             type->kind == Kind::ullong;
    type = types.basic(is_unsigned ? static_cast<Kind>(static_cast<int>(d.mode) + 1) : d.mode);
  }
  if (d.is_vector && is_arithmetic(type)) {
    type = types.spelled(Kind::opaque, d.name);
    type->is_vector = d.is_type_name;
  }
  for (std::size_t i = d.chunks.size(); i-- > 0;) {
    Chunk& chunk = d.chunks[i];
    switch (chunk.what) {
      case Chunk::What::pointer:
        if (type->kind == Kind::spread_array) {
          sema_.error_at(chunk.first, "a pointer to a whole spread array",
                         "the array's name is a spread pointer to its first element");
          return sema_.error_type();
        }
        type = types.make(chunk.pointer, type);
        type->is_const = chunk.is_const;
        type->is_volatile = chunk.is_volatile;
        break;
      case Chunk::What::function: {
        if (type->kind == Kind::array || type->kind == Kind::function ||
            type->kind == Kind::spread_array) {
          sema_.error_at(chunk.first, fmt::format("a function that answers '{}'", describe(type)));
          return sema_.error_type();
        }
        type = types.make(Kind::function, type);
        type->has_prototype = chunk.has_prototype;
        type->is_variadic = chunk.is_variadic;
        type->parameters = chunk.parameters;
        break;
      }
      case Chunk::What::array: {
        if (type->kind == Kind::function || type->kind == Kind::void_type ||
            type->kind == Kind::spread_array) {
          sema_.error_at(chunk.first, fmt::format("an array of '{}'", describe(type)),
                         type->kind == Kind::spread_array
                             ? "the dimensions that are spread stand first: A[n]::[m]"
                             : "");
          return sema_.error_type();
        }
        if (!chunk.spread) {
          type = types.make(Kind::array, type);
          type->bounds.push_back(chunk.bound);
          break;
        }
        type = types.make(Kind::spread_array, type);
        type->bounds.push_back(chunk.bound);
        for (; i > 0 && d.chunks[i - 1].spread; --i)
          type->bounds.insert(type->bounds.begin(), d.chunks[i - 1].bound);
        for (std::size_t b = 1; b < type->bounds.size(); ++b)
          if (type->bounds[b].size == nullptr) {
            sema_.error_at(chunk.first, "only the first dimension may be left open");
            return sema_.error_type();
          }
        break;
      }
    }
  }
  return type;
}

// `int *global`, `T (*spread)[n]`: between parentheses.
Type* Parser::type_name(int* first, int* last) {
  *first = at_;
  Specifiers s = specifiers(true);
  if (!s.any_type && s.last < s.first) fail_expected("a type", "");
  Declarator d;
  declarator(d, Context::type_name);
  skip_attributes();
  *last = at_ - 1;
  return build(d, s.type);
}

void Parser::note_type(Type* type, int first, int last) {
  if (!mentions_word(type)) return;
  sema_.spell(type);
  Edit edit;
  edit.what = Edit::What::type_name;
  edit.last = last;
  edit.type = type;
  unit_.edits[first] = edit;
}

bool Parser::is_rewritten(const Declarator& d) {
  if (d.type != nullptr && d.type->kind == Kind::spread_array) return true;
  for (const Chunk& chunk : d.chunks)
    if (chunk.spread || chunk.pointer != Kind::pointer) return true;
  return false;
}

}  // namespace viaduct::splitcc
