#pragma once
/// @file
/// Expressions with their types, and the places of a file that the emitter must not copy as they
/// are. Statements need no tree: their tokens are copied.

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler-shim/splitcc/lex/token.hpp"
#include "compiler-shim/splitcc/types/type.hpp"

namespace viaduct::splitcc {

/// The most bytes of the pointer and the arguments of atomic(), which travel in one message.
inline constexpr int kAtomicBytes = 40;

/// Leaves the padding of an automatic variable to its initializer, with -ftrivial-auto-var-init.
inline constexpr const char* kKeepsPadding = "__attribute__((__uninitialized__))";

/// Begins the name, in generated C, of what the program declares otherwise than a header does.
inline constexpr const char* kOwnPrefix = "vsc_program_";

enum class Storage : std::uint8_t { none, automatic, reg, static_, extern_, typedef_ };

struct Symbol {
  enum class What : std::uint8_t { variable, function, type_name, enumerator, builtin };
  What what = What::variable;
  std::string_view name;
  std::string emitted;  // another name in generated C, or empty
  Type* type = nullptr;
  Storage storage = Storage::none;
  int depth = 0;            // 0: file scope
  int token = -1;           // of its declaration
  int register_token = -1;  // the word `register`, if it was declared so
  int inline_token = -1;    // the word `extern` of its `extern inline` definition
  bool is_parameter = false;
  bool is_defined = false;
  bool is_implicit = false;
  bool from_system = false;
  bool is_library = false;    // declared in a header of split-c/
  bool has_value = false;     // of an enumerator: its value is known to splitcc
  bool is_completed = false;  // the runtime adds the process to global pointers in it
  long number = 0;            // its value then
  int first_use = -1;         // the token of its first use
  int first_anchor = -1;      // if implicit: the first token of the function that calls it first
  int get_pending = 0;        // epoch of a get into it that no sync has completed; 0: none
};

enum class Mode : std::uint8_t { value, local, remote };

/// How the addresses of one expression's accesses move from turn to turn of a loop (splitcc.md 4).
enum class Walk : std::uint8_t { none, pointer, spread };

enum class Node : std::uint8_t {
  literal,
  string,
  name,
  paren,
  member,        // a.m
  arrow,         // a->m
  index,         // a[b]
  call,          // a(args)
  unary,         // op a
  address,       // &a
  deref,         // *a
  prefix,        // ++a
  postfix,       // a++
  cast,          // (type)a
  compound,      // (type){...}
  size_of,       // sizeof a, __alignof__ a
  size_of_type,  // sizeof(type)
  binary,        // a op b
  conditional,   // a ? b : c (b may be missing)
  assign,        // a op= b
  get_put,       // a := b
  store,         // a :- b
  comma,         // a, b
  statement,     // ({...})
  init_list,     // {...}
  label,         // &&label
  other,         // tokens to be copied, holes apart: __builtin_...(...)
  to_local,
  to_proc,
  to_global,
  atomic,
  // made by the compiler; no tokens of their own
  load,       // a remote object's value
  decay,      // a remote array's or spread array's pointer
  globalize,  // a local pointer's global one
  test,       // a word's truth
};

struct Expr {
  Node node = Node::literal;
  Mode mode = Mode::value;
  Tok op = Tok::end;
  bool special = false;      // the expression, or a part of it, is not copied unchanged
  bool is_unused = false;    // its value is unused
  bool is_zero = false;      // a null pointer constant
  bool is_constant = false;  // made of literals, enumerators, sizes, PROCS
  bool has_effect = false;
  bool is_bit_field = false;
  bool as_lvalue = false;  // a cast, conditional or comma that is assigned to
  bool is_register = false;
  bool is_static_word = false;     // a global pointer that an initializer makes of an address
  bool is_collective = false;      // a call of the library's that all processes must make
  bool element_of_spread = false;  // an element of a spread array or through a spread pointer
  int first = 0;                   // its tokens
  int last = 0;
  int at = 0;      // the token that messages point to
  int number = 0;  // of its temporaries
  Walk walk = Walk::none;
  Type* type = nullptr;
  Type* type_name = nullptr;  // of cast, size_of_type
  int type_first = 0;         // tokens of the type name
  int type_last = 0;
  Expr* a = nullptr;
  Expr* b = nullptr;
  Expr* c = nullptr;
  std::vector<Expr*> args;
  Symbol* symbol = nullptr;
  const Member* member = nullptr;
  std::string_view member_name;
};

/// One step of a declarator, from the name outwards.
struct Chunk {
  enum class What : std::uint8_t { pointer, array, function };
  What what = What::pointer;
  Kind pointer = Kind::pointer;  // or global_pointer, spread_pointer
  bool is_const = false;         // of pointer
  bool is_volatile = false;      // of pointer
  int attribute = -1;            // of pointer: the first attribute behind the '*'
  int first = 0;                 // its tokens: `*const`, `[n]`, `(...)`
  int last = 0;
  Bound bound;
  bool spread = false;  // of array: left of ::
  std::vector<Parameter> parameters;
  std::vector<Symbol*> parameter_symbols;
  std::vector<std::string_view> identifiers;  // K&R
  std::vector<int> identifier_tokens;
  bool has_prototype = false;
  bool is_variadic = false;
};

struct Declarator {
  std::string_view name;
  int name_token = -1;
  int first = 0;
  int last = -1;       // last < first: nothing is there
  int tail_first = 0;  // asm label and attributes behind it
  int tail_last = -1;
  std::vector<Chunk> chunks;
  std::vector<std::pair<int, int>> attributes;  // tokens in front of the name, behind no '*'
  Type* type = nullptr;
  Symbol* symbol = nullptr;
  Expr* init = nullptr;
  bool keeps_padding = false;  // kKeepsPadding is written before its initializer
  bool is_bit_field = false;
  int bits_first = 0;
  int bits_last = -1;
  Kind mode = Kind::error;             // of __attribute__((mode(...)))
  bool is_vector = false;              // of __attribute__((vector_size(...)))
  bool is_type_name = false;           // of typedef
  std::vector<std::string> snapshots;  // declarations that must precede it
};

struct Specifiers {
  int first = 0;
  int last = -1;
  Type* type = nullptr;
  Storage storage = Storage::none;
  int storage_token = -1;
  int thread_token = -1;   // __thread
  int alignas_token = -1;  // _Alignas
  int memory_attribute = -1;
  bool is_inline = false;
  bool is_extern_inline = false;
  bool is_gnu_inline = false;
  bool is_volatile = false;
  bool is_const = false;
  bool defines_tag = false;
  bool any_type = false;
  int tag_first = 0;  // tokens of `struct S {...}`
  int tag_last = -1;
  Kind mode = Kind::error;
  bool is_vector = false;
};

/// A declaration that must be written anew.
struct Declaration {
  Specifiers specifiers;
  std::vector<Declarator> declarators;
  int first = 0;
  int last = 0;  // the semicolon
  bool is_field = false;
  bool is_file_scope = false;
};

/// A range of tokens that is not copied.
struct Edit {
  enum class What : std::uint8_t { expression, declaration, loop, parameter, type_name, drop };
  What what = What::drop;
  int last = 0;
  Expr* expr = nullptr;
  Declaration* declaration = nullptr;
  Declarator* declarator = nullptr;
  Specifiers* specifiers = nullptr;
  Type* type = nullptr;
};

/// A declaration of a static spread array in this file.
struct StaticSpread {
  Symbol* symbol = nullptr;
  const Type* type = nullptr;  // of this declaration: another one may have other bounds
  Place place;
};

/// A part of a static object, `.a[2].b`, that begins as a pointer to an object of this process.
struct StaticWord {
  const Symbol* symbol = nullptr;
  std::string path;
  int number = 0;
};

/// A thunk of atomic(f, ...), to stand before the function that uses it.
struct Atomic {
  Expr* expr = nullptr;
};

/// One file.
struct Unit {
  Standard standard = Standard::gnu89;
  bool short_enums = false;  // -fshort-enums
  std::vector<Token> tokens;
  std::deque<Expr> exprs;
  std::deque<Symbol> symbols;
  std::deque<Declaration> declarations;
  std::deque<Declarator> declarators;
  std::deque<Specifiers> specifiers;
  std::unordered_map<int, Edit> edits;                  // by first token
  std::unordered_map<int, std::string> before;          // text to put before a token
  std::unordered_map<int, std::string> behind;          // and behind one
  std::unordered_map<int, std::string> replaced;        // tokens with another spelling
  std::unordered_map<int, Tag*> tag_names;              // where a name for an unnamed tag can stand
  std::unordered_map<int, std::vector<Expr*>> atomics;  // by the first token of the function
  std::unordered_map<int, std::vector<Symbol*>> hoisted;    // likewise: static local spread arrays
  std::unordered_map<int, std::vector<Symbol*>> entries;    // parameters, by a body's first brace
  std::unordered_map<int, std::vector<const Expr*>> walks;  // likewise: accesses in its loops
  std::unordered_map<int, std::vector<const Symbol*>> forward;  // likewise: called before declared
  std::vector<StaticSpread> statics;
  std::vector<std::pair<const Symbol*, int>>
      pointer_calls;                           // undeclared, and where they are called
  std::set<std::string_view> pointer_results;  // names that this file never declares
  std::vector<std::string_view> own_names;     // the program's, also in today's C library
  std::set<std::string_view> defined;          // functions with a body outside system headers
  std::vector<Symbol*> inline_copies;  // `extern inline` after a declaration: under another name
  std::unordered_map<int, std::vector<StaticWord>> static_words;  // by the declaration's semicolon
  Symbol* splitc_main = nullptr;
  Types types;

  /// A new symbol, in no scope yet. @p token: where its name stands.
  Symbol* make_symbol(Symbol::What what, std::string_view name, Type* type, int token = -1) {
    Symbol& symbol = symbols.emplace_back();
    symbol.what = what;
    symbol.name = name;
    symbol.type = type;
    symbol.token = token;
    return &symbol;
  }

  /// The place of a token; -1: no place in the source.
  [[nodiscard]] Place place(int token) const {
    if (token < 0) return {};
    const Token& t = tokens[static_cast<std::size_t>(token)];
    Place p;
    p.file = t.file;
    p.line = t.line;
    p.column = t.column;
    for (int i = token - 1; i >= 0; --i) {
      const Token& u = tokens[static_cast<std::size_t>(i)];
      if (u.line != t.line || u.file != t.file) break;
      if (u.text == t.text) ++p.nth;
    }
    return p;
  }
  [[nodiscard]] std::string_view text(int token) const {
    return token < 0 ? std::string_view() : tokens[static_cast<std::size_t>(token)].text;
  }
};

}  // namespace viaduct::splitcc
