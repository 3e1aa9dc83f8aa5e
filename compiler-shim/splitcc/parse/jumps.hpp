#pragma once
/// @file
/// Jumps that leave the scope of an automatic spread array without freeing it: gcc runs no cleanup
/// at `goto *` and at a goto out of a nested function, and cannot tell the scopes that they leave.

#include <vector>

#include "compiler-shim/splitcc/ast/ast.hpp"

namespace viaduct::splitcc {

/// The jumps of an outermost function and of those nested in it. Places are tokens.
class Jumps {
 public:
  explicit Jumps(const Unit& unit) : unit_(unit) {}

  /// A jump that leaves an array's scope, or may.
  struct Leak {
    int jump;
    const Symbol* array;
  };

  void array(const Symbol* symbol) { arrays_.push_back(symbol); }
  void label(int token) { labels_.push_back(token); }
  void label_address(int token) { addresses_.push_back(token); }
  /// @p target: the `*` or the label.
  void jump(int target) { jumps_.push_back(target); }
  void function(int name, int open, int close) { functions_.push_back({name, open, close}); }

  /// The leaks of the outermost function, which ends here; forgets everything.
  [[nodiscard]] std::vector<Leak> take();

 private:
  struct Function {
    int name;
    int open;
    int close;
  };

  [[nodiscard]] bool is_computed(int jump) const {
    return unit_.tokens[static_cast<std::size_t>(jump)].kind == Tok::star;
  }
  [[nodiscard]] const Function* function_of(int token) const;
  [[nodiscard]] std::vector<int> targets(int jump) const;
  [[nodiscard]] bool leaves(int jump, const std::vector<int>& targets, const Symbol* array) const;

  const Unit& unit_;
  std::vector<const Symbol*> arrays_;
  std::vector<int> labels_;     // their definitions
  std::vector<int> addresses_;  // the labels of `&&label`
  std::vector<int> jumps_;
  std::vector<Function> functions_;
};

}  // namespace viaduct::splitcc
