#!/usr/bin/env bash
# check_lines.sh COMPILER INCLUDE_DIRECTORIES HEADER=LINES...
# A program that includes HEADER reads at most LINES lines, those of the standard library among them. INCLUDE_DIRECTORIES
# are separated by colons. Exit status 77 when there is no such compiler, 1 when a header is longer or cannot be read.
set -euo pipefail
compiler=$1
directories=$2
shift 2
command -v "$compiler" >/dev/null || { echo "skipped: there is no $compiler here"; exit 77; }
[ $# -gt 0 ] || { echo "no header to check"; exit 2; }
options=(-std=c++20 -E -x c++ -)
IFS=: read -ra list <<<"$directories"
for directory in "${list[@]}"; do options=(-I "$directory" "${options[@]}"); done

status=0
for limit; do
  header=${limit%=*}
  text=$(printf '#include <%s>\n' "$header" | "$compiler" "${options[@]}") || exit 1
  lines=$(wc -l <<<"$text")
  echo "$header: $lines lines, at most ${limit#*=} are meant"
  [ "$lines" -le "${limit#*=}" ] || status=1
done
exit "$status"
