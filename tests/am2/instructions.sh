#!/usr/bin/env bash
# instructions.sh PROGRAM: what AM-2 in C costs over am/, counted by callgrind with all that both call. Prints a table;
# fails above the limits, which are those of the table.
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
  awk -v word=":$1 " -v n=$count '/=>/ { next } index($0, word) { gsub(",", "", $1); printf "%.1f", $1 / n; exit }' "$work/all"
}
failed=0
# compare WHAT NAME LIMIT: in C beside C++, at most LIMIT instructions more
compare() {
  local in_c in_cxx
  in_c=$(of "viaduct_$2_in_c")
  in_cxx=$(of "viaduct_$2_in_cxx")
  printf '%-28s %10s %10s   at most %s more\n' "$1" "$in_c" "$in_cxx" "$3"
  awk -v c="$in_c" -v cxx="$in_cxx" -v most="$3" 'BEGIN { exit !(c > 50 && cxx > 50 && c - cxx <= most) }' || failed=1
}
printf '%-28s %10s %10s\n' instructions 'in C' 'in C++'
# The connection is to the endpoint itself, so that the poll that each request of AM-2 makes finds the message each time;
# those of am/ find several at once.
compare 'a request and its reply' rounds 170
compare 'a request without a reply' flood 160
[ $failed = 0 ] || { echo "FAILED: AM-2 in C costs more than that"; exit 1; }
