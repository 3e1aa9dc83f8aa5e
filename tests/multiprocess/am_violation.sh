#!/bin/sh
# usage: am_violation.sh LAUNCHER PROGRAM RANKS HOW WORDS [long]
# The program must be stopped by SIGABRT (134), with one sentence that holds WORDS (an extended regular expression).
launcher=$1 program=$2 ranks=$3 how=$4 words=$5 form=$6
output=$("$launcher" -n "$ranks" --timeout 100 "$program" "$how" $form 2>&1)
code=$?
printf '%s\n' "$output"
if [ "$code" -ne 134 ]; then
  echo "the exit code is $code, wanted 134 (aborted)"
  exit 1
fi
sentences=$(printf '%s\n' "$output" | grep -c '^viaduct: ')
if [ "$sentences" -ne 1 ]; then
  echo "$sentences sentences, wanted one"
  exit 1
fi
if ! printf '%s\n' "$output" | grep '^viaduct: ' | grep -Eq "$words"; then
  echo "the sentence does not hold: $words"
  exit 1
fi
