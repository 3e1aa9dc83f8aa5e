#pragma once
/// @file
/// Types of C and of Split-C. Compatibility here is without qualifiers: gcc checks qualifiers in
/// plain C.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace viaduct::splitcc {

struct Expr;
struct Type;

enum class Kind : std::uint8_t {
  error,  // of an expression with an error that has been reported: matches every type
  void_type,
  boolean,
  character,
  schar,
  uchar,
  short_int,
  ushort,
  integer,
  uint,
  long_int,
  ulong,
  llong,
  ullong,
  int128,
  uint128,
  enumeration,
  float_type,
  double_type,
  ldouble,
  floatn,  // by its spelling
  complex,
  pointer,         // T *
  global_pointer,  // T *global
  spread_pointer,  // T *spread
  array,           // T[n]
  spread_array,    // T[n]::
  function,
  structure,
  union_type,
  opaque,  // va_list, vectors: by its spelling
};

/// A bound of an array or of the spread part of one.
struct Bound {
  Expr* size = nullptr;  // null: []
  long value = -1;       // not -1: known, and the text has names or operators
  std::string snapshot;  // the variable that holds its value, where it was evaluated once
};

struct Parameter {
  std::string_view name;
  Type* type = nullptr;
};

struct Member {
  std::string_view name;  // empty: unnamed structure or union, whose members count as outer ones
  Type* type = nullptr;
  bool is_bit_field = false;
};

/// A structure, union or enumeration.
struct Tag {
  Kind kind = Kind::structure;
  std::string name;
  bool is_complete = false;
  int bytes = 0;                 // of an enumeration; 0: gcc alone knows them
  bool needs_name = false;       // has no name, and the output must spell it
  bool holds_word = false;       // a member is a global pointer, at any depth
  bool has_inner_array = false;  // a member is an array of structures or arrays, at any depth
  int depth = 0;                 // of the scope that it belongs to; 0: the file
  std::vector<Member> members;
};

struct Type {
  Kind kind = Kind::error;
  Type* base = nullptr;       // pointee, element, result, part of a complex number
  Tag* tag = nullptr;         // of structure, union, enumeration
  std::vector<Bound> bounds;  // of array: one; of spread_array: those left of ::
  std::vector<Parameter> parameters;
  std::vector<Type*> old_parameters;  // of a definition without a prototype
  bool has_prototype = false;
  bool is_variadic = false;
  // Of an object, pointee, element or member that is neither array nor function.
  bool is_volatile = false;
  bool is_const = false;
  bool is_vector = false;     // of opaque: a vector, and the spelling is the name of its type
  std::string_view spelling;  // of floatn, opaque
};

/// Owns types and knows the basic ones.
class Types {
 public:
  Types();
  [[nodiscard]] Type* basic(Kind kind) { return basic_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Type* make(Kind kind, Type* base = nullptr);
  [[nodiscard]] Type* spelled(Kind kind, std::string_view spelling);
  [[nodiscard]] Type* of_tag(Tag* tag);
  [[nodiscard]] Tag* make_tag(Kind kind, std::string name);
  /// The same with these qualifiers.
  [[nodiscard]] Type* qualified(const Type* type, bool is_const, bool is_volatile);
  [[nodiscard]] Type* pointer_to(Type* base) { return make(Kind::pointer, base); }

 private:
  std::deque<Type> types_;
  std::deque<Tag> tags_;
  std::vector<Type*> basic_;
};

[[nodiscard]] bool is_integer(const Type* type);
[[nodiscard]] bool is_floating(const Type* type);
[[nodiscard]] bool is_arithmetic(const Type* type);
[[nodiscard]] inline bool is_error(const Type* type) { return type->kind == Kind::error; }
/// Global or spread pointer: a word in generated C.
[[nodiscard]] inline bool is_word(const Type* type) {
  return type->kind == Kind::global_pointer || type->kind == Kind::spread_pointer;
}
[[nodiscard]] inline bool is_local_pointer(const Type* type) { return type->kind == Kind::pointer; }
[[nodiscard]] inline bool is_pointer(const Type* type) {
  return is_word(type) || is_local_pointer(type);
}
[[nodiscard]] inline bool is_record(const Type* type) {
  return type->kind == Kind::structure || type->kind == Kind::union_type;
}
[[nodiscard]] inline bool is_scalar(const Type* type) {
  return is_arithmetic(type) || is_pointer(type);
}
/// Whether a word is in it, at any depth but behind pointers.
[[nodiscard]] bool holds_word(const Type* type);
/// Whether a structure in it has an array of structures or arrays.
[[nodiscard]] bool has_inner_array(const Type* type);
/// Whether an object of the type is const or volatile, or the elements of an array.
[[nodiscard]] bool is_const(const Type* type);
[[nodiscard]] bool is_volatile(const Type* type);
/// The first const member of a structure or union, at any depth, or null.
[[nodiscard]] const Member* const_member(const Type* type);
/// Whether its declaration in C would differ: a word, a spread array, or something made of them.
[[nodiscard]] bool mentions_word(const Type* type);

/// Bytes of a value that one instruction moves, else 0. Not for floating types.
[[nodiscard]] int word_bytes(const Type* type);

/// Whether a prototype has a parameter of a type that calls without a prototype cannot pass: float,
/// char, short.
[[nodiscard]] bool has_promoted_parameter(const Type* function);

/// The type as written in Split-C, for messages.
[[nodiscard]] std::string describe(const Type* type);

/// Whether values of one type may be used as values of the other, pointees too; an approximation.
[[nodiscard]] bool is_compatible(const Type* a, const Type* b, int depth = 0);

/// The member, and the path of members that leads to it.
[[nodiscard]] const Member* find_member(const Tag* tag, std::string_view name);

}  // namespace viaduct::splitcc
