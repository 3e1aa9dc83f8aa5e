#!/usr/bin/env bash
# check_light_selftest.sh CHECK COMPILER: a header with light includes passes; one that brings a heavy header along, also
# through another one, is refused by name; one that is not there is an error.
set -euo pipefail
check=$1
compiler=$2
command -v "$compiler" >/dev/null || { echo "skipped: there is no $compiler here"; exit 77; }
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
expect() { # STATUS WORD HEADER...: the check ends with STATUS and says WORD
  local wanted=$1 word=$2 status=0 said
  shift 2
  said=$("$check" "$compiler" "$tree" "$@" 2>/dev/null) || status=$?
  [ "$status" -eq "$wanted" ] || { echo "$*: status $status, not $wanted: $said"; exit 1; }
  grep -q "$word" <<<"$said" || { echo "$*: no '$word' in: $said"; exit 1; }
}
printf '#include <vector>\n#include <functional>\n// #include <string>\n' >"$tree/light.hpp"
mkdir "$tree/atomic"
echo '#include "atomic/word.hpp"' >"$tree/own.hpp" # a folder of that name is not the library's header
: >"$tree/atomic/word.hpp"
expect 0 '2 headers are light' light.hpp own.hpp
expect 2 'cannot be read' absent.hpp
for name in atomic memory string thread immintrin.h; do
  echo "#include <$name>" >"$tree/heavy.hpp"
  printf '#include "light.hpp"\n#include "heavy.hpp"\n' >"$tree/through.hpp"
  expect 1 "/$name\$" heavy.hpp
  expect 1 '^through.hpp includes' light.hpp through.hpp
done
