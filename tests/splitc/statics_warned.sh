#!/bin/sh
# usage: statics_warned.sh LAUNCHER PROGRAM RANKS WARNINGS [ARGUMENT...]
# The program must end well, with so many warnings about static data that is private.
launcher=$1 program=$2 ranks=$3 wanted=$4
shift 4
output=$("$launcher" -n "$ranks" --timeout 30 "$program" "$@" 2>&1)
code=$?
printf '%s\n' "$output"
got=$(printf '%s\n' "$output" |
  grep -c '^viaduct: \[rank [0-9]*\] .*a global pointer to static data goes by messages.*threads were running before splitc_main')
if [ "$code" -ne 0 ] || [ "$got" -ne "$wanted" ]; then
  echo "exit code $code, $got warnings; wanted 0 and $wanted"
  exit 1
fi
