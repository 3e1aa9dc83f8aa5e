#pragma once
/// @file
/// The meaning of expressions: types, modes, implicit conversions, and the rules of Split-C. The
/// parser calls a function for each construct that it has read.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler-shim/splitcc/ast/ast.hpp"

namespace viaduct::splitcc {

/// The use of a value, for messages.
enum class Use : std::uint8_t { assignment, initializer, argument, result };

/// A number that is known before the program runs: fixed + procs * PROCS.
struct Linear {
  long fixed = 0;
  long procs = 0;
};
/// The number as source text.
[[nodiscard]] std::string describe(const Linear& number);
/// Whether a >= b for any number of processes.
[[nodiscard]] bool is_at_least(const Linear& a, const Linear& b);

class Sema {
 public:
  Sema(Unit& unit, Diagnostics& diagnostics) : unit_(unit), diagnostics_(diagnostics) {}

  // One for each kind of expression. Tokens: the first, the last, and the token that messages point
  // to.
  Expr* make(Node node, int first, int last, int at);
  Expr* integer(int token);
  Expr* floating(int token);
  Expr* character(int token);
  Expr* string(int first, int last);
  Expr* name(int token, Symbol* symbol);
  Expr* paren(int first, int last, Expr* inner);
  Expr* index(Expr* base, Expr* subscript, int at, int last);
  Expr* call(Expr* callee, std::vector<Expr*> args, int at, int last);
  Expr* member(Expr* base, bool through_pointer, std::string_view name, int at, int last);
  Expr* prefix(Tok op, Expr* operand, int at);
  Expr* postfix(Tok op, Expr* operand, int at);
  Expr* unary(Tok op, Expr* operand, int at);
  Expr* address(Expr* operand, int at);
  Expr* deref(Expr* operand, int at);
  Expr* cast(Type* type, int type_first, int type_last, Expr* operand, int first);
  Expr* size_of(Expr* operand, int first);
  Expr* binary(Tok op, Expr* a, Expr* b, int at);
  Expr* conditional(Expr* a, Expr* b, Expr* c, int at);
  Expr* assign(Tok op, Expr* a, Expr* b, int at);
  Expr* get_put(Expr* a, Expr* b, int at);
  Expr* store(Expr* a, Expr* b, int at);
  Expr* comma(Expr* a, Expr* b, int at);
  Expr* to_local(Expr* operand, int first, int last);
  Expr* to_proc(Expr* operand, int first, int last);
  Expr* to_global(Expr* process, Expr* pointer, int first, int last);
  Expr* atomic(std::vector<Expr*> args, int first, int last);

  /// The value of an expression: loads remote objects, turns arrays into pointers.
  Expr* value(Expr* e);
  /// The value as a condition.
  Expr* condition(Expr* e);
  /// The value as one of type @p to.
  Expr* convert(Expr* e, Type* to, Use use, const std::string& what = {});
  /// The type of the value of e.
  Type* value_type(const Expr* e);
  /// A full expression whose value is not used.
  Expr* unused(Expr* e);

  // Loops, for the warning about accesses that a bulk operation could do, and for walks.
  void enter_loop() { loops_.push_back({{}, {}, unit_.exprs.size(), false}); }
  void loop_step(Expr* step);
  void leave_loop();
  /// The function whose body's first brace is @p brace; functions may stand in functions.
  void enter_function(int brace) { bodies_.push_back(brace); }
  void leave_function() { bodies_.pop_back(); }
  /// A function is defined that earlier calls have used without its parameter types.
  void defined(std::string_view name, const std::vector<Symbol*>& parameters);
  /// Gets that are under way are forgotten: a sync may have come, or the function ends.
  void forget_gets() { pending_.clear(); }

  // Local pointers of other processes, for the warning about their use in this one.
  /// A variable's initial value.
  void note_pointer(const Symbol* variable, const Expr* value);
  /// The operand of typeof, say.
  void not_evaluated(const Expr* e);
  /// Code that may run never, once, or repeatedly; @p condition may be null.
  void enter_branch(const Expr* condition);
  void leave_branch();
  /// A label, which jumps may reach.
  void label() { kept_.clear(); }
  /// A full expression has been read.
  void finish_expression();
  void forget_pointers();

  /// Whether two types are the same to C; nothing: not known.
  [[nodiscard]] std::optional<bool> same_type(const Type* a, const Type* b) const;
  [[nodiscard]] std::optional<bool> same_unqualified(const Type* a, const Type* b) const;
  /// Whether the type of e is exactly the one that C gives it.
  [[nodiscard]] bool is_sure(const Expr* e) const;

  /// A number, where it is known.
  [[nodiscard]] std::optional<Linear> known(const Expr* e) const;

  [[nodiscard]] Type* error_type() { return unit_.types.basic(Kind::error); }
  [[nodiscard]] Type* int_type() { return unit_.types.basic(Kind::integer); }
  void error(const Expr* e, const std::string& text, const std::string& rule = {});
  void error_at(int token, const std::string& text, const std::string& rule = {});
  /// Whether the two differ as is usual in old programs, and the warning is left out.
  bool is_block_idiom(const Type* from, const Type* to);
  void warn(Warning which, int token, const std::string& text, const std::string& rule = {});
  Expr* failed(int first, int last);
  int next_number() { return ++numbers_; }
  [[nodiscard]] Type* promoted(Type* type);
  /// The type of a value: it has no qualifiers.
  [[nodiscard]] Type* unqualified(const Type* type);
  /// Types whose declaration stands in no system header get a name when they are spelled.
  void spell(const Type* type);

