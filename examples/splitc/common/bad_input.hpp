#pragma once
// What is thrown when the user's input is wrong.

#include <stdexcept>

namespace examples {

/// The user's mistake, as a sentence: what is wrong, where, and what would be right.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace examples
