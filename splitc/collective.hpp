#pragma once
/// @file
/// Reductions, broadcasts, gathers and scans. Every process calls the same ones in the same order;
/// a call that does not fit another process' ends the job with a sentence that names both.
/// Floating-point results depend on the number of processes and on nothing else, and are the same
/// in all of them. Source: Culler et al., Introduction to Split-C, 1995, library section.

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "splitc/detail/collective.hpp"
#include "splitc/sync.hpp"

namespace viaduct::splitc {

/// What may be reduced: integers and floating-point types.
template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

/// The operators of the named reductions.
struct Add {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a + b);
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a * b);
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a ^ b);
  }
};

/// op(op(v0, v1), op(v2, v3))... of all processes' values, in every process. @p op must be
/// associative; it need not be commutative.
///
/// Blocks      until all values are in.  Progress: a poll point.
/// Cost        log2(PROCS) exchanges of one line.
template <Value T, class Op>
[[nodiscard]] inline T all_reduce(T value, Op op);
/// The same, in process @p root alone; the others get their own value back.
template <Value T, class Op>
[[nodiscard]] inline T all_reduce_to_one(T value, Op op, int root = 0);

template <Number T>
[[nodiscard]] inline T all_reduce_add(T value) {
  return all_reduce(value, Add{});
}
template <Number T>
[[nodiscard]] inline T all_reduce_mul(T value) {
  return all_reduce(value, Multiply{});
}
template <Number T>
[[nodiscard]] inline T all_reduce_min(T value) {
  return all_reduce(value, Min{});
}
template <Number T>
[[nodiscard]] inline T all_reduce_max(T value) {
  return all_reduce(value, Max{});
}
template <std::integral T>
[[nodiscard]] inline T all_reduce_and(T value) {
  return all_reduce(value, And{});
}
template <std::integral T>
[[nodiscard]] inline T all_reduce_or(T value) {
  return all_reduce(value, Or{});
}
template <std::integral T>
[[nodiscard]] inline T all_reduce_xor(T value) {
  return all_reduce(value, Xor{});
}
template <Number T>
[[nodiscard]] inline T all_reduce_to_one_add(T value, int root = 0) {
  return all_reduce_to_one(value, Add{}, root);
}
template <Number T>
[[nodiscard]] inline T all_reduce_to_one_mul(T value, int root = 0) {
  return all_reduce_to_one(value, Multiply{}, root);
}
template <Number T>
[[nodiscard]] inline T all_reduce_to_one_min(T value, int root = 0) {
  return all_reduce_to_one(value, Min{}, root);
}
template <Number T>
[[nodiscard]] inline T all_reduce_to_one_max(T value, int root = 0) {
  return all_reduce_to_one(value, Max{}, root);
}
template <std::integral T>
[[nodiscard]] inline T all_reduce_to_one_and(T value, int root = 0) {
  return all_reduce_to_one(value, And{}, root);
}
template <std::integral T>
[[nodiscard]] inline T all_reduce_to_one_or(T value, int root = 0) {
  return all_reduce_to_one(value, Or{}, root);
}
template <std::integral T>
[[nodiscard]] inline T all_reduce_to_one_xor(T value, int root = 0) {
  return all_reduce_to_one(value, Xor{}, root);
}

/// Process @p root's value, in every process. Of any size.
template <Value T>
[[nodiscard]] inline T all_bcast(T value, int root = 0);
/// @p count elements of process @p root's @p data into every other one's.
template <Value T>
inline void all_bcast(T* data, std::size_t count, int root = 0);

/// Every process' value, in every process: result[q] is process q's.
template <Value T>
[[nodiscard]] inline std::vector<T> all_gather(T value);
/// The same in process @p root alone; the others get an empty vector.
template <Value T>
[[nodiscard]] inline std::vector<T> all_gather_to_one(T value, int root = 0);

/// Inclusive scan: op of the values of processes 0 to this one, in their order.
template <Value T, class Op>
[[nodiscard]] inline T all_scan(T value, Op op);
template <Number T>
[[nodiscard]] inline T all_scan_add(T value) {
  return all_scan(value, Add{});
}
template <Number T>
[[nodiscard]] inline T all_scan_min(T value) {
  return all_scan(value, Min{});
}
template <Number T>
[[nodiscard]] inline T all_scan_max(T value) {
  return all_scan(value, Max{});
}
/// Exclusive: of the processes before this one; @p identity in process 0.
template <Value T, class Op>
[[nodiscard]] inline T all_scan_before(T value, Op op, T identity);

}  // namespace viaduct::splitc
