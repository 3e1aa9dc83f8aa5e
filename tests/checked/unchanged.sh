#!/usr/bin/env bash
# unchanged.sh COMPILER CODEGEN FLAG...: without checked mode what the headers inline of a read, a write and a light poll has
# the counts of the table in the folder CODEGEN exactly, and nothing in the object is of checked mode; with
# VIADUCT_CHECKED=1 the check is called. 77: no compiler.
set -euo pipefail
compiler=$1 codegen=$2
shift 2
command -v "$compiler" >/dev/null || { echo "skipped: $compiler is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names() { objdump -t -r -C "$work/subjects.o" | grep -cE 'check_access|Located|ask_for_checks' || true; }

"$compiler" "$@" -c "$codegen/splitc.cpp" -o "$work/subjects.o"
grep -E '_(read|write|light_poll) ' "$codegen/splitc_limits.txt" >"$work/limits"
report=$("$codegen/check.sh" "$work/subjects.o" "$compiler" "$work/limits" "$codegen/splitc_allowed.txt")
echo "$report"
if grep -q 'the table says' <<<"$report"; then
  echo "FAILED: the counts are not those of the table; measure anew, or find what has changed"
  exit 1
fi
[ "$(grep -c ' instructions, ' <<<"$report")" -eq 3 ] || { echo "FAILED: three functions are meant"; exit 1; }
[ "$(names)" -eq 0 ] || { echo "FAILED: something of checked mode is in the code"; exit 1; }

printf '#include "viaduct/splitc.hpp"\n%s\n' \
  'long check_me(splitc::global_ptr<long> p) { return splitc::read(p) + *p + p[1]; }' >"$work/checked.cpp"
"$compiler" "$@" -DVIADUCT_CHECKED=1 -c "$work/checked.cpp" -o "$work/subjects.o"
[ "$(names)" -ge 3 ] || { echo "FAILED: a checked source does not call the check"; exit 1; }
