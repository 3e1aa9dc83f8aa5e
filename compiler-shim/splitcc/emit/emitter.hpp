#pragma once
/// @file
/// GNU C89 from a parsed file: tokens are copied, Split-C's constructs are rewritten, and line
/// markers make messages and debuggers name the user's file.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler-shim/splitcc/ast/ast.hpp"

namespace viaduct::splitcc {

class Emitter {
 public:
  Emitter(Unit& unit, const Diagnostics& diagnostics) : unit_(unit), diagnostics_(diagnostics) {}
  /// The whole file. @p sequential: blocking writes end in a fence.
  [[nodiscard]] std::string run(bool sequential);

 private:
  // emitter.cpp: tokens and ranges
  void pass(bool sequential);
  void raw(std::string_view text);
  void token(int index);
  void move_to(int index);
  void marker(const Token& token);
  void range(int first, int last);
  void gap(int first, int last);
  void apply(const Edit& edit);
  void entries(int brace);
  void static_words(int semicolon);
  void end_of_unit();
  void program_entry(const Symbol& program);
  /// The text that body writes, on one line.
  template <class Body>
  std::string flat(Body&& body) {
    std::string kept = std::exchange(out_, {});
    ++flat_;
    body();
    --flat_;
    return std::exchange(out_, std::move(kept));
  }

  // types.cpp
  std::string name_of(const Type* type, std::string inner = {});
  /// "FILE", LINE: as arguments of a function.
  std::string place_of(const Place& place);
  std::string place_of(int token) { return place_of(unit_.place(token)); }
  std::string size_of(const Type* type);
  std::string bound(const Bound& b);
  std::string product(const std::vector<Bound>& bounds, std::size_t from);
  std::string text_of(Expr* e);

  // declarations.cpp
  void declaration(const Declaration& d);
  void declarator(const Declaration& all, const Declarator& d);
  void spread_array(const Declaration& all, const Declarator& d);
  void specifiers(const Specifiers& s);
  void before_function(int anchor);
  void forward_declaration(const Symbol& symbol);
  void thunk(const Expr* e);
  void check_sizes(const Expr* e, const Type* function);

  // specifiers.cpp
  void parameter(const Specifiers& s, const Declarator& d);
  std::string word_declarator(const Specifiers& s, const Declarator& d);
  std::string word_specifiers(const Specifiers& s, const Declarator& d, const std::string& word);
  std::string completed(const Specifiers& s, const Declarator& d);
  std::string word_tail(const Declarator& d);
  std::string qualifiers(const Chunk& pointer);
  std::string storage_text(const Specifiers& s);
  std::string attribute(int first, int last);
  template <class Keeps>
  std::string extras(int first, int last, Keeps&& keeps);
  [[nodiscard]] int closing(int open) const;

  // expressions.cpp, access.cpp
  void expr(Expr* e);
  bool rewrite(Expr* e);
  void holes(Expr* e);
  void statement(Expr* e);
  void address(Expr* e);
  void word(Expr* e);
  void load(Expr* e);
  void cast(Expr* e);
  bool choice(Expr* e);
  bool binary(Expr* e);
  bool step(Expr* e);
  void convert_and_write(Expr* e);
  void bit_field(Expr* e);
  bool assign(Expr* e);
  void get_put(Expr* e);
  void store(Expr* e);
  void atomic(Expr* e);
  [[nodiscard]] std::string access_of(const Expr* e, const char* verb, const Type* type);
  void place(const Expr* e, Expr* object);
  void read_word(const Expr* e, const std::string& from);
  void write_open(const char* verb, const Expr* e, bool unused);
  void send(const char* verb, Expr* e);
  std::string moved(const Type* type, const std::string& what, const std::string& by);

  Unit& unit_;
  const Diagnostics& diagnostics_;
  std::string out_;
  int line_ = 0;
  int file_ = -2;
  bool system_ = false;
  int flat_ = 0;
  int tags_ = 0;
  std::string word_type_ = "vsc_word";  // in the next declarator
  // Sums of the sizes for which the runtime's header has to define functions: see VSC_WORD_SIZES
  // there.
  int word_sizes_ = 0;
  int walk_sizes_ = 0;
  int float_sizes_ = 0;
};

}  // namespace viaduct::splitcc
