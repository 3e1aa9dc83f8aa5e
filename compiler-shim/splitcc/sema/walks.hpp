#pragma once
/// @file
/// Finds addresses that move from turn to turn of a loop.

#include <vector>

#include "compiler-shim/splitcc/ast/ast.hpp"

namespace viaduct::splitcc {

/// The variable that e is, or null.
[[nodiscard]] const Symbol* variable_of(const Expr* e);
/// Whether @p symbol stands anywhere in e.
[[nodiscard]] bool mentions(const Expr* e, const Symbol* symbol);
/// The counter among @p counters that i, i + 1, 2 * n + i and the like move with, by the same step;
/// or null.
[[nodiscard]] const Symbol* moving_part(const Expr* e, const std::vector<const Symbol*>& counters);

}  // namespace viaduct::splitcc
