#pragma once
// The exception for wrong input of the user.

#include <stdexcept>

namespace examples {

/// The user's mistake, as a sentence: the mistake, its place, and the correct form.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace examples
