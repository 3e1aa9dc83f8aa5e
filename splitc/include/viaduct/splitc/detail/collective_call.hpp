#pragma once
// The description of a collective call: compared between processes, and named when calls differ.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "viaduct/splitc/detail/here.hpp"

namespace viaduct::splitc::detail {

enum class CollectiveKind : std::uint8_t {
  barrier,
  all_reduce,
  reduce_to_one,
  broadcast,
  gather,
  gather_to_one,
  scan,
  scan_before,
  allocate,
  allocate_spread,
  release,
  release_spread,
  store_sync,
  force_path,
  end,  // of splitc_main
};

/// Operators that a sentence can name.
enum class Operator : std::uint8_t {
  none,
  add,
  multiply,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  other,
};

enum class Element : std::uint8_t { none, integer, natural, floating, other };

/// Operator types name themselves by specialising this.
template <class Op>
inline constexpr Operator kOperatorOf = Operator::other;

template <class T>
[[nodiscard]] constexpr Element element_of() noexcept {
  if constexpr (std::is_floating_point_v<T>) return Element::floating;
  if constexpr (std::is_integral_v<T>)
    return std::is_signed_v<T> ? Element::integer : Element::natural;
  return Element::other;
}

/// A number for a type, by its name: the same in all processes of one program (FNV-1a).
template <class T>
[[nodiscard]] constexpr std::uint64_t type_hash() noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char* c = __PRETTY_FUNCTION__; *c != 0; ++c)
    hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3;
  return hash;
}

/// The part of a call that is known when the program is compiled.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::barrier;
  Operator op = Operator::none;
  Element element = Element::none;
  std::uint64_t element_bytes = 0;
  std::uint64_t hash = 0;
};

template <class T, class Op = void>
[[nodiscard]] constexpr CollectiveCall make_collective(CollectiveKind kind) noexcept {
  CollectiveCall call{kind, Operator::none, element_of<T>(), sizeof(T), 0};
  if constexpr (!std::is_void_v<Op>) call.op = kOperatorOf<Op>;
  call.hash = (type_hash<T>() * 31 + type_hash<Op>()) * 31 + static_cast<std::uint64_t>(kind);
  return call;
}

/// Of calls without elements.
[[nodiscard]] constexpr CollectiveCall make_plain_collective(CollectiveKind kind) noexcept {
  return {kind, Operator::none, Element::none, 0, static_cast<std::uint64_t>(kind) + 1};
}

/// The place of a collective call in the program's source, for sentences about the call. The texts
/// are at the same address in every process. No file: unknown.
struct CallPlace {
  const char* what = nullptr;  // the object that the call is for, an array's name; null: none
  const char* file = nullptr;
  int line = 0;
};
/// The place of the calls that this rank makes, until it is changed.
extern thread_local constinit CallPlace call_place;

/// While a CallScope lives, the calls of this rank have the place that it was made with.
template <class Mode>
class [[maybe_unused]] CallScope {
 public:
  constexpr explicit CallScope(Mode) noexcept {}
};
template <>
class CallScope<Located> {
 public:
  explicit CallScope(Located at) noexcept;  // checked_calls.cpp
  ~CallScope() { call_place = before_; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  CallPlace before_;
};

/// "all_reduce", ...: the name of the call in records of waits and in sentences.
[[nodiscard]] const char* to_string(CollectiveKind kind) noexcept;

}  // namespace viaduct::splitc::detail
