#pragma once
/// @file
/// Recursive descent over C89, the GNU extensions of gcc 2.7, those that today's headers of glibc
/// bring along, and Split-C.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler-shim/splitcc/ast/ast.hpp"
#include "compiler-shim/splitcc/parse/jumps.hpp"
#include "compiler-shim/splitcc/parse/scope.hpp"
#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {

class Parser {
 public:
  Parser(Unit& unit, Diagnostics& diagnostics);
  /// The whole file. Errors are in the diagnostics.
  void run();

 private:
  struct SyntaxError {};
  enum class Context : std::uint8_t { declaration, parameter, type_name, field };
  struct Function {
    std::string_view name;
    Type* result = nullptr;
    bool is_splitc_main = false;
    int anchor = 0;  // first token of the outermost declaration around
  };
  /// One level of nesting, of which there are not too many.
  struct Depth {
    explicit Depth(Parser& parser);
    ~Depth() { --parser_.nesting_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Parser& parser_;
  };
  /// Within brackets of any kind: conditionals outside do not count.
  struct Brackets {
    explicit Brackets(Parser& parser)
        : depth_(parser), parser_(parser), kept_(parser.open_conditionals_) {
      parser.open_conditionals_ = 0;
    }
    ~Brackets() { parser_.open_conditionals_ = kept_; }
    Brackets(const Brackets&) = delete;
    Brackets& operator=(const Brackets&) = delete;

   private:
    Depth depth_;
    Parser& parser_;
    int kept_;
  };

  /// Around the values of an aggregate. Where they are left out, the values may begin with a
  /// designator, `.a` of `.s.a = 1`.
  enum class Braces : std::uint8_t { given, left_out, designated };
  /// The part of the initialized object that the next value belongs to.
  struct Part {
    std::string path;       // from the declared variable: ".a[2]"
    bool known = true;      // whether the path leads to the part
    bool recorded = false;  // whether the path is kept: parts are static global pointers
  };
  /// The parts that one step of a designator names.
  struct Step {
    long first = 0;
    long last = 0;
    bool known = true;
    bool goes_on = false;  // another step follows
  };

  /// One choice of _Generic; no type: default.
  struct Choice {
    Type* type = nullptr;
    Expr* value = nullptr;
  };

