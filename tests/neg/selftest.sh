#!/usr/bin/env bash
# selftest.sh CMAKE SCRIPT COMPILER: a negative test must itself fail when its control is wrong, when nothing is wrong,
# and when something else is wrong than what it names.
set -euo pipefail
cmake=$1
script=$2
compiler=$3
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

touch "$tree/empty.hpp"
echo "viaduct_negative_case($tree/source.cpp \"named diagnostic\")" >"$tree/cases.cmake"

# run BODY: the negative test of a source with this body; prints what it says.
run() {
  printf '%s\n' "$1" >"$tree/source.cpp"
  "$cmake" -D "COMPILER=$compiler" -D "CASES=${2-$tree/cases.cmake}" -D "INCLUDES=$tree" -D FLAGS=-std=c++20 \
    -D PRECOMPILED=empty.hpp -D "WORK=$tree/work" -P "$script" 2>&1
}
# expect SENTENCE BODY
expect() {
  local output
  if output=$(run "$2"); then
    echo "passes although $1"
    exit 1
  fi
  grep -qF "$1" <<<"$(tr -s '[:space:]' ' ' <<<"$output")" || { echo "does not say '$1': $output"; exit 1; }
}

named='static_assert(sizeof(int) == 1, "named diagnostic");'
run "#ifdef VIADUCT_NEGATIVE
$named
#endif" || { echo "a correct negative test fails"; exit 1; }
expect 'the control does not compile' "$named"
expect 'although it must not' 'int right;'
expect 'without the diagnostic' '#ifdef VIADUCT_NEGATIVE
int wrong = ;
#endif'
touch "$tree/none.cmake"
! output=$(run 'int right;' "$tree/none.cmake") || { echo "passes without a case"; exit 1; }
grep -q 'there is no case' <<<"$output" || { echo "does not say that there is no case: $output"; exit 1; }
