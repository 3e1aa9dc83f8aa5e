#pragma once
/// @file
/// Tokens of preprocessed source.

#include <cstdint>
#include <string_view>

#include "compiler-shim/splitcc/diag/diagnostics.hpp"

namespace viaduct::splitcc {

/// The standard of C below Split-C, with GNU's extensions.
enum class Standard : std::uint8_t { gnu89, gnu99, gnu11 };

enum class Tok : std::uint8_t {
  end,
  identifier,
  integer,
  floating,
  character,
  string,
  pragma,  // a whole line, kept
  unknown,
  // keywords
  kw_auto,
  kw_register,
  kw_static,
  kw_extern,
  kw_typedef,
  kw_inline,
  kw_thread,
  kw_noreturn,
  kw_const,
  kw_volatile,
  kw_restrict,
  kw_void,
  kw_char,
  kw_short,
  kw_int,
  kw_long,
  kw_float,
  kw_double,
  kw_signed,
  kw_unsigned,
  kw_bool,
  kw_complex,
  kw_int128,
  kw_floatn,  // _Float128, __float128 and their like
  kw_va_list,
  kw_auto_type,
  kw_struct,
  kw_union,
  kw_enum,
  kw_typeof,
  kw_attribute,
  kw_asm,
  kw_extension,
  kw_label,
  kw_alignof,
  kw_alignas,
  kw_static_assert,
  kw_generic,
  kw_real,
  kw_imag,
  kw_sizeof,
  kw_if,
  kw_else,
  kw_while,
  kw_do,
  kw_for,
  kw_switch,
  kw_case,
  kw_default,
  kw_break,
  kw_continue,
  kw_return,
  kw_goto,
  // punctuation
  l_paren,
  r_paren,
  l_bracket,
  r_bracket,
  l_brace,
  r_brace,
  comma,
  semicolon,
  colon,
  question,
  ellipsis,
  dot,
  arrow,
  tilde,
  exclaim,
  plus,
  minus,
  star,
  slash,
  percent,
  amp,
  pipe,
  caret,
  amp_amp,
  pipe_pipe,
  equal_equal,
  exclaim_equal,
  less,
  greater,
  less_equal,
  greater_equal,
  less_less,
  greater_greater,
  plus_plus,
  minus_minus,
  equal,
  plus_equal,
  minus_equal,
  star_equal,
  slash_equal,
  percent_equal,
  amp_equal,
  pipe_equal,
  caret_equal,
  less_less_equal,
  greater_greater_equal,
  get_put,     // :=
  store,       // :-
  spread_end,  // ::
};

struct Token {
  Tok kind = Tok::end;
  bool in_system_header = false;
  bool space_before = false;
  bool line_start = false;
  int line = 0;
  int column = 0;
  int file = -1;
  std::string_view text;
};

/// What a token adds to the depth of nesting: 1 for an opening bracket of any kind, -1 for a
/// closing one, 0 for all else.
[[nodiscard]] constexpr int bracket_depth(Tok token) noexcept {
  switch (token) {
    case Tok::l_paren:
    case Tok::l_bracket:
    case Tok::l_brace:
      return 1;
    case Tok::r_paren:
    case Tok::r_bracket:
    case Tok::r_brace:
      return -1;
    default:
      return 0;
  }
}

}  // namespace viaduct::splitcc
