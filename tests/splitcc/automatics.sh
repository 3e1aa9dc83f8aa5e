#!/usr/bin/env bash
# automatics.sh SPLITCC FOLDER [PROGRAM [ARGUMENT...]]: what it costs that automatic variables begin as zero. PROGRAM is a
# source file or a folder of source files; without it all of examples/split-c. Counts the instructions of splitc_main in
# one process by callgrind, with and without the zeroes, at -O2 and -O4. Prints a table; fails above 2 %.
set -euo pipefail
splitcc=$1 folder=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }
mkdir -p "$folder"
export VIADUCT_SEGMENT_BASE=1024G VIADUCT_SPREAD_BYTES=64M VIADUCT_HEAP_BYTES=64M
failed=

# count FILE ARGUMENT...: instructions of splitc_main and what it calls.
count() {
  timeout 300 valgrind --tool=callgrind --toggle-collect=vsc_main --callgrind-out-file="$folder/profile" "$@" \
    >"$folder/said" 2>&1 || {
    cat "$folder/said" >&2
    return 1
  }
  sed -n 's/^summary: \([0-9]*\).*/\1/p; s/^totals: \([0-9]*\).*/\1/p' "$folder/profile" | tail -n 1
}

# compare PROGRAM ARGUMENT...
compare() {
  local program=$1 level zero plain
  local files=("$program")
  [ -d "$program" ] && files=("$program"/*.sc)
  shift
  for level in -O2 -O4; do
    "$splitcc" -w $level "${files[@]}" -lm -o "$folder/zero"
    "$splitcc" -w $level -fno-zero-automatics "${files[@]}" -lm -o "$folder/plain"
    if grep -q 'lib[at]san' <<<"$(ldd "$folder/zero")"; then
      echo "a program with a sanitizer does not run under valgrind"
      exit 77
    fi
    zero=$(count "$folder/zero" "$@")
    plain=$(count "$folder/plain" "$@")
    awk -v name="$(basename "$program" .sc)" -v level=$level -v zero="$zero" -v plain="$plain" 'BEGIN {
      printf "%-14s %-4s %12d %12d %+.2f %%\n", name, level, plain, zero, 100 * (zero - plain) / plain
      exit !(plain > 10000 && zero <= 1.02 * plain) }' || failed=1
  done
}

printf '%-14s %-4s %12s %12s\n' program "" "as they are" zeroes
if [ $# -gt 0 ]; then
  compare "$@"
else
  for source in "$here"/../../examples/split-c/*.sc; do compare "$source"; done
fi
[ -z "$failed" ]
