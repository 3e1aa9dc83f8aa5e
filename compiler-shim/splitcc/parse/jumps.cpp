#include "compiler-shim/splitcc/parse/jumps.hpp"

#include <algorithm>

namespace viaduct::splitcc {

// The innermost function around a token; null: none, behind errors of syntax.
const Jumps::Function* Jumps::function_of(int token) const {
  const auto found =
      std::find_if(functions_.begin(), functions_.end(),  // inner functions end first
                   [token](const Function& f) { return f.open < token && token < f.close; });
  return found == functions_.end() ? nullptr : &*found;
}

// The targets of a jump that gcc does not know: of `goto *` the labels of the function whose
// address is taken, of another goto a label that is not the own function's.
std::vector<int> Jumps::targets(int jump) const {
  const Function* const own = function_of(jump);
  std::vector<int> found;
  for (const int label : labels_) {
    const bool is_own = function_of(label) == own;
    const auto is_taken = [&](int address) {
      return unit_.text(address) == unit_.text(label) && function_of(address) == own;
    };
    if (is_computed(jump)) {
      if (is_own && std::any_of(addresses_.begin(), addresses_.end(), is_taken))
        found.push_back(label);
    } else if (unit_.text(jump) == unit_.text(label)) {
      if (is_own) return {};
      found.push_back(label);
    }
  }
  return found;
}

// A goto out of a nested function leaves the scopes within which the function is called, too.
bool Jumps::leaves(int jump, const std::vector<int>& targets, const Symbol* array) const {
  const Function* const own = function_of(jump);
  const Function* const owner = function_of(array->token);
  if (own == nullptr || owner == nullptr || (is_computed(jump) && owner != own)) return false;
  bool is_inside = false;  // the jump, or the name of its function
  int end = array->token;
  for (int depth = 0; end < owner->close; ++end) {
    const Tok kind = unit_.tokens[static_cast<std::size_t>(end)].kind;
    depth += kind == Tok::l_brace ? 1 : kind == Tok::r_brace ? -1 : 0;
    if (depth < 0) break;
    is_inside =
        is_inside || (owner == own ? end == jump : unit_.text(end) == unit_.text(own->name));
  }
  return is_inside && std::any_of(targets.begin(), targets.end(),
                                  [&](int label) { return label < array->token || label > end; });
}

std::vector<Jumps::Leak> Jumps::take() {
  std::vector<Leak> leaks;
  for (const int jump : jumps_) {
    const std::vector<int> labels = arrays_.empty() ? std::vector<int>() : targets(jump);
    const auto left = std::find_if(arrays_.begin(), arrays_.end(), [&](const Symbol* array) {
      return leaves(jump, labels, array);
    });
    if (left != arrays_.end()) leaks.push_back({jump, *left});
  }
  arrays_.clear();
  labels_.clear();
  addresses_.clear();
  jumps_.clear();
  functions_.clear();
  return leaks;
}

}  // namespace viaduct::splitcc
