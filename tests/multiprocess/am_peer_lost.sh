#!/bin/sh
# usage: am_peer_lost.sh LAUNCHER PROGRAM RANKS HOW CODE
# Runs PROGRAM, whose last rank ends as HOW says: every other rank must say "survived", the launcher's exit code be CODE.
launcher=$1 program=$2 ranks=$3 how=$4 wanted=$5
output=$("$launcher" -n "$ranks" --keep-going --timeout 50 "$program" "$how" 2>&1)
code=$?
survivors=$(printf '%s\n' "$output" | grep -c 'survived$')
printf '%s\n' "$output"
if [ "$code" -ne "$wanted" ]; then
  echo "the launcher's exit code is $code, wanted $wanted"
  exit 1
fi
if [ "$survivors" -ne $((ranks - 1)) ]; then
  echo "$survivors ranks survived, wanted $((ranks - 1))"
  exit 1
fi
