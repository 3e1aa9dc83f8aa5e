#!/usr/bin/env bash
# instructions.sh SPLITCC FOLDER: instructions for each of 20,000 elements that one process goes over, by the way of access,
# counted by callgrind. Prints a table; fails when a way costs more than its limit. The counts are those of the compiler and
# of no machine.
set -euo pipefail
splitcc=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }
mkdir -p "$folder"
cd "$folder"
rm -f profile
"$splitcc" -O2 "$here/instructions.sc" -o instructions
if grep -q 'lib[at]san' <<<"$(ldd ./instructions)"; then
  echo "a program with a sanitizer does not run under valgrind"
  exit 77
fi
VIADUCT_SEGMENT_BASE=1024G VIADUCT_SPREAD_BYTES=16M VIADUCT_HEAP_BYTES=64M \
  timeout 100 valgrind --tool=callgrind --callgrind-out-file=profile ./instructions >out 2>&1 || {
  echo "the run ended with $?:"
  cat out
  exit 1
}
callgrind_annotate --inclusive=yes --threshold=100 profile >table

# check WAY FUNCTION LIMIT [TIMES]
failed=
printf '%-16s %-13s %s\n' way instructions limit
check() {
  local each
  each=$(awk -v name=":$2 " -v times="${4:-1}" \
    'index($0 " ", name) { gsub(",", "", $1); printf "%.1f", $1 / 20000 / times; exit }' table)
  printf '%-16s %-13s %s\n' "$1" "${each:-not found}" "$3"
  awk -v each="${each:-0}" -v limit="$3" 'BEGIN { exit !(each >= 1 && each <= limit) }' || failed=1
}
check "local pointer" by_local_pointer 5 2
check "*g++" by_global_pointer 12
check "g[i]" by_global_index 14
check "*--g" backwards 14
check "A[i]" by_spread_index 20
check "A[i] = i" write_spread 20
check "A[i] := i" put_spread 43
check "A[i] :- i" store_spread 60
[ -z "$failed" ]
