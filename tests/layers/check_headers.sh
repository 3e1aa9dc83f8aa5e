#!/usr/bin/env bash
# check_headers.sh COMPILER INCLUDE_DIRECTORIES HEADER...
# Compiles every HEADER by itself, included twice, with warnings as errors: whoever includes it first must not have to
# know what else it needs. INCLUDE_DIRECTORIES are separated by colons. Exit status 77 when there is no such compiler.
set -euo pipefail
compiler=$1
directories=$2
shift 2
command -v "$compiler" >/dev/null || { echo "skipped: there is no $compiler here"; exit 77; }
[ $# -gt 0 ] || { echo "no header to check"; exit 1; }

options=(-std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Werror -fsyntax-only -x c++ -)
IFS=: read -ra list <<<"$directories"
for directory in "${list[@]}"; do options=(-I "$directory" "${options[@]}"); done

failures=$(mktemp -d)
trap 'rm -rf "$failures"' EXIT
check() {
  local header=$1 name
  name=$failures/$(tr / _ <<<"$header")
  printf '#include "%s"\n#include "%s"\n' "$header" "$header" | "$compiler" "${options[@]}" 2>"$name" ||
    { echo "$header does not compile alone:"; cat "$name"; touch "$name.failed"; }
  rm -f "$name"
}

for header; do
  while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n || true; done
  check "$header" &
done
wait
[ -z "$(ls "$failures")" ] || exit 1
echo "$# headers compile alone with $compiler"
