#include "tests/splitc/neg_objects.hpp"

#ifdef VIADUCT_NEGATIVE
using Argument = std::array<double, 6>;
#else
using Argument = std::array<double, 5>;
#endif

double sum(Argument numbers);

double call(int process) { return atomic<sum>(process, Argument{}); }
