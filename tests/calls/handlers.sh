#!/usr/bin/env bash
# handlers.sh COMPILER INCLUDE_DIRECTORY...: handlers that are none, each in a program of its own. The compiler must give one
# error, which says what a handler looks like, in at most six lines besides the source that it quotes. A program with the
# right ones compiles first.
set -euo pipefail
compiler=$1
shift
command -v "$compiler" >/dev/null || { echo "SKIPPED: $compiler is not installed"; exit 77; }
includes=()
for directory; do includes+=("-I$directory"); done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=

# The header once: it takes longer than all programs.
echo '#include "viaduct/am/endpoint.hpp"' >"$work/all.hpp"
"$compiler" -std=c++20 "${includes[@]}" -x c++-header "$work/all.hpp" -o "$work/all.hpp.${compiler:0:1}ch"
use=()
[[ $compiler == clang* ]] && use=(-include-pch "$work/all.hpp.cch")

compile() { # compile HANDLER CALL
  cat >"$work/program.cpp" <<PROGRAM
#include "all.hpp"
namespace am = viaduct::am;
$1
void send(am::Endpoint& endpoint, am::Index to, am::Token& token) {
  (void)endpoint, (void)to, (void)token;
  $2;
}
PROGRAM
  (cd "$work" && LC_ALL=C "$compiler" -std=c++20 -Wall -Wextra -Werror "${includes[@]}" "${use[@]}" \
    -fsyntax-only program.cpp) >"$work/said" 2>&1
}

right() {
  compile "$1" "$2" || { echo "FAILED: a right handler is refused: $1"; cat "$work/said"; failed=1; }
}
# wrong NAME HANDLER CALL WORDS: the quoted source is what begins with blanks, a number and a bar, or is a marker below it
wrong() {
  local errors lines
  if compile "$2" "$3"; then echo "FAILED: $1 compiles"; failed=1; return; fi
  errors=$(grep -c ' error: ' "$work/said" || true)
  lines=$(grep -vcE '^ *[0-9]* \| |^ *[~^ ]+$|^  ?[^ ].*;$|^ +__attribute__|generated\.$' "$work/said" || true)
  printf '%-24s %s error, %s lines, %s with the source\n' "$1" "$errors" "$lines" "$(wc -l <"$work/said")"
  if ((errors != 1 || lines > 6)) || ! grep -q -- "$4" "$work/said"; then
    echo "FAILED: $1: not one error of at most six lines with '$4':"
    cat "$work/said"
    failed=1
  fi
}

right 'void f(am::Token&, int);' '(void)endpoint.request<f>(to, 1)'
right 'void f(am::Token&, std::span<const int>);' 'int data[3] = {}; (void)endpoint.request_medium<f>(to, data)'
right 'std::uint64_t f(am::Token&, int);' '(void)endpoint.call<f>(to, 1).wait()'
right 'std::array<int, 100> f(am::Token&);' 'int room[100]; (void)endpoint.call<f>(to, room).wait()'
right '' '(void)endpoint.call<[](am::Token&, int x) { return x; }>(to, 1).wait()'
right '' '(void)endpoint.request<[](am::Token&, int) {}>(to, 1)'

sentence='a handler is a function void f(viaduct::am::Token&, ...): it returns nothing'
grep -qF -- "$sentence" "$(dirname "$0")/../../docs/errors.md" || { echo "FAILED: docs/errors.md shows another sentence"; failed=1; }
wrong 'no token' 'void f(int);' '(void)endpoint.request<f>(to, 1)' "$sentence"
wrong 'token by value' 'void f(am::Token, int);' '(void)endpoint.request<f>(to, 1)' "$sentence"
wrong 'const token' 'void f(const am::Token&, int);' '(void)endpoint.request<f>(to, 1)' "$sentence"
wrong 'returns' 'int f(am::Token&, int);' '(void)endpoint.request<f>(to, 1)' "$sentence"
wrong 'member' 'struct S { void f(am::Token&, int); };' '(void)endpoint.request<&S::f>(to, 1)' "$sentence"
wrong 'an argument with a string' 'struct S { S(const S&); }; void f(am::Token&, S);' \
  'extern S s; (void)endpoint.request<f>(to, s)' 'must be trivially copyable'
wrong 'too large' 'struct S { char c[200]; }; void f(am::Token&, S);' \
  '(void)endpoint.request<f>(to, S{})' 'at most 128 bytes'
wrong 'medium as short' 'void f(am::Token&, std::span<const int>);' '(void)endpoint.request<f>(to)' 'use request_medium'
wrong 'bulk as medium' 'void f(am::Token&, std::span<int>);' \
  'int data[3] = {}; (void)endpoint.request_medium<f>(to, data)' 'takes std::span<const T> after its token'
wrong 'reply' 'int f(am::Token&, int);' 'token.reply<f>(1)' "$sentence"
wrong 'medium reply' 'void f(am::Token&, int);' 'int data[3] = {}; (void)token.reply_medium<f>(data)' "$sentence"
wrong 'get' 'void f(am::Token&, int);' 'int data[3] = {}; (void)endpoint.get<f>(to, data, 0)' "$sentence"
wrong 'call without token' 'int f(int);' '(void)endpoint.call<f>(to, 1)' 'a handler of calls is a function R f'
wrong 'call of a reference' 'int& f(am::Token&, int);' '(void)endpoint.call<f>(to, 1)' 'a handler of calls is a function R f'
wrong 'call lambda, no token' '' '(void)endpoint.call<[](int x) { return x; }>(to, 1)' 'a handler of calls is a function R f'
[ -z "$failed" ]
