#!/usr/bin/env bash
# all_functions_misused.sh HEADER MISUSE PATTERN [FUNCTION...]: every function that HEADER declares is in the program
# MISUSE, but for the FUNCTIONs named: they have no argument that could be wrong and need no state. PATTERN is an extended
# regular expression for names of functions. In AM_RequestM and the like M is any number.
set -euo pipefail
header=$1
misuse=$2
pattern=$3
shift 3
names=$(grep -oE "\b$pattern( ?\(|##M\()" "$header" | sed -E 's/##M\($/[0-9]+/; s/ ?\($//' | sort -u)
[ "$(wc -l <<<"$names")" -gt 5 ] || { echo "$header: hardly any function found"; exit 1; }
failed=0
for name in $names; do
  if [[ " $* " == *" $name "* ]]; then continue; fi
  grep -qE "\b$name\(" "$misuse" || { echo "$misuse does not call $name"; failed=1; }
done
exit $failed
