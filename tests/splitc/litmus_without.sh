#!/bin/sh
# usage: litmus_without.sh LAUNCHER PROGRAM CASE PATH
# The program was built without a fence: CASE must have a forbidden outcome, and so the program must fail. Bound, since
# two processes on one core never have one.
launcher=$1 program=$2 case=$3 path=$4
output=$(VIADUCT_SPLITC_PATH=$path "$launcher" -n 2 --bind --timeout 100 "$program" --ms 60000 --until-forbidden "$case" 2>&1)
code=$?
printf '%s\n' "$output"
if [ "$code" -ne 1 ]; then
  echo "the exit code is $code, wanted 1"
  exit 1
fi
if ! printf '%s\n' "$output" | grep -Eq "^$case .* FORBIDDEN"; then
  echo "no forbidden outcome of $case was found without the fence: nothing shows that it is needed"
  exit 1
fi
