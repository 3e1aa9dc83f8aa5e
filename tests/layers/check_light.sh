#!/usr/bin/env bash
# check_light.sh COMPILER INCLUDE_DIRECTORIES HEADER...
# None of the HEADERs includes, by whatever way, a standard header that costs its users more than all of Viaduct's own
# (docs/decisions/013-compile-time.md). INCLUDE_DIRECTORIES are separated by colons. The names are those of g++'s library.
# Exit status 77 when there is no such compiler, 2 when a header cannot be read.
set -euo pipefail
compiler=$1
directories=$2
shift 2
command -v "$compiler" >/dev/null || { echo "skipped: there is no $compiler here"; exit 77; }
[ $# -gt 0 ] || { echo "no header to check"; exit 2; }

options=(-std=c++20 -O2 -M -x c++ -)
IFS=: read -ra list <<<"$directories"
for directory in "${list[@]}"; do options=(-I "$directory" "${options[@]}"); done

heavy='(atomic|chrono|condition_variable|format|fstream|iostream|locale|map|memory|mutex|ostream|random|ranges|regex|set'
heavy+='|sstream|string|thread|immintrin\.h)'
status=0
for header; do
  files=$(printf '#include "%s"\n' "$header" | "$compiler" "${options[@]}") || { echo "$header cannot be read"; exit 2; }
  found=$(tr -s '[:space:]\134' '\n' <<<"$files" | grep -E "/(c\+\+/[0-9.]+|include)/$heavy\$" || true)
  [ -z "$found" ] || { printf '%s includes what it must not:\n%s\n' "$header" "$found"; status=1; }
done
[ "$status" -ne 0 ] || echo "$# headers are light"
exit "$status"
