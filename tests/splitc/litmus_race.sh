#!/bin/sh
# usage: litmus_race.sh LAUNCHER PROGRAM CASE
# The program was built with the thread sanitizer and without the order of loads or of stores: CASE must be a data race.
launcher=$1 program=$2 case=$3
output=$(VIADUCT_SPLITC_PATH=direct "$launcher" -n 2 --mode threads --timeout 100 "$program" --ms 20000 "$case" 2>&1)
code=$?
printf '%s\n' "$output"
if [ "$code" -eq 0 ]; then
  echo "the program ended well without the order that makes $case free of a race"
  exit 1
fi
if ! printf '%s\n' "$output" | grep -q 'data race'; then
  echo "the program failed, but of no data race"
  exit 1
fi
