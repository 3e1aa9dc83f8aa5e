#!/bin/sh
# usage: collective_wrong.sh LAUNCHER PROGRAM RANKS HOW WORDS
# The job must be ended by SIGABRT (134) with sentences of which each holds WORDS (an extended regular expression); how
# many of the ranks come to say theirs is open. Others may report that one of these is lost.
launcher=$1 program=$2 ranks=$3 how=$4 words=$5
output=$("$launcher" -n "$ranks" --timeout 30 "$program" "$how" 2>&1)
code=$?
printf '%s\n' "$output"
if [ "$code" -ne 134 ]; then
  echo "the exit code is $code, wanted 134 (aborted)"
  exit 1
fi
# Those that come late learn that the one that was stopped is lost, or does not answer.
lost='process [0-9]+ is lost|the connection to process [0-9]+ has broken'
sentences=$(printf '%s\n' "$output" | grep '^viaduct: \[' | grep -Ev "^viaduct: \[rank [0-9]+\] error: .*($lost)")
if [ -z "$sentences" ]; then
  echo "there is no sentence"
  exit 1
fi
if printf '%s\n' "$sentences" | grep -Evq "$words"; then
  echo "a sentence does not hold: $words"
  exit 1
fi
