#!/usr/bin/env bash
# beside_cxx.sh PROGRAM 'WHAT=NAME=LIMIT'...: what a C interface costs over the C++ one, counted by callgrind with all that
# both call. PROGRAM takes a number of rounds; its functions viaduct_NAME_in_c and viaduct_NAME_in_cxx do so many. Prints a
# table of instructions a round; fails where C takes more than LIMIT instructions more than C++.
set -euo pipefail
program=$1
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=8000
timeout 100 valgrind --tool=callgrind --callgrind-out-file="$work/profile" "$program" $count >"$work/out" 2>&1 || {
  echo "the run ended with $?:"
  cat "$work/out"
  exit 1
}
callgrind_annotate --inclusive=yes --threshold=100 "$work/profile" >"$work/all"

# of FUNCTION: instructions of a round of it, with all that it calls
of() {
  awk -v name="$1" -v n=$count '/=>/ { next }
    index($0, ":" name " ") || index($0, ":" name "(") { gsub(",", "", $1); printf "%.1f", $1 / n; exit }' "$work/all"
}
failed=0
printf '%-36s %10s %10s\n' instructions 'in C' 'in C++'
for row in "${@:2}"; do
  IFS='=' read -r what name limit <<<"$row"
  in_c=$(of "viaduct_${name}_in_c")
  in_cxx=$(of "viaduct_${name}_in_cxx")
  printf '%-36s %10s %10s   at most %s more\n' "$what" "$in_c" "$in_cxx" "$limit"
  awk -v c="$in_c" -v cxx="$in_cxx" -v most="$limit" 'BEGIN { exit !(c > 20 && cxx > 20 && c - cxx <= most) }' || failed=1
done
[ $failed = 0 ] || { echo "FAILED: C costs more than that"; exit 1; }
