/// Collective functions of the libraries that programs used on the machines of the time
/// (split-c/machines.h).

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "compiler-shim/runtime/machines.hpp"

namespace {

using viaduct::shim::absent;
using viaduct::shim::at_process;
using viaduct::shim::exchange_all;
using viaduct::shim::fold_all;

void all_tasks_only(const char* name, int group) {
  if (group != ALLGRP)
    absent(std::string(name) + " with another group than ALLGRP", "SP-1 and SP-2",
           "ALLGRP, or bulk_store and all_store_sync");
}

/// The elements of both blocks, one by one.
template <class T, class Combine>
void each(void* so_far, const void* next, std::size_t bytes, Combine combine) {
  T* const a = static_cast<T*>(so_far);
  const T* const b = static_cast<const T*>(next);
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i) a[i] = combine(a[i], b[i]);
}

template <class T>
T combined(int combiner, T a, T b) {
  switch (combiner) {
    case CMMD_combiner_max:
      return std::max(a, b);
    case CMMD_combiner_min:
      return std::min(a, b);
    default:
      return static_cast<T>(a + b);
  }
}
template <class T>
T combined_bits(int combiner, T a, T b) {
  return combiner == CMMD_combiner_ior   ? static_cast<T>(a | b)
         : combiner == CMMD_combiner_and ? static_cast<T>(a & b)
         : combiner == CMMD_combiner_xor ? static_cast<T>(a ^ b)
                                         : combined(combiner, a, b);
}
template <class T, class Combine>
T reduce(T value, Combine combine) {
  fold_all(&value, &value, sizeof(T), PROCS - 1,
           [&](char* a, const char* b) { each<T>(a, b, sizeof(T), combine); });
  return value;
}

/// gdsum and its like: n elements, the result in their place.
template <class T, class Combine>
void reduce_all(T* x, long n, Combine combine) {
  const auto bytes = static_cast<std::size_t>(n) * sizeof(T);
  fold_all(x, x, bytes, PROCS - 1, [&](char* a, const char* b) { each<T>(a, b, bytes, combine); });
}

}  // namespace

// ---- CM-5 ----

VIADUCT_C_CALLABLE int CMMD_reduce_int(int value, int combiner) {
  return reduce(value, [=](int a, int b) { return combined_bits(combiner, a, b); });
}
VIADUCT_C_CALLABLE unsigned CMMD_reduce_uint(unsigned value, int combiner) {
  return reduce(value, [=](unsigned a, unsigned b) { return combined_bits(combiner, a, b); });
}
VIADUCT_C_CALLABLE float CMMD_reduce_float(float value, int combiner) {
  return reduce(value, [=](float a, float b) { return combined(combiner, a, b); });
}
VIADUCT_C_CALLABLE double CMMD_reduce_double(double value, int combiner) {
  return reduce(value, [=](double a, double b) { return combined(combiner, a, b); });
}
/// Every process' block becomes block q of all @p all.
VIADUCT_C_CALLABLE int CMMD_concat_with_nodes(void* own, void* all, int bytes) {
  return mpc_concat(own, all, static_cast<unsigned long>(bytes), ALLGRP);
}

// ---- SP-1, SP-2 ----

