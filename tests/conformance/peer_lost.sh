#!/bin/sh
# usage: peer_lost.sh LAUNCHER PROGRAM RANKS HOW
# Runs PROGRAM, whose last rank kills itself: the launcher must say 137, and every other rank "survived".
launcher=$1 program=$2 ranks=$3 how=$4
output=$("$launcher" -n "$ranks" --keep-going --timeout 40 "$program" "$how" 2>&1)
code=$?
survivors=$(printf '%s\n' "$output" | grep -c 'survived$')
printf '%s\n' "$output"
if [ "$code" -ne 137 ]; then
  echo "the launcher's exit code is $code, wanted 137 (killed by signal 9)"
  exit 1
fi
if [ "$survivors" -ne $((ranks - 1)) ]; then
  echo "$survivors ranks survived, wanted $((ranks - 1))"
  exit 1
fi
