#!/bin/sh
# usage: am_finalized.sh LAUNCHER PROGRAM RANKS MODE HOW
# Runs PROGRAM, whose last rank ends its Active Messages as HOW says: every other rank must say "told", and the job end
# well.
launcher=$1 program=$2 ranks=$3 mode=$4 how=$5
output=$("$launcher" -n "$ranks" --mode "$mode" --timeout 50 "$program" "$how" 2>&1)
code=$?
printf '%s\n' "$output"
if [ "$code" -ne 0 ]; then
  echo "the launcher's exit code is $code, wanted 0"
  exit 1
fi
told=$(printf '%s\n' "$output" | grep -c 'told$')
if [ "$told" -ne $((ranks - 1)) ]; then
  echo "$told ranks were told, wanted $((ranks - 1))"
  exit 1
fi
