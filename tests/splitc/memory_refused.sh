#!/bin/sh
# usage: memory_refused.sh LAUNCHER PROGRAM VARIABLE=VALUE WORDS
# With this setting the program must refuse to start, with a sentence that holds WORDS (an extended regular expression).
launcher=$1 program=$2 setting=$3 words=$4
output=$(env "$setting" "$launcher" -n 2 --timeout 30 "$program" 2>&1)
code=$?
printf '%s\n' "$output"
if [ "$code" -ne 1 ]; then
  echo "the exit code is $code, wanted 1"
  exit 1
fi
if ! printf '%s\n' "$output" | grep -Eq "$words"; then
  echo "no sentence holds: $words"
  exit 1
fi
