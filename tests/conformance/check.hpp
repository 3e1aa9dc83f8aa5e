#pragma once
/// @file
/// Checks for cases that run in several ranks at once, be they processes or threads: no state but
/// the rank's own.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "viaduct/runtime/status.hpp"
#include "viaduct/via/types.hpp"

namespace viaduct::conformance {

/// 120 seconds, or as many as TEST_PATIENCE says: an emulated machine may be very slow.
std::int64_t patience_ns();
/// Longest wait for anything that must happen: a case that waits so long hangs.
inline const std::int64_t kLimitNs = patience_ns();

/// Thrown by REQUIRE: the case is over for this rank.
struct CaseFailed {};
/// Thrown by Rig::skip().
struct CaseSkipped {
  std::string reason;
};
/// Thrown by Rig::sync() when another rank has given up.
struct CaseAborted {
  std::string reason;
};

/// What the checks of one rank have found in the running case.
struct Verdict {
  std::uint32_t rank = 0;
  std::string_view case_name;
  std::uint64_t checks = 0;
  std::uint64_t failures = 0;
  std::vector<std::string> notes;  // innermost last
};

/// The verdict of the calling thread; the runner sets it.
[[nodiscard]] Verdict& current_verdict() noexcept;
void set_current_verdict(Verdict* verdict) noexcept;

/// The line of the case that a helper was called from: take it as the last, defaulted parameter.
struct Where {
  const char* file;
  int line;
  static constexpr Where here(const char* file = __builtin_FILE(),
                              int line = __builtin_LINE()) noexcept {
    return Where{file, line};
  }
};

/// Counts one check; when it failed, prints "file:line: rank R: case: what [notes]".
bool check(bool passed, const std::string& what, Where where);

/// Adds a line to the messages of all checks that fail during its life.
class Note {
 public:
  template <class... Args>
  explicit Note(fmt::format_string<Args...> format, Args&&... args) {
    current_verdict().notes.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  ~Note() { current_verdict().notes.pop_back(); }
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;
};

template <class T>
[[nodiscard]] std::string text_of(const T& value) {
  if constexpr (requires { std::string(to_string(value)); }) {
    return std::string(to_string(value));
  } else if constexpr (std::is_enum_v<T>) {
    return fmt::format("{}", static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_pointer_v<T>) {
    return fmt::format("{}", static_cast<const void*>(value));
  } else if constexpr (std::is_null_pointer_v<T>) {
    return "null";
  } else {
    return fmt::format("{}", value);
  }
}

template <class T>
inline constexpr bool kIsCount =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>;

template <class A, class B>
bool check_equal(const A& is, const B& wanted, const char* text, Where where) {
  bool equal = false;
  if constexpr (kIsCount<A> && kIsCount<B>) {
    equal = std::cmp_equal(is, wanted);
  } else {
    equal = is == wanted;
  }
  if (equal) return check(true, {}, where);
  return check(false, fmt::format("{} is {}, wanted {}", text, text_of(is), text_of(wanted)),
               where);
}

}  // namespace viaduct::conformance

#define CHECK(condition)                                                                        \
  ((condition) ? ::viaduct::conformance::check(true, {}, ::viaduct::conformance::Where::here()) \
               : ::viaduct::conformance::check(false, "not so: " #condition,                    \
                                               ::viaduct::conformance::Where::here()))
#define CHECK_EQ(is, wanted) \
  ::viaduct::conformance::check_equal((is), (wanted), #is, ::viaduct::conformance::Where::here())
#define REQUIRE(condition)                                             \
  do {                                                                 \
    if (!CHECK(condition)) throw ::viaduct::conformance::CaseFailed{}; \
  } while (false)
#define REQUIRE_EQ(is, wanted)                                             \
  do {                                                                     \
    if (!CHECK_EQ(is, wanted)) throw ::viaduct::conformance::CaseFailed{}; \
  } while (false)
/// The expression must throw viaduct::Error with a sentence.
#define CHECK_THROWS(expression)                                                            \
  do {                                                                                      \
    bool thrown_ = false;                                                                   \
    try {                                                                                   \
      static_cast<void>(expression);                                                        \
    } catch (const ::viaduct::Error& error_) {                                              \
      thrown_ = std::string_view(error_.what()).size() > 20;                                \
    }                                                                                       \
    ::viaduct::conformance::check(thrown_, "throws no Error with a sentence: " #expression, \
                                  ::viaduct::conformance::Where::here());                   \
  } while (false)