VIADUCT_C_CALLABLE int mpc_sync(int group) {
  all_tasks_only("mpc_sync", group);
  barrier();
  return 0;
}
VIADUCT_C_CALLABLE int mpc_index(const void* out, void* in, unsigned long bytes, int group) {
  all_tasks_only("mpc_index", group);
  const auto own = static_cast<std::size_t>(MYPROC) * bytes;
  return exchange_all(out, static_cast<std::size_t>(PROCS) * bytes, [&](int q, const char* there) {
    bulk_get(static_cast<char*>(in) + static_cast<std::size_t>(q) * bytes,
             at_process(q, there + own), bytes);
  });
}
VIADUCT_C_CALLABLE int mpc_concat(const void* out, void* in, unsigned long bytes, int group) {
  all_tasks_only("mpc_concat", group);
  return exchange_all(out, bytes, [&](int q, const char* there) {
    bulk_get(static_cast<char*>(in) + static_cast<std::size_t>(q) * bytes, at_process(q, there),
             bytes);
  });
}
VIADUCT_C_CALLABLE int mpc_bcast(void* bytes, unsigned long count, int source, int group) {
  all_tasks_only("mpc_bcast", group);
  return exchange_all(bytes, count, [&](int q, const char* there) {
    if (q == source) bulk_get(bytes, at_process(q, there), count);
  });
}
VIADUCT_C_CALLABLE int mpc_gather(const void* out, void* in, unsigned long bytes, int to,
                                  int group) {
  all_tasks_only("mpc_gather", group);
  return exchange_all(out, bytes, [&](int q, const char* there) {
    if (MYPROC == to)
      bulk_get(static_cast<char*>(in) + static_cast<std::size_t>(q) * bytes, at_process(q, there),
               bytes);
  });
}
VIADUCT_C_CALLABLE int mpc_scatter(const void* out, void* in, unsigned long bytes, int from,
                                   int group) {
  all_tasks_only("mpc_scatter", group);
  const std::size_t all = static_cast<std::size_t>(PROCS) * bytes;
  char* const shared = static_cast<char*>(all_malloc(all));
  if (shared == nullptr) return -1;
  if (MYPROC == from) std::memcpy(shared, out, all);
  barrier();
  bulk_read(in, at_process(from, shared + static_cast<std::size_t>(MYPROC) * bytes), bytes);
  all_free(shared);
  return 0;
}
VIADUCT_C_CALLABLE int mpc_shift(const void* out, void* in, unsigned long bytes, int step,
                                 int wraps, int group) {
  all_tasks_only("mpc_shift", group);
  const int from = MYPROC - step;
  const int wrapped = ((from % PROCS) + PROCS) % PROCS;
  return exchange_all(out, bytes, [&](int q, const char* there) {
    if (q == wrapped && (wraps != 0 || from == wrapped)) bulk_get(in, at_process(q, there), bytes);
  });
}

namespace {

int mpc_fold(const char* name, const void* out, void* in, unsigned long bytes, int last,
             __SPLITC_COMBINER, int group) {
  all_tasks_only(name, group);
  unsigned long length = bytes;
  return fold_all(out, in, bytes, last, [&](char* a, char* b) { function(a, b, a, &length); });
}

}  // namespace

VIADUCT_C_CALLABLE int mpc_combine(const void* out, void* in, unsigned long bytes,
                                   __SPLITC_COMBINER, int group) {
  return mpc_fold("mpc_combine", out, in, bytes, PROCS - 1, function, group);
}
VIADUCT_C_CALLABLE int mpc_reduce(const void* out, void* in, unsigned long bytes, int to,
                                  __SPLITC_COMBINER, int group) {
  std::vector<char> result(bytes);
  const int code = mpc_fold("mpc_reduce", out, result.data(), bytes, PROCS - 1, function, group);
  if (MYPROC == to) std::memcpy(in, result.data(), bytes);
  return code;
}
VIADUCT_C_CALLABLE int mpc_prefix(const void* out, void* in, unsigned long bytes, __SPLITC_COMBINER,
                                  int group) {
  return mpc_fold("mpc_prefix", out, in, bytes, MYPROC, function, group);
}

/// MPL's own functions: result[i] = a[i] OPERATOR b[i], *bytes of them.
#define VIADUCT_VECTOR(letter, type)                    \
  VIADUCT_VECTOR_OF(letter##_vadd, type, x + y)         \
  VIADUCT_VECTOR_OF(letter##_vmul, type, x* y)          \
  VIADUCT_VECTOR_OF(letter##_vmax, type, x > y ? x : y) \
  VIADUCT_VECTOR_OF(letter##_vmin, type, x < y ? x : y)
#define VIADUCT_VECTOR_OF(name, type, expression)                                      \
  VIADUCT_C_CALLABLE void name(void* a, void* b, void* result, unsigned long* bytes) { \
    for (unsigned long i = 0; i < *bytes / sizeof(type); ++i) {                        \
      const type x = static_cast<type*>(a)[i];                                         \
      const type y = static_cast<type*>(b)[i];                                         \
      static_cast<type*>(result)[i] = static_cast<type>(expression);                   \
    }                                                                                  \
  }
VIADUCT_VECTOR(i, int)
VIADUCT_VECTOR(s, float)
VIADUCT_VECTOR(d, double)

// ---- Paragon ----

VIADUCT_C_CALLABLE void gdsum(double* x, long n, double* /*work*/) {
  reduce_all(x, n, [](double a, double b) { return a + b; });
}
VIADUCT_C_CALLABLE void gdprod(double* x, long n, double* /*work*/) {
  reduce_all(x, n, [](double a, double b) { return a * b; });
}
VIADUCT_C_CALLABLE void gdhigh(double* x, long n, double* /*work*/) {
  reduce_all(x, n, [](double a, double b) { return std::max(a, b); });
}
VIADUCT_C_CALLABLE void gdlow(double* x, long n, double* /*work*/) {
  reduce_all(x, n, [](double a, double b) { return std::min(a, b); });
}
