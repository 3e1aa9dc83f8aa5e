// What is wrong with the operands of an operator, and what to write.

#include <fmt/format.h>

#include "compiler-shim/splitcc/sema/sema.hpp"

namespace viaduct::splitcc {
namespace {

bool is_comparison(Tok op) { return op >= Tok::equal_equal && op <= Tok::greater_equal; }

bool is_sum(std::string_view op) { return op == "+" || op == "-" || op == "+=" || op == "-="; }

bool is_whole_only(std::string_view op) {
  return op.find_first_of("%&|^") != std::string_view::npos || op.substr(0, 2) == "<<" ||
         op.substr(0, 2) == ">>";
}

struct Words {
  std::string text;
  std::string rule;
};

// Of `+` and `-` where a pointer takes part.
Words of_sum(std::string_view op, const Type* left, const Type* right) {
  if (is_pointer(left) && is_pointer(right))
    return {
        op == "+" ? "two pointers cannot be added" : fmt::format("'{}' of two pointers", op),
        "a pointer and a whole number can be added, and '-' of two pointers counts the elements "
        "between them"};
  if (is_pointer(right))
    return {
        "a pointer cannot be subtracted from this, nor added to it",
        "a pointer moves by a whole number: pointer + number, number + pointer, pointer - number"};
  return {"a pointer moves by a whole number only",
          is_floating(right) ? "write the cast to a whole number, (long)" : ""};
}

}  // namespace

// The operator is the token at e->at.
void Sema::wrong_operands(const Expr* e, const Type* left, const Type* right) {
  const std::string_view op = unit_.text(e->at);
  const bool pointer = is_pointer(left) || is_pointer(right);
  const bool record = is_record(left) || is_record(right);
  Words words;
  if (record) {
    words = {fmt::format("'{}' takes no structures", op), "use the members"};
  } else if (is_comparison(unit_.tokens[static_cast<std::size_t>(e->at)].kind)) {
    words = {"a pointer is compared with a number",
             is_word(left) || is_word(right)
                 ? "a global or spread pointer is compared with a pointer or with 0"
                 : "a pointer is compared with a pointer or with 0"};
  } else if (pointer && is_sum(op)) {
    words = of_sum(op, left, right);
  } else if (pointer) {
    words = {
        fmt::format("'{}' takes numbers, and not pointers", op),
        "'*' in front of a pointer gives the object; a cast to a whole number, (long), gives the "
        "pointer's bits"};
  } else if (is_whole_only(op) && (is_floating(left) || is_floating(right))) {
    words = {fmt::format("'{}' takes whole numbers", op),
             "write the cast to a whole number, (long)"};
  } else {
    words = {fmt::format("'{}' takes numbers", op), ""};
  }
  error(e, fmt::format("{}: '{}' {} '{}'", words.text, describe(left), op, describe(right)),
        words.rule);
}

}  // namespace viaduct::splitcc
