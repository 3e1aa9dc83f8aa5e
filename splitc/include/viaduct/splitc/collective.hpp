#pragma once
/// @file
/// Reductions, broadcasts, gathers and scans. Every process calls the same ones in the same order;
/// a call that does not match another process' call ends the job with a sentence that names both.
/// Floating-point results depend on the number of processes and on nothing else, and are the same
/// in all of them. Source: Culler et al., Introduction to Split-C, 1995, library section.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "viaduct/splitc/access.hpp"
#include "viaduct/splitc/detail/collective.hpp"
#include "viaduct/splitc/detail/reduce.hpp"
#include "viaduct/splitc/sync.hpp"

namespace viaduct::splitc {

/// Types that may be reduced: integers and floating-point types.
template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

namespace detail {
/// Sums and products of integers are formed in this type, so that they wrap around.
template <class T>
struct WrappingType {
  using type = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;
};
template <std::floating_point T>
struct WrappingType<T> {
  using type = T;
};
template <std::integral T>
requires(sizeof(T) > 8)  // __int128 is an integer for gnu++20
    struct WrappingType<T> {
  using type = std::make_unsigned_t<T>;
};
template <class T>
using Wrapping = typename WrappingType<T>::type;
}  // namespace detail

/// The operators of the named reductions. Integers wrap around.
struct Add {
  /// @return the sum, wrapped around.
  template <class T>
  T operator()(T a, T b) const noexcept {
    using W = detail::Wrapping<T>;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};
struct Multiply {
  /// @return the product, wrapped around.
  template <class T>
  T operator()(T a, T b) const noexcept {
    using W = detail::Wrapping<T>;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};
struct Min {
  /// @return the lesser one; the first of equal ones.
  template <class T>
  T operator()(T a, T b) const noexcept {
    return b < a ? b : a;
  }
};
struct Max {
  /// @return the greater one; the first of equal ones.
  template <class T>
  T operator()(T a, T b) const noexcept {
    return a < b ? b : a;
  }
};
struct And {
  /// @return bitwise and.
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a & b);
  }
};
struct Or {
  /// @return bitwise or.
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  /// @return exclusive or.
  template <class T>
  T operator()(T a, T b) const noexcept {
    return static_cast<T>(a ^ b);
  }
};

namespace detail {
template <>
inline constexpr Operator kOperatorOf<Add> = Operator::add;
template <>
inline constexpr Operator kOperatorOf<Multiply> = Operator::multiply;
template <>
inline constexpr Operator kOperatorOf<Min> = Operator::min;
template <>
inline constexpr Operator kOperatorOf<Max> = Operator::max;
template <>
inline constexpr Operator kOperatorOf<And> = Operator::bit_and;
template <>
inline constexpr Operator kOperatorOf<Or> = Operator::bit_or;
template <>
inline constexpr Operator kOperatorOf<Xor> = Operator::bit_xor;
}  // namespace detail

/// op(op(v0, v1), op(v2, v3))... of all processes' values, in every process. @p op must be
/// associative; it need not be commutative.
///
/// Collective. Blocks until all values are in.  Progress: a poll point.
/// Cost        log2(PROCS) exchanges of one slot, which is one cache line.
template <Value T, class Op>
[[nodiscard]] inline T all_reduce(T value, Op op, detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  static constexpr detail::CollectiveCall kCall =
      detail::make_collective<T, Op>(detail::CollectiveKind::all_reduce);
  detail::CollectiveEngine& c = detail::collective_engine("all_reduce");
  if (detail::hot.procs != 1) [[likely]]
    return detail::reduce_to_all(c, kCall, value, op);
  c.alone(kCall.kind);
  return value;
}
/// As all_reduce(), in process @p root alone; in the others the result is their own value.
/// Collective.
template <Value T, class Op>
[[nodiscard]] inline T all_reduce_to_one(T value, Op op, int root = 0,
                                         detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  static constexpr detail::CollectiveCall kCall =
      detail::make_collective<T, Op>(detail::CollectiveKind::reduce_to_one);
  detail::CollectiveEngine& c = detail::collective_engine("all_reduce_to_one");
  const std::uint32_t to = detail::check_root("all_reduce_to_one", root);
  if (detail::hot.procs != 1) [[likely]]
    return detail::reduce_to_one(c, kCall, to, value, op);
  c.alone(kCall.kind);
  return value;
}

/// As all_reduce() of arrays, element by element: @p data has every process' @p count elements
/// reduced, in every process.  Collective. Cost: log2(PROCS) exchanges of the array. On one host,
/// for arrays of more than 16 KiB that are not on a stack: one copy of the array, of which each
/// process reduces its part.
template <Value T, class Op>
inline void all_reduce(T* data, std::size_t count, Op op, detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  static constexpr detail::CollectiveCall kCall =
      detail::make_collective<T, Op>(detail::CollectiveKind::all_reduce);
  detail::CollectiveEngine& c = detail::collective_engine("all_reduce");
  if (detail::hot.procs != 1) return detail::reduce_array<true>(c, kCall, 0, data, count, op);
  c.alone(kCall.kind);
}
/// The same, in process @p root alone: the others' arrays stay as they are.  Collective.
template <Value T, class Op>
inline void all_reduce_to_one(T* data, std::size_t count, Op op, int root = 0,
                              detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  static constexpr detail::CollectiveCall kCall =
      detail::make_collective<T, Op>(detail::CollectiveKind::reduce_to_one);
  detail::CollectiveEngine& c = detail::collective_engine("all_reduce_to_one");
  const std::uint32_t to = detail::check_root("all_reduce_to_one", root);
  if (detail::hot.procs != 1) return detail::reduce_array<false>(c, kCall, to, data, count, op);
  c.alone(kCall.kind);
}

/// The sum of all processes' values, in every process.  Collective. Blocks and costs as
/// all_reduce().
template <Number T>
[[nodiscard]] inline T all_reduce_add(T value, detail::Here at = detail::here()) {
  return all_reduce(value, Add{}, at);
}
/// The product of all processes' values, in every process.  Collective. Blocks and costs as
/// all_reduce().
template <Number T>
[[nodiscard]] inline T all_reduce_mul(T value, detail::Here at = detail::here()) {
  return all_reduce(value, Multiply{}, at);
}
/// The least of all processes' values, in every process.  Collective. Blocks and costs as
/// all_reduce().
template <Number T>
[[nodiscard]] inline T all_reduce_min(T value, detail::Here at = detail::here()) {
  return all_reduce(value, Min{}, at);
}
/// The greatest of all processes' values, in every process.  Collective. Blocks and costs as
/// all_reduce().
template <Number T>
[[nodiscard]] inline T all_reduce_max(T value, detail::Here at = detail::here()) {
  return all_reduce(value, Max{}, at);
}
/// The bitwise and of all processes' values, in every process.  Collective. Blocks and costs as
/// all_reduce().
template <std::integral T>
[[nodiscard]] inline T all_reduce_and(T value, detail::Here at = detail::here()) {
  return all_reduce(value, And{}, at);
}
/// The bitwise or of all processes' values, in every process.  Collective. Blocks and costs as
/// all_reduce().
template <std::integral T>
[[nodiscard]] inline T all_reduce_or(T value, detail::Here at = detail::here()) {
  return all_reduce(value, Or{}, at);
}
/// The exclusive or of all processes' values, in every process.  Collective. Blocks and costs as
/// all_reduce().
template <std::integral T>
[[nodiscard]] inline T all_reduce_xor(T value, detail::Here at = detail::here()) {
  return all_reduce(value, Xor{}, at);
}
/// The sum of all processes' values, in process @p root; the others get their own
/// back.  Collective. Blocks and costs as all_reduce().
template <Number T>
[[nodiscard]] inline T all_reduce_to_one_add(T value, int root = 0,
                                             detail::Here at = detail::here()) {
  return all_reduce_to_one(value, Add{}, root, at);
}
/// The product of all processes' values, in process @p root; the others get their own
/// back.  Collective. Blocks and costs as all_reduce().
template <Number T>
[[nodiscard]] inline T all_reduce_to_one_mul(T value, int root = 0,
                                             detail::Here at = detail::here()) {
  return all_reduce_to_one(value, Multiply{}, root, at);
}
/// The least of all processes' values, in process @p root; the others get their own
/// back.  Collective. Blocks and costs as all_reduce().
template <Number T>
[[nodiscard]] inline T all_reduce_to_one_min(T value, int root = 0,
                                             detail::Here at = detail::here()) {
  return all_reduce_to_one(value, Min{}, root, at);
}
/// The greatest of all processes' values, in process @p root; the others get their own
/// back.  Collective. Blocks and costs as all_reduce().
template <Number T>
[[nodiscard]] inline T all_reduce_to_one_max(T value, int root = 0,
                                             detail::Here at = detail::here()) {
  return all_reduce_to_one(value, Max{}, root, at);
}
/// The bitwise and of all processes' values, in process @p root; the others get their own
/// back.  Collective. Blocks and costs as all_reduce().
template <std::integral T>
[[nodiscard]] inline T all_reduce_to_one_and(T value, int root = 0,
                                             detail::Here at = detail::here()) {
  return all_reduce_to_one(value, And{}, root, at);
}
/// The bitwise or of all processes' values, in process @p root; the others get their own
/// back.  Collective. Blocks and costs as all_reduce().
template <std::integral T>
[[nodiscard]] inline T all_reduce_to_one_or(T value, int root = 0,
                                            detail::Here at = detail::here()) {
  return all_reduce_to_one(value, Or{}, root, at);
}
/// The exclusive or of all processes' values, in process @p root; the others get their own
/// back.  Collective. Blocks and costs as all_reduce().
template <std::integral T>
[[nodiscard]] inline T all_reduce_to_one_xor(T value, int root = 0,
                                             detail::Here at = detail::here()) {
  return all_reduce_to_one(value, Xor{}, root, at);
}

/// @p count elements of process @p root's @p data into every other one's.  Collective. Blocks until
/// they are here; of more than 16 KiB, the root until all have them.  Cost: log2(PROCS) messages,
/// one after the other. On one host a copy, for arrays of more than 16 KiB that are not on a stack;
/// two copies for shorter ones.
template <Value T>
inline void all_bcast(T* data, std::size_t count, int root = 0, detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  static constexpr detail::CollectiveCall kCall =
      detail::make_collective<T>(detail::CollectiveKind::broadcast);
  detail::CollectiveEngine& c = detail::collective_engine("all_bcast");
  const std::uint32_t from = detail::check_root("all_bcast", root);
  c.broadcast(kCall, from, data, count);
}
/// Process @p root's value, in every process, of any size.  Collective. Blocks until it is here.
/// T is no local pointer, which would mean nothing in another process: all_bcast(data, n) is the
/// call for an array.
template <Value T>
requires(!std::is_pointer_v<T>) [[nodiscard]] inline T
    all_bcast(T value, int root = 0, detail::Here at = detail::here()) {
  all_bcast(&value, 1, root, at);
  return value;
}

/// Every process' value, in every process: result[q] is process q's.  Collective. Blocks until all
/// are in.  Errors: throws bad_alloc.
template <Value T>
[[nodiscard]] inline std::vector<T> all_gather(T value, detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  static constexpr detail::CollectiveCall kCall =
      detail::make_collective<T>(detail::CollectiveKind::gather);
  detail::CollectiveEngine& c = detail::collective_engine("all_gather");
  using Cell = std::conditional_t<std::is_same_v<T, bool>, char, T>;  // vector<bool> has no data()
  std::vector<Cell> all(detail::hot.procs, static_cast<Cell>(value));
  c.gather(kCall, &value, all.data());
  if constexpr (std::is_same_v<Cell, T>)
    return all;
  else
    return {all.begin(), all.end()};
}
/// As all_gather(), in process @p root alone; the others get an empty vector.  Collective.
template <Value T>
[[nodiscard]] inline std::vector<T> all_gather_to_one(T value, int root = 0,
                                                      detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  static constexpr detail::CollectiveCall kCall =
      detail::make_collective<T>(detail::CollectiveKind::gather_to_one);
  detail::CollectiveEngine& c = detail::collective_engine("all_gather_to_one");
  const std::uint32_t to = detail::check_root("all_gather_to_one", root);
  using Cell = std::conditional_t<std::is_same_v<T, bool>, char, T>;
  std::vector<Cell> all(detail::hot.myproc == to ? detail::hot.procs : 0, static_cast<Cell>(value));
  c.gather_to_one(kCall, to, &value, all.data());
  if constexpr (std::is_same_v<Cell, T>)
    return all;
  else
    return {all.begin(), all.end()};
}

/// Inclusive scan: op of the values of processes 0 to this one, in their order.  Collective. Blocks
/// and costs as all_reduce().
template <Value T, class Op>
[[nodiscard]] inline T all_scan(T value, Op op, detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  static constexpr detail::CollectiveCall kCall =
      detail::make_collective<T, Op>(detail::CollectiveKind::scan);
  detail::CollectiveEngine& c = detail::collective_engine("all_scan");
  if (detail::hot.procs != 1) [[likely]]
    return detail::scan<T, Op>(c, kCall, value, op, nullptr);
  c.alone(kCall.kind);
  return value;
}
/// The sum of the values of processes 0 to this one.  Collective. Blocks and costs as all_scan().
template <Number T>
[[nodiscard]] inline T all_scan_add(T value, detail::Here at = detail::here()) {
  return all_scan(value, Add{}, at);
}
/// The least of the values of processes 0 to this one.  Collective. Blocks and costs as all_scan().
template <Number T>
[[nodiscard]] inline T all_scan_min(T value, detail::Here at = detail::here()) {
  return all_scan(value, Min{}, at);
}
/// The greatest of the values of processes 0 to this one.  Collective. Blocks and costs as
/// all_scan().
template <Number T>
[[nodiscard]] inline T all_scan_max(T value, detail::Here at = detail::here()) {
  return all_scan(value, Max{}, at);
}
/// Exclusive scan: of the processes before this one; @p identity in process 0.  Collective. Blocks
/// and costs as all_reduce().
template <Value T, class Op>
[[nodiscard]] inline T all_scan_before(T value, Op op, T identity,
                                       detail::Here at = detail::here()) {
  const detail::CallScope scope(at);
  static constexpr detail::CollectiveCall kCall =
      detail::make_collective<T, Op>(detail::CollectiveKind::scan_before);
  detail::CollectiveEngine& c = detail::collective_engine("all_scan_before");
  if (detail::hot.procs != 1) [[likely]]
    return detail::scan(c, kCall, value, op, &identity);
  c.alone(kCall.kind);
  return identity;
}

}  // namespace viaduct::splitc
