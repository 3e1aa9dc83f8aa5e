#pragma once
/// @file
/// Typed configuration. Each layer has one struct of settings and one constexpr table of Options
/// that describes it; help, documentation, range checks and the unknown-name warning all come from
/// the tables.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace viaduct::config {

enum class Type : std::uint8_t {
  integer,  ///< std::int64_t
  bytes,    ///< std::int64_t; accepts suffixes K, M, G (powers of 1024)
  time_ns,  ///< std::int64_t; accepts suffixes ns, us, ms, s
  boolean,  ///< bool; 0/1, no/yes, off/on, false/true
  text,     ///< std::string; with choices non-empty ("a|b|c") only those
};

struct Option {
  std::string_view name;  ///< "spin_ns"
  const char* variable;   ///< "VIADUCT_SPIN_NS"
  std::string_view
      default_text;       ///< as a user would write it; "auto" allowed where `automatic` is set
  std::string_view unit;  ///< "ns", "bytes", ""
  Type type;
  std::int64_t min;
  std::int64_t max;
  std::string_view choices;  ///< for Type::text
  std::string_view help;     ///< one sentence
  std::size_t offset;        ///< offsetof the member in the settings struct
};

/// Value of an integer, bytes or time option that was given as "auto".
inline constexpr std::int64_t kAuto = -1;

struct Table {
  std::string_view layer;  ///< "runtime", "shm", "am"
  std::span<const Option> options;
};

/// Fills @p settings (a layer's struct) from the defaults and then the environment.
/// Throws Error naming the variable, its value, the accepted values: for a malformed or
/// out-of-range value.
void load(void* settings, std::span<const Option> options);

/// @return what @p option accepts, in words: "a whole number from 0 to 10, or auto".
[[nodiscard]] std::string describe_values(const Option& option);

/// @return every layer's table, which lives as long as the process. The function is defined once
/// for the whole library (splitc/src/option_tables.cpp), above all layers.
[[nodiscard]] std::span<const Table> all_tables() noexcept;

/// @return the names of the providers of this build, for the launcher's command line. They live as
/// long as the process. The function is defined where providers are opened (via/src/nic.cpp).
[[nodiscard]] std::span<const std::string_view> providers() noexcept;

/// @return the complaint about @p name as a provider, or "" where open_nic() takes it: one of
/// providers(), "verbs:DEVICE", or provider fault around one of them. Defined where providers are
/// opened.  Throws std::bad_alloc alone.
[[nodiscard]] std::string provider_problem(const std::string& name);

/// For every VIADUCT_* variable in the environment that no table names (and that is not the
/// launcher's own): a sentence with the nearest known name.  @return the sentences, empty when all
/// variables are known.
[[nodiscard]] std::string unknown_variables();

/// The text of `viaduct-info --help-config`: every option with default, unit, range, help and, if
/// the environment sets it, its present value and that it came from there.  @return the text.
[[nodiscard]] std::string help();

}  // namespace viaduct::config
