#!/usr/bin/env bash
# threads_mode.sh LAUNCHER PROGRAM: a program in C that makes its Job by AM-2 or VIPL has one rank. Where it is started as
# several ranks that are threads it ends with a sentence, and does not wait for ranks that never come.
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
timeout 20 "$1" -n 2 --timeout 15 --mode threads "$2" >"$log" 2>&1
status=$?
cat "$log"
if [ $status = 0 ] || [ $status = 124 ]; then echo "it ended with $status"; exit 1; fi
grep -q 'with --mode processes' "$log" || { echo "no sentence says what to do"; exit 1; }
