/// The library's collective functions, under their historical names: a type letter stands before a
/// reduction's operation and behind a broadcast's or a gather's name; without one it is int.

#include "viaduct/splitc/collective.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "compiler-shim/runtime/c_callable.hpp"
#include "compiler-shim/runtime/checked.hpp"
#include "compiler-shim/runtime/leave_together.hpp"

namespace {

using namespace viaduct::splitc;

/// v[0] is this process' value before the call; v[q] is process q's afterwards.
template <class T>
void gather_in_place(T* v) {
  const std::vector<T> all = all_gather(v[0]);
  std::copy(all.begin(), all.end(), v);
  viaduct::shim::leave_together("all_gather");
}

template <class T, class Op>
T reduce_to_all(T value, Op op) {
  const T all = all_reduce(value, op);
  viaduct::shim::leave_together("all_reduce_to_all");
  return all;
}

// Processes may leave these two calls at different times: for the checker the calls order the
// accesses of some processes only.
template <class T, class Op>
T reduce_to_one(T value, Op op) {
  const viaduct::shim::checked::Ordering ordering;
  return all_reduce_to_one(value, op);
}
template <class T>
T broadcast(T value) {
  const viaduct::shim::checked::Ordering ordering;
  return viaduct::splitc::all_bcast(value);
}

template <class T, class Op>
T scan(T value, Op op) {
  const T through = all_scan(value, op);
  viaduct::shim::leave_together("all_scan");
  return through;
}

}  // namespace

// One function for each kind of reduction.
#define VIADUCT_REDUCTIONS(type, name, op)                                                    \
  VIADUCT_C_CALLABLE type all_reduce_to_one_##name(type v) { return reduce_to_one(v, op{}); } \
  VIADUCT_C_CALLABLE type all_reduce_to_all_##name(type v) { return reduce_to_all(v, op{}); } \
  VIADUCT_C_CALLABLE type all_scan_##name(type v) { return scan(v, op{}); }

#define VIADUCT_ARITHMETIC(type, letter)          \
  VIADUCT_REDUCTIONS(type, letter##add, Add)      \
  VIADUCT_REDUCTIONS(type, letter##mul, Multiply) \
  VIADUCT_REDUCTIONS(type, letter##min, Min)      \
  VIADUCT_REDUCTIONS(type, letter##max, Max)

#define VIADUCT_LOGICAL(type, letter)        \
  VIADUCT_REDUCTIONS(type, letter##and, And) \
  VIADUCT_REDUCTIONS(type, letter## or, Or)  \
  VIADUCT_REDUCTIONS(type, letter## xor, Xor)

VIADUCT_ARITHMETIC(int, )
VIADUCT_ARITHMETIC(int, i)
VIADUCT_ARITHMETIC(unsigned, u)
VIADUCT_ARITHMETIC(long, l)
VIADUCT_ARITHMETIC(unsigned long, ul)
VIADUCT_ARITHMETIC(float, f)
VIADUCT_ARITHMETIC(double, d)
VIADUCT_LOGICAL(int, )
VIADUCT_LOGICAL(int, i)
VIADUCT_LOGICAL(unsigned, u)
VIADUCT_LOGICAL(long, l)
VIADUCT_LOGICAL(unsigned long, ul)

#define VIADUCT_MOVES(type, suffix)                                           \
  VIADUCT_C_CALLABLE type all_bcast##suffix(type v) { return broadcast(v); }  \
  VIADUCT_C_CALLABLE void all_gather##suffix(type* v) { gather_in_place(v); } \
  VIADUCT_C_CALLABLE void all_concat##suffix(type* v) { gather_in_place(v); }

VIADUCT_MOVES(int, )
VIADUCT_MOVES(int, _i)
VIADUCT_MOVES(unsigned, _u)
VIADUCT_MOVES(long, _l)
VIADUCT_MOVES(unsigned long, _ul)
VIADUCT_MOVES(float, _f)
VIADUCT_MOVES(double, _d)

// Process 0 reads an argument as a number for every process.
VIADUCT_C_CALLABLE int all_atoi(const char* text) {
  return broadcast(myproc() == 0 ? std::atoi(text) : 0);
}
VIADUCT_C_CALLABLE long all_atol(const char* text) {
  return broadcast(myproc() == 0 ? std::atol(text) : 0L);
}
VIADUCT_C_CALLABLE double all_atof(const char* text) {
  return broadcast(myproc() == 0 ? std::atof(text) : 0.0);
}