 private:
  struct Access {
    Expr* expr;
    const Symbol* variable;
  };
  struct Loop {
    std::vector<const Symbol*> counters;
    std::vector<Access> accesses;
    std::size_t first_expr = 0;
    bool told = false;
  };

  /// The place from which a local pointer of another process was read.
  struct Foreign {
    const Expr* object = nullptr;
    const Symbol* variable = nullptr;  // that has held it since
  };
  /// A variable that holds such a pointer.
  struct Kept {
    const Symbol* variable;
    const Expr* object;
    std::size_t depth;  // of branches
  };
  /// A use in the expression that is being read.
  struct ForeignUse {
    const Expr* by;  // the dereference; null: a call or a conversion
    const Expr* pointer;
    Foreign foreign;
    bool becomes_global;
  };

  Expr* derived(Node node, Expr* of);
  Expr* get_by_read(Expr* a, Expr* b, int at);
  void as_parameter(Expr* e);
  Expr* lvalue(Expr* e, const char* what);
  Expr* object(Expr* e, const char* what);
  bool old_object(Expr* e, const char* what);
  bool cast_object(Expr* e, const char* what);
  [[nodiscard]] const Expr* chosen(const Expr* e) const;
  bool choose_object(Expr* e);
  bool choose_member(Expr* e);
  void no_object(Expr* e, const char* what);
  Expr* bad(Expr* e) {
    e->type = error_type();
    e->mode = Mode::value;
    return e;
  }
  void join(Expr* e);
  Type* arithmetic(Type* a, Type* b);
  [[nodiscard]] std::optional<bool> same_bounds(const Type* a, const Type* b) const;
  [[nodiscard]] bool is_sure_binary(const Expr* e) const;
  Expr* pointer_arithmetic(Expr* e);
  Expr* comparison(Expr* e);
  bool check_target(const Expr* e, const Type* from, const Type* to, const std::string& what);
  bool check_atomic_pointer(const Expr* callee, Expr* pointer, const Type* to);
  Expr* to_word(Expr* e, Type* to, const std::string& what = {});
  void wrong_operands(const Expr* e, const Type* left, const Type* right);
  void check_order(Expr* e);
  void check_bounds(const Expr* e);
  void check_subscript(const Expr* subscript, const Bound& bound, const char* what,
                       bool of_parameter);
  void check_bulk(const Expr* call);
  void check_whole(const Expr* call, const Expr* array);
  [[nodiscard]] std::optional<Linear> calculated(const Expr* e) const;
  [[nodiscard]] std::optional<Linear> known_size(const Type* type) const;
  [[nodiscard]] std::optional<Linear> known_count(const Type* spread) const;
  [[nodiscard]] std::string_view source_word(int token) const;
  [[nodiscard]] std::string source_of(const Expr* e) const;
  [[nodiscard]] Foreign foreign(const Expr* e) const;
  [[nodiscard]] const Expr* foreign_object(const Expr* object) const;
  void note_own(const Expr* e, const Expr* by);
  void note_pointer_result(const Expr* e);
  void note_globalized(const Expr* e);
  void not_used(const Expr* e);
  void note_pointer(const Expr* target, const Expr* value);
  void note_got_pointer(const Expr* target, const Expr* object);
  void forget_pointer(const Symbol* variable);
  void note_owner(const Expr* pointer);
  void forget_owner(const Expr* process);
  void warn_foreign(const ForeignUse& use);
  void note_access(Expr* e);
  void find_walks(std::size_t first_expr);
  void note_get(Expr* target);
  void check_pending(Expr* e);
  void called(const Expr* callee);
  void check_arguments(Expr* e, Type* function);
  Expr* old_argument(Expr* arg, Type* to, const std::string& what);
  Type* member_type(const Type* record, const Member* member);
  Type* pointing_to_both(Type* pointer, const Type* other);
  void check_qualifiers(const Expr* e, const Type* to, Use use, const std::string& what);
  void warn_process_lost(const Expr* arg, const Type* to, const std::string& what);
  bool check_record(Expr* e, Type* from, Type* to, const std::string& what);

  Unit& unit_;
  Diagnostics& diagnostics_;
  int numbers_ = 0;
  std::vector<Loop> loops_;
  std::vector<int> bodies_;  // first braces
  std::vector<const Symbol*> pending_;
  std::unordered_map<std::string_view, std::vector<Expr*>> undeclared_;  // calls, by function
  std::unordered_map<const Expr*, Foreign> passed_;                      // arguments of those
  std::vector<ForeignUse> uses_;
  std::vector<Kept> kept_;
  std::vector<const Symbol*> owners_;  // pointers whose process this function has asked for
  std::vector<bool> branches_;         // enclosing branches: whether the condition asks for MYPROC
};

/// Whether the target of an assignment or of ++ is a cast that converts: (char)x = 3.
[[nodiscard]] bool is_converting_target(const Expr* target);

/// Without parentheses.
[[nodiscard]] inline Expr* strip(Expr* e) {
  while (e != nullptr && e->node == Node::paren && e->a != nullptr) e = e->a;
  return e;
}
[[nodiscard]] inline const Expr* strip(const Expr* e) {
  while (e != nullptr && e->node == Node::paren && e->a != nullptr) e = e->a;
  return e;
}

}  // namespace viaduct::splitcc