  // tokens.cpp
  [[nodiscard]] const Token& token(int ahead = 0) const;
  [[nodiscard]] const Token& token_at(int index) const {
    return unit_.tokens[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] Tok kind(int ahead = 0) const { return token(ahead).kind; }
  [[nodiscard]] std::string_view text(int ahead = 0) const { return token(ahead).text; }
  [[nodiscard]] bool at_end() const { return kind() == Tok::end; }
  bool accept(Tok what);
  int expect(Tok what, const char* name, const char* where);
  [[noreturn]] void fail(const std::string& text, const std::string& rule = {});
  [[noreturn]] void fail_type();
  [[noreturn]] void fail_expected(const char* what, const char* where);
  void skip_balanced();
  void skip_statement();
  void skip_external();
  int skip_attributes(Specifiers* specifiers = nullptr, Declarator* declarator = nullptr);
  [[nodiscard]] int memory_attribute(int first, int last) const;
  void skip_pragmas();

  // specifiers.cpp
  [[nodiscard]] bool starts_type(int ahead = 0) const;
  [[nodiscard]] bool starts_declaration() const;
  [[nodiscard]] bool names_space(int ahead = 0) const;
  void misplaced_word(const Specifiers& s, int word);
  Specifiers specifiers(bool only_types);
  int attributes(Specifiers& s);
  Type* tag_specifier(Specifiers& specifiers);
  void members(Tag* tag);
  void member_declaration(Tag* tag);
  Type* member_type(const Declarator& d);
  void enumerators(Tag* tag);
  void add_enumerator(Symbol* symbol);
  Type* typeof_specifier();
  Type* atomic_specifier();
  void alignment();
  Type* basic_type(const Specifiers& s, const int* counts, std::string_view floatn);

  // declarators.cpp
  void declarator(Declarator& d, Context context);
  void declarator_part(Declarator& d, Context context);
  void suffixes(Declarator& d, Context context);
  Chunk pointer(Context context);
  [[nodiscard]] bool is_declared_name(Context context, bool behind_word) const;
  Chunk array_bound(Context context);
  Chunk parameters();
  void parameter(Chunk& chunk);
  void mark_spread(Declarator& d, std::size_t from, std::size_t begin);
  Type* build(Declarator& d, Type* base);
  Type* type_name(int* first, int* last);
  [[nodiscard]] bool parenthesis_is_function(Context context) const;

  // declarations.cpp
  void external();
  void check_library();
  void name_pointer_results();
  void declare_before_use(Symbol& implicit, const Symbol* symbol, const Specifiers& s);
  [[nodiscard]] std::optional<std::pair<Linear, Linear>> other_bound(const Type* a,
                                                                     const Type* b) const;
  void say_other_bound(const Declarator& d, const Symbol& old,
                       const std::pair<Linear, Linear>& bounds);
  void check_outer_array(const Declarator& d, const Type* type);
  [[nodiscard]] bool is_own_sync(int token);
  [[nodiscard]] static bool is_own(const Symbol& symbol);
  [[nodiscard]] bool is_replaced_later(const Symbol& symbol);
  Symbol* implicit_function(std::string_view word, bool own);
  [[nodiscard]] bool is_in_library(int token) const;
  [[nodiscard]] bool is_defined_here(std::string_view name);
  Symbol* beside_system(Symbol* old, const Declarator& d, const Specifiers& s, Symbol::What what,
                        Type* type);
  void static_assertion();
  void declaration(bool at_file_scope);
  void declare(Declarator& d, Specifiers& s);
  Symbol* add_symbol(const Declarator& d, const Specifiers& s, Type* type);
  void check_array_memory(const Declarator& d, const Specifiers& s);
  void check_spread_array(Declarator& d, const Specifiers& s, Symbol* symbol);
  void snapshot(Bound& bound, Symbol* symbol, std::vector<std::string>& into);
  void finish_declaration(Declaration& declaration);
  bool function_definition(Specifiers& s, Declarator& d, int first);
  void old_parameters(Chunk& chunk);
  void inline_definition(const Specifiers& s, Symbol* symbol);
  void function_body(Symbol* symbol, Chunk& chunk);
  void program_parameters(const Chunk& chunk);
  void snapshot_parameters(Chunk& chunk);
  void check_jumps();
  [[nodiscard]] static bool is_rewritten(const Declarator& d);

  // initializers.cpp
  Expr* initializer(Type* type, bool is_static);
  bool static_word(Expr* e, const Type* type);
  Expr* initializer_list(Type* type, bool is_static);
  Expr* initializer_value(Expr* e, Type* type, bool is_static);
  void initializer_item(Expr* list, Type* type, bool is_static);
  void initializer_items(Expr* list, Type* type, bool is_static, Braces braces);
  [[nodiscard]] std::optional<long> parts_of(const Type* type) const;
  [[nodiscard]] bool starts_designator(int ahead = 0) const;
  Step designator(const Type* type);
  Type* enter_part(Type* type, long index, bool known);
  void repeat_words(std::size_t from, std::size_t prefix, const Step& step);

  // statements.cpp
  void compound(bool opens_scope);
  void block_item();
  void statement();
  void branch(const Expr* condition);
  void if_statement();
  void while_statement();
  void do_statement();
  void for_statement();
  Declaration* loop_declaration(int keyword);
  void return_statement();
  void asm_statement();
  void nested_label();
  void check_construct();

  // expressions.cpp, primary.cpp
  Expr* expression();
  Expr* assignment();
  Expr* conditional();
  void split_store();
  Expr* binary(int level);
  Expr* cast();
  Expr* unary();
  Expr* postfix();
  Expr* postfix_of(Expr* e);
  Expr* primary();
  void string_parts();
  Expr* parenthesis();
  Expr* name();
  Type* undeclared_result(std::string_view name);
  Expr* statement_expression(int first);
  Expr* builtin();
  Expr* size_of();
  Expr* split_c_function();
  std::vector<Expr*> arguments();

  // choices.cpp
  Expr* generic();
  Choice choice();
  [[nodiscard]] std::optional<std::size_t> chosen(const Expr* control,
                                                  const std::vector<Choice>& choices);
  Expr* plain_generic(int first, int last, const Expr* value);
  void choose_expression(Expr* e);
  void compatible_types(Expr* e, const Type* a, const Type* b);
  void drop(int first, int last);

  /// A full expression in a statement or a declaration: its edits are noted.
  Expr* root(Expr* e);
  void note_type(Type* type, int first, int last);

  Unit& unit_;
  Diagnostics& diagnostics_;
  Sema sema_;
  Scopes scopes_;
  Jumps jumps_;
  std::vector<Function> functions_;
  std::set<std::string_view> declared_before_;  // functions declared in blocks or by calls alone
  std::map<std::string_view, bool>
      defined_here_;  // functions with a body in this file; true: in the old style
  bool definitions_are_known_ = false;
  int at_ = 0;
  int nesting_ = 0;
  int anchor_ = 0;
  Kind misplaced_ = Kind::pointer;  // the type meant by `global int *p`, after its message
  Part part_;
  Expr* first_value_ = nullptr;  // of an aggregate without braces, read before its first part
  std::vector<StaticWord> static_words_;  // of this declaration
  int open_conditionals_ = 0;             // `?` whose `:` has not come, within these parentheses
};

}  // namespace viaduct::splitcc
