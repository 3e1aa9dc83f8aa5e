#pragma once
// Checked mode (docs/checked.md): how an operation knows its place in the source.
//
// A source that is compiled with VIADUCT_CHECKED=1 passes a Located to each operation, and others
// pass an Unchecked, which is empty. Both kinds of source may be parts of one program: the type is
// a part of each function's name, so that the linker never confuses the two. Every type of the
// program's data has the same layout in both (docs/decisions/023).

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace viaduct::splitc::detail {

/// In a source that is not checked: nothing is passed, nothing is done.
struct Unchecked {
  [[nodiscard]] static constexpr Unchecked unknown() noexcept { return {}; }
  constexpr void check(const char*, std::uint64_t, std::size_t) const noexcept {}
};

/// In a checked source: the place of a call. Without a file, sentences name the address of the
/// code.
struct Located {
  const char* file = nullptr;
  int line = 0;

  [[nodiscard]] static constexpr Located unknown() noexcept { return {}; }
  /// Stops the program with a sentence when @p operation may not touch the @p bytes bytes that the
  /// global pointer @p word names.
  [[gnu::always_inline]] void check(const char* operation, std::uint64_t word,
                                    std::size_t bytes) const;
};

// The library's part, checked_calls.cpp.
[[gnu::noinline]] void check_access(const char* operation, std::uint64_t word, std::size_t bytes,
                                    Located at);
/// From now on the library keeps the tables that check_access() looks at: before splitc_main.
bool ask_for_checks() noexcept;
/// Whether a part of the program has called ask_for_checks().
[[nodiscard]] bool checks_are_asked_for() noexcept;

inline void Located::check(const char* operation, std::uint64_t word, std::size_t bytes) const {
  check_access(operation, word, bytes, *this);
}

/// The bytes that an operation sends. In a checked source they must be the same before and after.
template <class Mode>
class Source {
 public:
  constexpr Source(Mode, const char*, std::uint64_t, const void*, std::size_t) noexcept {}
  constexpr void check() const noexcept {}
};
/// Cost: reads the bytes twice.
template <>
class Source<Located> {
 public:
  Source(Located at, const char* operation, std::uint64_t to, const void* from,
         std::size_t bytes) noexcept;
  /// When the operation needs the bytes no longer: stops the program when they have changed.
  void check() const;

 private:
  Located at_;
  const char* operation_;
  std::uint64_t to_;
  const void* from_;
  std::size_t bytes_;
  std::uint64_t sum_;
};

#if VIADUCT_CHECKED + 0
using Here = Located;
/// As a default argument: the place of the call.
[[nodiscard]] constexpr Located here(const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE()) noexcept {
  return {file, line};
}
inline const bool kAskedForChecks = ask_for_checks();

/// A subscript, and where it stands.
struct Subscript {
  template <std::convertible_to<std::ptrdiff_t> I>
  constexpr Subscript(I i, Located its_place = here())  // NOLINT: it stands for a number
      : number(static_cast<std::ptrdiff_t>(i)), at(its_place) {}
  std::ptrdiff_t number;
  Located at;
};
[[nodiscard]] constexpr std::ptrdiff_t number_of(Subscript i) noexcept { return i.number; }
[[nodiscard]] constexpr Located place_of_subscript(Subscript i) noexcept { return i.at; }
/// Inlined, an operation that has no call to name its place is found by the address of its code.
#define VIADUCT_SPLITC_IN_PLACE [[gnu::always_inline]]
#else
using Here = Unchecked;
[[nodiscard]] constexpr Unchecked here() noexcept { return {}; }

using Subscript = std::ptrdiff_t;
[[nodiscard]] constexpr std::ptrdiff_t number_of(std::ptrdiff_t i) noexcept { return i; }
[[nodiscard]] constexpr Unchecked place_of_subscript(std::ptrdiff_t) noexcept { return {}; }
#define VIADUCT_SPLITC_IN_PLACE
#endif

}  // namespace viaduct::splitc::detail
