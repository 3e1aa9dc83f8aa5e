#pragma once
// What the Split-C programs that must not compile have in common.

#include <string>

#include "viaduct/splitc.hpp"

// NOLINTNEXTLINE: each of these programs names what it misuses
using namespace viaduct::splitc;

struct Node {
  int number;
  double weight;
};

/// Has a constructor that copies more than bytes.
struct Named {
  std::string name;
};

double half(double x);
